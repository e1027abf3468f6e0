import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { TestBackend } from "../../support/servers/test-backend.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

/** The incidents of docs/runbook.md, by their headings. */
const incidents = readFileSync("docs/runbook.md", "utf8")
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.split("\n")[0] ?? "", text }));

/** The incidents whose signs are looked for here, each with what causes it. */
const causes: Readonly<Record<string, () => Promise<void>>> = {
  "1. A deploy cut everybody": cutEverybody,
  "3. One client floods": flood,
  "4. The backend of hooks is down": askHook,
  "7. A key leaked": useOldSecrets,
  "8. A user must go": blockUser,
  "9. History is lost": loseHistory,
};

const config = {
  prometheus: { enabled: true },
  rpc: {
    // Nobody listens there.
    proxy: { endpoint: "http://127.0.0.1:9/rpc", timeout: "1s" },
    without_namespace: { proxy_enabled: true },
  },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      history_size: 2,
      history_ttl: "5m",
      force_recovery: true,
    },
  },
};

let server: TestServer;
/** The reasons of refusals that were known after an incident, as the log has them. */
const refusals = new Map<string, readonly string[]>();
const clients: SdkClient[] = [];

beforeAll(async () => {
  server = await TestServer.start({
    config,
    secrets: { ...testSecrets, HOOK_SIGNING_SECRET: "hook-signing-secret-of-tests" },
  });
  // One after the other: who floods, and who cuts a gateway, disturbs the others.
  for (const [title, cause] of Object.entries(causes)) {
    await cause();
    // An object that sleeps forgets its refusals.
    refusals.set(title, await reasonsOf(`gateway:${firstGateway}`));
  }
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.close();
});

function connect(user: string, token = signToken({ sub: user })): SdkClient {
  const client = new SdkClient(server.gatewayAddress(), { token });
  clients.push(client);
  return client;
}

async function cutEverybody(): Promise<void> {
  const { subscribed } = await connect("cut").subscribed("cut");
  await server.endGateway(firstGateway);
  await subscribed.count(2);
}

async function flood(): Promise<void> {
  const socket = await RawSocket.connect(server.gatewayAddress(), signToken({ sub: "mallory" }));
  const perFrame = 1_000;
  for (let id = 10; id < 2.5 * limits.subscribesBurst; id += perFrame)
    socket.send(
      ...Array.from({ length: perFrame }, (_, index) => ({
        id: id + index,
        subscribe: { channel: "flooded" },
      })),
    );
  expect(await socket.closed).toMatchObject({ code: 3013 });
}

async function askHook(): Promise<void> {
  const client = connect("asking");
  await client.connected.next();
  await expect(client.client.rpc("ask", {})).rejects.toMatchObject({ code: 100 });
}

async function useOldSecrets(): Promise<void> {
  const old = new TestBackend(server.address, "the-key-of-yesterday");
  await expect(old.publish("news", 1)).rejects.toThrow("401");
  const forged = signToken({ sub: "eve" }, "the-secret-of-yesterday");
  await connect("eve", forged).disconnected.next();
}

async function blockUser(): Promise<void> {
  const client = connect("blocked");
  await client.connected.next();
  await server.backend.block("blocked");
  await client.disconnected.next();
  await connect("blocked").disconnected.next();
}

async function loseHistory(): Promise<void> {
  const socket = await RawSocket.connect(server.gatewayAddress(), signToken({ sub: "away" }));
  const { epoch } = await server.backend.publish("short", 1);
  for (const data of [2, 3, 4]) await server.backend.publish("short", data);
  await socket.ask({ id: 2, subscribe: { channel: "short", recover: true, offset: 1, epoch } });
  socket.close();
}

/** What a row of an incident's first table quotes. */
function quoted(text: string, row: string): readonly string[] {
  const cell = new RegExp(String.raw`^\| ${row} \| (.*) \|$`, "m").exec(text)?.[1] ?? "";
  if (cell.startsWith("nothing")) return [];
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, sign = ""]) => sign);
}

async function metrics(): Promise<string> {
  const response = await fetch(`${server.address}/metrics`, {
    headers: { "X-API-Key": testSecrets.API_KEY },
  });
  return response.text();
}

/** Whether a metric that has these labels has counted something. */
function hasCounted(text: string, series: string): boolean {
  const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  const wanted = labels.split(",").filter((label) => label !== "");
  return text.split("\n").some((line) => {
    const [, found, has = "", value] =
      /^(\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    return found === name && Number(value) > 0 && wanted.every((label) => has.includes(label));
  });
}

/** The reasons of an object's refusals, as the log has them. Those of the edge are kept by the objects that count. */
async function reasonsOf(object: string): Promise<readonly string[]> {
  const response = await fetch(`${server.address}/api/inspect`, {
    method: "POST",
    headers: { "X-API-Key": testSecrets.API_KEY },
    body: JSON.stringify({ object, refusals: 1_000 }),
  });
  const { result }: Inspected = await response.json();
  return (result.refusals ?? []).map(({ reason }) => reason);
}

interface Inspected {
  readonly result: { readonly refusals?: readonly { readonly reason: string }[] };
}

describe("docs/runbook.md", () => {
  it("has ten incidents, each with what is seen, what is done, and how it was tried", () => {
    expect(incidents).toHaveLength(10);
    for (const { text } of incidents) {
      for (const row of ["console", "metrics", "log"])
        expect(text).toMatch(new RegExp(String.raw`^\| ${row} \| .+ \|$`, "m"));
      expect(text).toMatch(/^\*Tried:\* \S/m);
    }
    expect(
      Object.keys(causes).filter((cause) => !incidents.some(({ title }) => title === cause)),
    ).toEqual([]);
  });

  it.each(Object.keys(causes))(
    "[J1] [Y4] shows the signs that a server gives: %s",
    async (cause) => {
      const { text = "" } = incidents.find(({ title }) => title === cause) ?? {};
      const series = quoted(text, "metrics").filter((sign) => /_/.test(sign));
      expect(series.length).toBeGreaterThan(0);
      await expect
        .poll(async () => {
          const counted = await metrics();
          return series.filter((one) => !hasCounted(counted, one));
        })
        .toEqual([]);
      const known = [...(refusals.get(cause) ?? []), ...(await reasonsOf("edge"))];
      const unseen = quoted(text, "log").filter(
        (sign) => !sign.startsWith("dormouse ") && !known.some((reason) => reason.includes(sign)),
      );
      expect(unseen).toEqual([]);
    },
  );
});
