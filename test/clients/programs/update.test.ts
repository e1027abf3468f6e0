import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { freePort } from "../../support/servers/listen.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { signToken } from "../../support/test-tokens.ts";

const channel = "news";

/** The server with the code of its channels, as docs/procedures.md has it. */
const coded = `
import { channel, useChannels } from ${JSON.stringify(join(packageRoot, "package", "channels.ts"))};
export * from ${JSON.stringify(join(packageRoot, "workers", "edge.ts"))};
export { default } from ${JSON.stringify(join(packageRoot, "workers", "edge.ts"))};
useChannels({
  "": channel({
    procedures: {
      count(ctx) {
        ctx.set("count", (ctx.get("count") ?? 0) + 1);
        return ctx.get("count");
      },
    },
  }),
});
`;

let worker: WorkerFolder;
let state: string;
let server: ServedServer;
/** The configuration with which the server was started. */
let before: string;

beforeAll(async () => {
  worker = new WorkerFolder("", {});
  before = readFileSync(worker.configFile, "utf8");
  const port = String(await freePort());
  const edge = JSON.stringify(join(packageRoot, "workers", "edge.ts"));
  const lacking = `export * from ${edge};\nconst lacks = () => new Response("secret NONE is missing", { status: 503 });\nconst isHere = ({ url }) => new URL(url).port === "${port}";\n`;
  for (const [name, last] of [
    ["lacking", "export default { fetch: lacks };"],
    [
      "lacking-here",
      "export default { fetch: (request) => (isHere(request) ? lacks() : new Response()) };",
    ],
  ] as const) {
    mkdirSync(join(worker.path, name));
    writeFileSync(join(worker.path, name, "edge.ts"), `${lacking}${last}\n`);
  }
  writeFileSync(join(worker.path, "coded.ts"), coded);
  state = join(worker.path, "state");
  server = await ServedServer.start(["-c", worker.configFile, "--port", port, "--state", state]);
});
afterEach(() => writeFileSync(worker.configFile, before));
afterAll(async () => {
  await server.kill();
  worker.remove();
});

function runtimeProcess(): string {
  return readFileSync(join(state, "process"), "utf8");
}

/** Runs `npm run update`, and gives its status and all that it has printed. */
async function update(...options: readonly string[]) {
  const script = join(packageRoot, "cli", "serve", "update.ts");
  const child = spawn(process.execPath, [script, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const [code] = await once(child, "close");
  return { code, printed };
}

/**
 * Publishes numbers until it is stopped, as a backend does: where the connection ends before the answer, it repeats the
 * request. A connection that is refused rejects.
 */
function publisher() {
  const stopping = new AbortController();
  const offsets: number[] = [];
  const publishing = (async () => {
    for (let number = 0; !stopping.signal.aborted; number++) {
      const key = `${number} of ${offsets.length}`;
      offsets.push((await published(number, key)) ?? (await published(number, key)) ?? 0);
      await pause(10);
    }
  })();
  publishing.catch(() => undefined);
  const stop = async () => {
    stopping.abort();
    await publishing;
    return offsets;
  };
  return { offsets, stop };
}

/** The offset; undefined if the connection was reset. */
async function published(data: number, idempotencyKey: string): Promise<number | undefined> {
  try {
    return (await server.backend.publish(channel, data, idempotencyKey)).offset;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error && /ECONNRESET|other side closed/.test(cause.message))
      return undefined;
    throw error;
  }
}

describe("npm run update", () => {
  it("[B33] [H5] [R2] [PC1] has the server go on with what is on the disk now; no publish fails, and clients miss nothing", async () => {
    const address = `ws://127.0.0.1:${server.port}`;
    const token = signToken({ sub: "reader" });
    const clients = ["connection", `channel/${channel}`].map(
      (path) => new SdkClient(`${address}/${path}/websocket`, { token }),
    );
    const readers = await Promise.all(clients.map((client) => client.subscribed(channel)));
    const runtime = runtimeProcess();
    const publishing = publisher();
    await expect.poll(() => publishing.offsets.length).toBeGreaterThan(2);
    const changed = before.replace("history_size = 100", "history_size = 3");
    writeFileSync(worker.configFile, changed.replace(/^main = .*$/m, 'main = "coded.ts"'));
    const { code, printed } = await update("--state", state);
    expect(printed).toMatch(/^The server was updated: requests waited for \d+ ms$/m);
    expect(code).toBe(0);
    expect(runtimeProcess()).not.toBe(runtime);

    const after = publishing.offsets.length;
    await expect.poll(() => publishing.offsets.length).toBeGreaterThan(after + 2);
    const offsets = await publishing.stop();
    expect(offsets).toEqual(Array.from({ length: offsets.length }, (_, index) => index + 1));
    for (const { subscribed, publications } of readers) {
      const [, again] = await subscribed.count(2);
      expect(again).toMatchObject({ wasRecovering: true, recovered: true });
      const seen = await publications.count(offsets.length);
      expect(seen.map(({ offset }) => offset)).toEqual(offsets);
    }
    // As the new configuration has it.
    expect((await server.backend.history(channel)).publications).toHaveLength(3);
    for (const count of [1, 2])
      expect(await server.backend.callProcedure("votes", "count")).toBe(count);
    for (const client of clients) client.close();
  });

  it.each([
    {
      what: "a configuration that is invalid",
      change: (text: string) => text.replace(/^history_size = .*$/m, `history_size = "many"`),
      says: /not updated and serves as before: its configuration is invalid/,
    },
    {
      what: "a Worker that can't be built",
      change: (text: string) => text.replace(/^main = .*$/m, `main = "none/edge.ts"`),
      says: /not updated and serves as before: the new version can't be prepared/,
    },
    {
      what: "a Worker that says what it lacks",
      change: (text: string) => text.replace(/^main = .*$/m, `main = "lacking/edge.ts"`),
      says: /not updated and serves as before: secret NONE is missing/,
    },
  ])("[B33] leaves the server as it is: $what", async ({ change, says }) => {
    writeFileSync(
      join(worker.path, "broken.ts"),
      "export default {};\nthrow new Error('broken');\n",
    );
    expect(change(before)).not.toBe(before);
    writeFileSync(worker.configFile, change(before));
    const publishing = publisher();
    const runtime = runtimeProcess();
    const { code, printed } = await update("--state", state);
    expect(printed).toMatch(says);
    expect(code).toBe(1);
    expect(runtimeProcess()).toBe(runtime);
    const after = publishing.offsets.length;
    await expect.poll(() => publishing.offsets.length).toBeGreaterThan(after + 2);
    await publishing.stop();
  });

  it("[B33] goes back to the version before where the new one has a problem in its place only", async () => {
    const runtime = runtimeProcess();
    writeFileSync(
      worker.configFile,
      before.replace(/^main = .*$/m, `main = "lacking-here/edge.ts"`),
    );
    const { code, printed } = await update("--state", state);
    expect(printed).toMatch(/not updated and serves as before: secret NONE is missing/);
    expect(code).toBe(1);
    await expect.poll(() => published(0, "")).toBeGreaterThan(0);
    expect(runtimeProcess()).not.toBe(runtime);
  });

  it("says where no server runs, and what it doesn't know", async () => {
    const none = await update("--state", join(worker.path, "none"));
    expect(none).toMatchObject({ code: 1 });
    expect(none.printed).toMatch(/^Nothing was updated: no server uses the state folder .+none$/m);
    expect(await update("--stat", state)).toMatchObject({ code: 2 });
  });
});
