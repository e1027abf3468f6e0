import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../support/servers/listen.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const channel = "news";
/** So many that workerd starts, and so few that the burst takes more. */
const descriptors = 300;
const burst = 400;

let folder: string;
let options: readonly string[];
let server: ServedServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-restart-"));
  options = ["--port", String(await freePort()), "--state", join(folder, "state")];
  server = await ServedServer.start(options, descriptors);
});
afterEach(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

/** The id of the runtime's process. */
function runtimeProcess(): number {
  return Number(readFileSync(join(folder, "state", "process"), "utf8"));
}

/** Publishes numbers until a publish fails, and gives those that were acknowledged, with their offsets. */
async function publishUntilItFails(): Promise<ReadonlyMap<number, number>> {
  const acknowledged = new Map<number, number>();
  try {
    for (let number = 1; ; number++) {
      const { offset } = await server.backend.publish(channel, number);
      acknowledged.set(offset, number);
    }
  } catch {
    return acknowledged;
  }
}

/**
 * Ends the runtime by connections that take its last file descriptor. A connection takes two, of which the first is
 * opened by accept(). If it is the second one that can't be opened, the runtime drops the connection and lives; a
 * channel takes three, and then it is the first one's turn.
 */
async function exhaustDescriptors(before: number): Promise<void> {
  for (let channels = 1; channels <= 10; channels++) {
    const close = openSilentConnections(burst);
    try {
      await expect.poll(runtimeProcess, { timeout: 3_000 }).not.toBe(before);
      return;
    } catch {
      // It lives.
    } finally {
      close();
    }
    await expect.poll(() => answersPublish(`other${channels}`), { timeout: 10_000 }).toBe(true);
  }
  const open = readdirSync(`/proc/${before}/fd`).length;
  throw new Error(`no burst has ended the runtime, which has ${open} descriptors open`);
}

async function answersPublish(other: string): Promise<boolean> {
  try {
    await server.backend.publish(other, 0);
    return true;
  } catch {
    return false; // The runtime hasn't closed the descriptors of the burst yet.
  }
}

/** Opens connections that send nothing; gives a function that closes those that are left. */
function openSilentConnections(count: number): () => void {
  const sockets = Array.from({ length: count }, () => connect(server.port, "127.0.0.1"));
  // The runtime resets them when it ends.
  for (const socket of sockets) socket.on("error", () => undefined);
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

describe("npm run serve, when workerd ends by itself,", () => {
  it.runIf(process.platform === "linux").each<[string, (before: number) => Promise<void>]>([
    ["a burst of connections takes all file descriptors", exhaustDescriptors],
    ["it is killed", async (before) => void process.kill(before, "SIGKILL")],
  ])("[B12] [H5] [R2] serves again with all that was acknowledged: %s", async (_cause, end) => {
    const address = `ws://127.0.0.1:${server.port}/connection/websocket`;
    const client = new SdkClient(address, { token: signToken({ sub: "listener" }) });
    const { subscribed, publications } = await client.subscribed(channel);
    const before = runtimeProcess();
    const publishing = publishUntilItFails();
    // The publisher has been answered for all of these but the last.
    await publications.count(6);
    await end(before);
    // It fails when the runtime has ended, and only then.
    const acknowledged = await publishing;
    await expect.poll(runtimeProcess, { timeout: 20_000 }).not.toBe(before);
    await expect.poll(answers, { timeout: 20_000 }).toBe(true);

    const last = await server.backend.publish(channel, "after");
    const { publications: kept } = await server.backend.history(channel);
    const dataAt = new Map(kept.map(({ offset, data }) => [offset, data]));
    expect(acknowledged.size).toBeGreaterThanOrEqual(5);
    for (const [offset, number] of acknowledged) expect(dataAt.get(offset)).toBe(number);
    expect(last.offset).toBeGreaterThan(Math.max(...acknowledged.keys()));
    const [, again] = await subscribed.count(2);
    expect(again).toMatchObject({ wasRecovering: true, recovered: true });
    const seen = await publications.count(last.offset);
    expect(seen.map(({ offset }) => offset)).toEqual(
      Array.from({ length: last.offset }, (_, index) => index + 1),
    );
    for (const [offset, number] of acknowledged) expect(seen[offset - 1]?.data).toBe(number);
    client.close();

    const { code, printed } = await server.stop();
    expect(code).toBe(0);
    expect(printed).toMatch(/^workerd ended unexpectedly: .+\. It starts again now/m);
    expect(printed).toContain("workerd serves again");
  });
});

describe("npm run serve, when the clock is set back,", () => {
  it.each([2, 3_600])("[B32] [S5] [H5] starts workerd again: by %i s", async (seconds) => {
    await server.stop();
    server = await ServedServer.start(options, undefined, withClock(folder));
    const before = runtimeProcess();
    const { offset } = await server.backend.publish(channel, "before");
    writeFileSync(join(folder, "clock"), String(-1_000 * seconds));
    await expect.poll(runtimeProcess, { timeout: 20_000 }).not.toBe(before);
    await expect.poll(answers, { timeout: 20_000 }).toBe(true);
    const { publications } = await server.backend.history(channel);
    expect(publications).toMatchObject([{ offset, data: "before" }]);
    // A step forward, and one of less than a second, leave it as it is.
    const after = runtimeProcess();
    for (const ms of [0, 5_000, 4_500]) {
      writeFileSync(join(folder, "clock"), String(ms));
      await expect.poll(() => readFileSync(join(folder, "seen"), "utf8")).toBe(String(ms));
    }
    const { code, printed } = await server.stop();
    expect(runtimeProcess()).toBe(after);
    expect(code).toBe(0);
    expect(printed).toContain(
      `The clock was set back by ${seconds} s: workerd starts again with it`,
    );
    expect(printed).not.toContain("ended unexpectedly");
  });
});

/** The secrets, and a clock of the script that a file moves by so many ms. Another file says what it has seen. */
function withClock(files: string) {
  const [clock, seen] = [join(files, "clock"), join(files, "seen")];
  writeFileSync(clock, "0");
  const script = `import { readFileSync, writeFileSync } from "node:fs";
    const now = Date.now;
    let looks = 0;
    let last = "0";
    Date.now = () => {
      const moved = readFileSync(${JSON.stringify(clock)}, "utf8") || last;
      // The look before has taken it.
      if (moved === last && ++looks > 1) writeFileSync(${JSON.stringify(seen)}, moved);
      if (moved !== last) looks = 0;
      last = moved;
      return now() + Number(moved);
    };`;
  const file = join(files, "clock.mjs");
  writeFileSync(file, script);
  return { ...testSecrets, NODE_OPTIONS: `--import ${pathToFileURL(file).href}` };
}

describe("npm run serve that is started again", () => {
  it("[A30] [H13] has no database of channels to which only clients without a token came", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `channel${index}`);
    for (const name of names) {
      const address = `ws://127.0.0.1:${server.port}/channel/${name}/websocket`;
      (await RawSocket.open(address)).cut();
    }
    expect(databases()).toHaveLength(names.length);
    await expect.poll(() => databases().flatMap(tablesOf), { timeout: 20_000 }).toEqual([]);
    await server.stop();
    server = await ServedServer.start(options, descriptors);
    expect(databases()).toEqual([]);
  });
});

/** The files of the channels' databases: the name of each is the ID of its object. */
function databases(): readonly string[] {
  const channels = join(folder, "state", "storage", "ChannelObject");
  const names = readdirSync(channels).filter((name) => /^[\da-f]{64}\.sqlite$/.test(name));
  return names.map((name) => join(channels, name));
}

function tablesOf(file: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_master").all();
  database.close();
  return tables;
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${server.port}/health`)).ok;
  } catch {
    return false; // It isn't listening yet.
  }
}
