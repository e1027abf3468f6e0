import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import { limits } from "../../../src/limits.ts";
import { address, call, fetchWith, post } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { testConfig, testSecrets } from "../support/test-config.ts";

configure({ ...testConfig, prometheus: { enabled: true } });
// The same in shorter times: test/core/features/metrics holds the reports to their real ones.
Object.assign(metricsLimits, { metricsReportMs: 300, metricsStoreMs: 300 });

interface Told {
  readonly object: string;
  readonly version: string;
  readonly refusals?: readonly {
    readonly at_ms: number;
    readonly count: number;
    readonly refused: string;
    readonly rule: string;
    readonly reason: string;
    readonly code?: number;
    readonly key?: string;
  }[];
}

async function edge(refusals: number = limits.trailRefusalsMax): Promise<Told> {
  const { body } = await call("inspect", { object: "edge", refusals });
  const { result }: { result?: Told } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

/** Waits until the edge's refusals have these reasons among them. */
async function remembers(...reasons: readonly string[]): Promise<Told> {
  let told = await edge();
  await vi.waitUntil(
    async () => {
      told = await edge();
      const known = new Set((told.refusals ?? []).map(({ reason }) => reason));
      return reasons.every((reason) => known.has(reason));
    },
    { timeout: 20_000, interval: 100 },
  );
  return told;
}

function refuse(origin: string): Promise<Response> {
  const headers = { Upgrade: "websocket", Origin: origin };
  return exports.default.fetch(address("/connection/websocket?token=secret-of-eve"), { headers });
}

const reasonOf = (origin: string) => `origin ${origin} isn't in client.allowed_origins`;

const collectors = Array.from({ length: metricsLimits.metricsCollectors }, (_, number) =>
  String(number),
);

async function stored(): Promise<void> {
  for (const name of collectors)
    await vi.waitUntil(
      () => runInDurableObject(env.METRICS.getByName(name), (object) => object.isStored),
      { timeout: 30_000 },
    );
}

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  return () => vi.restoreAllMocks();
});

describe("what the edge refuses", () => {
  it("[Y6] can be asked for, with rule and reason and without a token, key or payload", async () => {
    await refuse("https://evil.example");
    await post("/api/publish", '{"channel":"nowhere:1","data":"payload-of-eve"}');
    await exports.default.fetch(address("/api/info"), {
      method: "POST",
      headers: { "X-API-Key": "key-of-eve" },
    });
    const told = await remembers(
      reasonOf("https://evil.example"),
      "channel.namespaces doesn't have nowhere",
      "the API key doesn't match API_KEY",
    );
    expect(told).toMatchObject({ object: "edge", version: expect.stringContaining("Dormouse") });
    const found = told.refusals?.find(
      ({ reason }) => reason === "channel.namespaces doesn't have nowhere",
    );
    expect(found).toMatchObject({ refused: "api publish", rule: "W1", key: "API_KEY", count: 1 });
    for (const secret of ["-of-eve", testSecrets.API_KEY])
      expect(JSON.stringify(told)).not.toContain(secret);
  });

  it("[Y6] is remembered when the objects that collect it have slept", async () => {
    await refuse("https://before.example");
    await remembers(reasonOf("https://before.example"));
    await stored();
    for (const name of collectors) await evictDurableObject(env.METRICS.getByName(name));
    const { refusals } = await edge();
    expect(refusals?.map(({ reason }) => reason)).toContain(reasonOf("https://before.example"));
  });

  it("[Y6] [J2] is told in the report that comes anyway, the newest ones only", async () => {
    await stored();
    const made = vi.spyOn(env.METRICS, "getByName");
    const flood = metricsLimits.metricsRefusalsMax * 3;
    const startMs = Date.now();
    for (let count = 0; count < flood; count++) await refuse(`https://flood-${count}.example`);
    const reportsMeanwhile = (Date.now() - startMs) / metricsLimits.metricsReportMs;
    await new Promise((resolve) => setTimeout(resolve, metricsLimits.metricsReportMs * 2));
    expect(made.mock.calls.length).toBeLessThanOrEqual(2 + reportsMeanwhile);
    made.mockRestore();
    const told = await remembers(reasonOf(`https://flood-${flood - 1}.example`));
    const flooded = (told.refusals ?? []).filter(({ reason }) => reason.includes("flood"));
    expect(flooded.length).toBeLessThanOrEqual(metricsLimits.metricsRefusalsMax * 2);
  });

  it("[Y6] isn't remembered where nothing is counted, and the answer says so", async () => {
    const body = JSON.stringify({ object: "edge" });
    const headers = { "X-API-Key": testSecrets.API_KEY };
    const request = new Request(address("/api/inspect"), { method: "POST", body, headers });
    const response = await fetchWith({ config: testConfig }, request);
    expect(response.headers.get("X-Dormouse-Error-Detail")).toContain("console.enabled");
    expect(await response.json()).toMatchObject({ error: { code: 108 } });
  });

  it("[A14] [Y6] isn't told to a key that doesn't admit all channels", async () => {
    const keys = [
      { name: "some", secret: "API_KEY_SOME", methods: ["inspect"], channels: ["chat:*"] },
    ];
    const config = { ...testConfig, prometheus: { enabled: true }, http_api: { keys } };
    const key = "a-restricted-key-of-32-characters-";
    const request = new Request(address("/api/inspect"), {
      method: "POST",
      body: JSON.stringify({ object: "edge" }),
      headers: { "X-API-Key": key },
    });
    const differences = { config, API_KEY_SOME: key };
    const response = await fetchWith(differences, request);
    expect(await response.json()).toMatchObject({ error: { code: 103 } });
  });
});
