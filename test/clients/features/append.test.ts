import type { MapSubscriptionOptions } from "centrifuge";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Inbox } from "../../support/inbox.ts";
import type { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import type { TestData } from "../../support/servers/test-backend.ts";
import { run as runProgram } from "../../../cli/program.ts";
import { shellOf, temporaryFolder } from "../../core/cli/recorded-shell.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { type Wire, wires } from "../../support/sockets/wire.ts";

const open = {
  subscription_type: "map",
  allow_subscribe_for_client: true,
  allowed_delta_types: ["fossil"],
};
const map = { mode: "persistent", allow_publish_for_client: true, min_page_size: 1 };
const namespaces = [
  { ...open, name: "windows", map: { ...map, append_window: "100ms" } },
  { ...open, name: "safe", map: { ...map, append_window: "0s" } },
];

let server: TestServer;
const opened: SdkClient[] = [];

beforeAll(async () => {
  server = await TestServer.start({ config: { channel: { namespaces } } });
});
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});
afterAll(() => server.close());

/** A page that shows a value as it grows, with the official client. */
class Page {
  readonly client: SdkClient;
  readonly syncs = new Inbox<string>();
  readonly values = new Inbox<TestData | undefined>();
  readonly recoveries = new Inbox<boolean>();
  readonly numDeltas: () => number;

  constructor(wire: Wire, channel: string, options: Partial<MapSubscriptionOptions>) {
    this.client = wire.open(server, channel, { token: signToken({ sub: "reader" }) });
    opened.push(this.client);
    const subscription = this.client.client.newMapSubscription(channel, options);
    subscription.on("sync", ({ entries }) => {
      const [first] = entries;
      this.values.push(first === undefined ? undefined : wire.decode(first.data));
      this.syncs.push("sync");
    });
    subscription.on("update", ({ data }) => this.values.push(wire.decode(data)));
    subscription.on("subscribed", ({ recovered }) => this.recoveries.push(recovered));
    subscription.subscribe();
    this.numDeltas = () => subscription.deltaStats().numDeltaPayloads;
  }

  /** Waits until the page shows this value. */
  async reach(value: TestData): Promise<void> {
    for (let seen = this.values.all.length; this.values.all.at(-1) !== value; seen++)
      await this.values.count(seen + 1);
  }
}

const sdkWires = wires.filter(({ transport }) => transport === "websocket");

/** The namespace of each wire. Each codec and each endpoint has both, which know nothing of codecs and endpoints. */
const namespaceOf = ["windows", "safe", "safe", "windows", "windows", "safe"];

describe.each(sdkWires)("over $name, a value that grows", (wire) => {
  const namespace = namespaceOf[sdkWires.indexOf(wire)] ?? "";

  it(`[${wire.rule}] [Z39] [Z42] is whole for who was there, came late, was away, or has no deltas (${namespace})`, async () => {
    const channel = `${namespace}:${wire.name}`;
    const isOnGateway = wire.endpoint === "gateway";
    const deltas = new Page(wire, channel, { delta: "fossil" });
    const plain = new Page(wire, channel, {});
    await Promise.all([deltas.syncs.count(1), plain.syncs.count(1)]);
    let text = "";
    const say = async (word: string, more: object = {}) => {
      const appended = await server.backend.append(channel, "answer", word, {
        at: text.length,
        ...more,
      });
      text += word;
      expect(appended).toMatchObject({ length: text.length });
    };
    for (let word = 0; word < 12; word++) await say(`${word} “é”\n🌍 `);
    await deltas.reach(text);
    const late = new Page(wire, channel, { delta: "fossil" });
    for (let word = 12; word < 20; word++) await say(`${word} `);
    deltas.client.client.disconnect();
    for (let word = 20; word < 28; word++) await say(`${word} `);
    deltas.client.client.connect();
    for (let word = 28; word < 40; word++) {
      await say(`${word} `);
      if (word === 32 && isOnGateway) await server.evictGateway(firstGateway);
    }
    await say("end", { final: true });
    await Promise.all([deltas, plain, late].map((page) => page.reach(text)));
    expect(deltas.recoveries.all).toStrictEqual([false, true]);
    expect(deltas.syncs.all).toHaveLength(1);
    expect(deltas.numDeltas()).toBeGreaterThan(10);
    for (const page of [deltas, plain, late]) {
      expect(page.client.errors.all).toStrictEqual([]);
      for (const value of page.values.all)
        expect(typeof value !== "string" || text.startsWith(value)).toBe(true);
    }
  });

  it(`[${wire.rule}] [Z45] grows by what a client appends`, async () => {
    const channel = `windows:own-${wire.name}`;
    const page = new Page(wire, channel, { delta: "fossil" });
    await page.syncs.count(1);
    const append = (text: string, at: number) => {
      const params: Record<string, string | number> = { channel, key: "answer", text, at };
      return page.client.client.rpc("dormouse.append", wire.encode(params));
    };
    const first = await append("Hel", 0);
    expect(wire.decode(first.data)).toMatchObject({ length: 3 });
    await append("lo", 3);
    await page.reach("Hello");
    const refused = await append("!", 4);
    expect(wire.decode(refused.data)).toStrictEqual({
      length: 5,
      suppressed: true,
      suppress_reason: "length_mismatch",
    });
  });
});

/** Runs the command against the server, with this input. */
async function run(input: AsyncIterable<string> | string, ...args: readonly string[]) {
  const isText = typeof input === "string";
  const { shell, ...outputs } = shellOf(temporaryFolder(), testSecrets, isText ? input : "");
  const own = isText ? shell : { ...shell, inputPieces: () => input };
  const code = await runProgram(["append", ...args, "--url", server.address], own);
  return { code, ...outputs };
}

/** The value of the key, as it is stored. */
async function stored(channel: string): Promise<TestData | undefined> {
  const { value } = await server.backend.mapValue(channel, "log");
  return value;
}

describe("dormouse append", () => {
  it("[Z38] appends its input as it comes, and ends the text", async () => {
    const channel = "windows:command";
    const text = "a line with é and 🌍\n".repeat(200);
    const { code, printed, told } = await run(text, channel, "log");
    expect([code, printed]).toEqual([
      0,
      [expect.stringMatching(new RegExp(`^${channel} log ${text.length} characters, \\d+:\\w+$`))],
    ]);
    expect(told.at(-1)).toMatch(/^\d+ characters in \d+ pieces, \d+ a second$/);
    expect(await stored(channel)).toBe(text);
    const again = await run("more", channel, "log");
    expect([again.code, again.noted.join()]).toEqual([1, expect.stringContaining("ended before")]);
  });

  it("[Z38] goes on where the text ends, or where the server's text ends", async () => {
    const channel = "windows:resumed";
    await run("one two ", channel, "log", "--no-final");
    await run("one two three ", channel, "log", "--no-final", "--resume");
    // The end of the window isn't waited for by the command.
    await expect.poll(() => stored(channel)).toBe("one two three ");
    async function* losing(): AsyncGenerator<string> {
      yield "four ";
      yield "five ";
      // As after a crash, in which the newest text is lost.
      await server.backend.setKey(channel, "log", "one two three fo");
      yield "six";
    }
    const { code, told } = await run(losing(), channel, "log");
    expect([code, told.at(-1)]).toEqual([0, expect.stringContaining(", 1 times sent again")]);
    expect(await stored(channel)).toBe("one two three four five six");
  });

  it("[Z38] ends with 1 if somebody else has written to the key", async () => {
    const channel = "windows:other";
    async function* interrupted(): AsyncGenerator<string> {
      yield "one ";
      await server.backend.setKey(channel, "log", "something else, and longer");
      yield "two ";
    }
    const { code, noted } = await run(interrupted(), channel, "log");
    expect([code, noted.join()]).toEqual([1, expect.stringContaining("somebody else")]);
  });
});
