import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { collectorName } from "../../../src/features/metrics/collectors.ts";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import { address, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";

const password = "the-password-of-the-console-tests";
Object.assign(env, { CONSOLE_PASSWORD: password });
configure({ ...testConfig, console: { enabled: true } });
// The same in shorter times: test/core/features/metrics holds the past hour to its real ones.
Object.assign(metricsLimits, { metricsReportMs: 300, metricsCollectMs: 100, metricsStoreMs: 300 });
Object.assign(metricsLimits, { metricsPlotMs: 1_000 });

interface Answer {
  readonly at_ms: number;
  readonly past?: readonly {
    readonly from_ms: number;
    readonly to_ms: number;
    readonly publications: number;
    readonly deliveries: number;
    readonly clients: number;
  }[];
}

async function post(path: string, body: string, Cookie = ""): Promise<Response> {
  const headers = { Origin: "https://dormouse.example.com", Cookie };
  return exports.default.fetch(address(path), { method: "POST", body, headers });
}

async function logIn(): Promise<string> {
  const response = await post("/console/login", JSON.stringify({ password }));
  return (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
}

function sumOf({ past = [] }: Answer, name: "publications" | "deliveries"): number {
  return past.reduce((sum, span) => sum + span[name], 0);
}

const collectors = Array.from({ length: metricsLimits.metricsCollectors }, (_, number) =>
  env.METRICS.getByName(collectorName(number)),
);

it("[J10] what was counted in the past hour is told where the page asks for it, awake and after a sleep", async () => {
  const cookie = await logIn();
  const ask = async (body: object): Promise<Answer> =>
    (await post("/console/api/metrics", JSON.stringify(body), cookie)).json();
  const channel = newChannel("room");
  const socket = await TestSocket.subscribe(channel, "ada");
  for (const data of [1, 2, 3]) await publish(channel, data);
  // Until the interval of the last report has ended.
  await vi.waitUntil(
    async () => {
      const { at_ms, past = [] } = await ask({ past: true });
      const ended = { at_ms, past: past.slice(0, -1) };
      return sumOf(ended, "publications") === 3 && sumOf(ended, "deliveries") === 3;
    },
    { timeout: 30_000, interval: 200 },
  );
  for (const sleeps of [false, true]) {
    for (const collector of collectors) {
      await vi.waitUntil(() => runInDurableObject(collector, (object) => object.isStored), {
        timeout: 30_000,
      });
      if (sleeps) await evictDurableObject(collector);
    }
    const answer = await ask({ past: true });
    expect([sumOf(answer, "publications"), sumOf(answer, "deliveries")]).toEqual([3, 3]);
    expect(answer.past?.at(-1)).toMatchObject({ clients: 1, to_ms: answer.at_ms });
    const [, ...later] = answer.past ?? [];
    for (const [index, { from_ms }] of later.entries())
      expect(from_ms).toBe(answer.past?.[index]?.to_ms);
  }
  expect(await ask({})).not.toHaveProperty("past");
  const wrong = await post("/console/api/metrics", '{"past":1}', cookie);
  expect(wrong.status).toBe(400);
  expect(wrong.headers.get("X-Dormouse-Error-Detail")).toBe("the field past must be a boolean");
  socket.close();
});
