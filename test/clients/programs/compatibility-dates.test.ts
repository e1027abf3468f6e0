import { randomBytes } from "node:crypto";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { workerBuild } from "../../../package/test/worker-build.ts";
import { serverObjects } from "../../../package/test/worker-code.ts";
import { compression, flagProblem, runtimeFlags } from "../../../src/contract/runtime-flags.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";

const flags = [...runtimeFlags, compression];

/** A Worker of one's own that uses what depends on the compatibility date. */
const own = `
import { dormouse } from "./package/index.ts";

export * from "./package/index.ts";

const kept = { history_size: 100, history_ttl: "5m", force_recovery: true };
const allowed = { allow_subscribe_for_client: true, allow_publish_for_client: true };
const realtime = dormouse({
  prefix: "/realtime",
  config: {
    sse: { enabled: true },
    channel: { namespaces: [{ name: "chat", publish_proxy_enabled: true, ...allowed, ...kept }] },
  },
  user: () => "ann",
  onPublish: ({ data }) => ({ result: { data: { asked: data } } }),
});
export default { fetch: realtime.app.fetch };
`;

/** The day before a date. */
function dayBefore(date: string): string {
  return new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
}

/** A Worker that says which flags it runs with. */
function flagsWorker(name: string, date: string, ...more: readonly string[]): V4WorkerOptions {
  const contents = `export default { fetch: () => Response.json(Cloudflare.compatibilityFlags) };`;
  return {
    name,
    compatibilityDate: date,
    compatibilityFlags: [...more],
    modules: [{ type: "ESModule", path: "flags.js", contents }],
  };
}

let code: string;
let miniflare: Miniflare;
const logged: string[] = [];

/** A Worker of one's own with the real-time layer. */
function ownWorker(name: string, date: string, ...more: readonly string[]): V4WorkerOptions {
  return {
    name,
    compatibilityDate: date,
    compatibilityFlags: [...more],
    modules: [{ type: "ESModule", path: "own.js", contents: code }],
    bindings: { API_KEY: randomBytes(32).toString("hex") },
    durableObjects: Object.fromEntries(
      serverObjects.map(({ binding, className }) => [binding, { className, useSQLite: true }]),
    ),
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}

beforeAll(async () => {
  const { outputFiles } = await build({
    ...workerBuild,
    stdin: { contents: own, resolveDir: packageRoot },
  });
  code = outputFiles[0]?.text ?? "";
  const names = runtimeFlags.map(({ name }) => name);
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      cf: false,
      logRequests: false,
      handleStructuredLogs: ({ message }) => void logged.push(message),
      workers: [
        ...flags.flatMap(({ name, opposite, since }) => [
          flagsWorker(`${name} since`, since),
          flagsWorker(`${name} before`, dayBefore(since)),
          flagsWorker(`${name} set`, dayBefore(since), name),
          flagsWorker(`${name} off`, since, opposite),
        ]),
        ownWorker("oldest", "2021-11-02", ...names),
        ownWorker("without rpc", "2024-04-02"),
        ownWorker("with rpc", "2024-04-03"),
      ],
    }),
  );
  await miniflare.ready;
});
afterAll(() => miniflare.dispose());

/** Asks a Worker that says its flags for one of them. */
async function flagOf(worker: string, flag: string): Promise<unknown> {
  const { fetch } = await miniflare.getWorker(worker);
  return Reflect.get(Object(await (await fetch("http://flags.invalid/")).json()), flag);
}

/** Asks a Worker of one's own whether it serves. */
async function health(worker: string): Promise<{ readonly status: number; readonly text: string }> {
  const url = await miniflare.unsafeGetDirectURL(worker);
  const response = await fetch(new URL("/realtime/health", url));
  return { status: response.status, text: await response.text() };
}

describe("[OW13] the table of compatibility flags", () => {
  it.each(flags)("has the date of $name, and what switches it on and off", async ({ name }) => {
    const all = ["since", "before", "set", "off"].map((when) => flagOf(`${name} ${when}`, name));
    expect(await Promise.all(all)).toEqual([true, false, true, false]);
  });
});

describe("[OW13] a Worker of one's own", () => {
  it("with the oldest date there is, and all of these flags, serves the official client", async () => {
    const url = await miniflare.unsafeGetDirectURL("oldest");
    const address = `ws://${url.host}/realtime/connection/websocket`;
    const ann = new SdkClient(address, { websocket: WebSocket });
    const chat = await ann.subscribed("chat:lobby");
    for (const data of [1, 2]) await chat.subscription.publish(data);
    const got = await chat.publications.count(2);
    expect(got.map(({ data }) => data)).toEqual([{ asked: 1 }, { asked: 2 }]);
    const { streamPosition: since } = await chat.subscribed.next();
    // Together: what the first one has read is kept for the second.
    for (let times = 0; times < 2; times++) {
      const returning = new SdkClient(address, { websocket: WebSocket });
      const again = await returning.subscribed("chat:lobby", { ...(since && { since }) });
      expect((await again.publications.count(2)).map(({ offset }) => offset)).toEqual([1, 2]);
      returning.close();
    }
    ann.close();
    const connect = encodeURIComponent(JSON.stringify({ id: 1, connect: {} }));
    const ending = new AbortController();
    const stream = new URL(`/realtime/connection/sse?cf_connect=${connect}`, url);
    expect((await fetch(stream, { signal: ending.signal })).status).toBe(200);
    ending.abort();
  });

  it("is refused with the flag without which nobody connects", async () => {
    const rpc = runtimeFlags.filter(({ neededBy }) => neededBy === "connections");
    const { status, text } = await health("without rpc");
    expect([status, text]).toEqual([503, `${rpc.map(flagProblem).join("\n")}\n`]);
  });

  it("serves without the others, which its log names once", async () => {
    logged.length = 0;
    const off = runtimeFlags.filter(({ since }) => since > "2024-04-03").map(flagProblem);
    for (let times = 0; times < 2; times++)
      expect(await health("with rpc")).toEqual({ status: 200, text: "{}" });
    await expect.poll(() => logged.length).toBeGreaterThanOrEqual(off.length);
    expect(logged).toEqual(off);
  });
});
