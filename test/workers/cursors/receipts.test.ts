import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { patience } from "../../support/patience.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace } from "../support/place.ts";
import { awake } from "../support/object-state.ts";
import { token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { gatewayVariants, Variant, variants } from "../support/variant.ts";

const keyTtlMs = 60_000;
const history = { history_size: 10, history_ttl: "5m" };
const cursors = { enabled: true, receipts_channel_prefix: "receipts:" };
const open = { allow_subscribe_for_client: true, ...history };
configure({
  ...testConfig,
  channel: {
    namespaces: [
      { name: "room", ...open, cursors: { ...cursors, receipts: "subscriber" } },
      {
        name: "desk",
        ...open,
        allow_publish_for_client: true,
        cursors: { ...cursors, receipts: "publisher" },
      },
      {
        name: "stage",
        ...open,
        allow_publish_for_subscriber: true,
        cursors: { ...cursors, receipts: "publisher" },
      },
      { name: "note", ...open, cursors },
      {
        name: "brief",
        ...open,
        history_ttl: "1m",
        history_meta_ttl: "1m",
        allow_publish_for_client: true,
        cursors: { ...cursors, receipts: "publisher" },
      },
      {
        name: "receipts",
        subscription_type: "map_receipts",
        map: { key_ttl: `${keyTtlMs / 1_000}s`, min_page_size: 1 },
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: true,
      },
    ],
  },
});

// An eviction waits until an ephemeral map rests.
Object.assign(mapLimits, { mapRestMs: 50 });

const limitsBefore = { ...cursorLimits };
afterEach(() => {
  Object.assign(cursorLimits, limitsBefore);
  vi.useRealTimers();
});

/** At most so many users are shown one by one. */
const showAtMost = (receiptKeysMax: number) => Object.assign(cursorLimits, { receiptKeysMax });

const receiptsOf = (channel: string) => `receipts:${channel}`;

/** A subscribe to receipts, as the SDK's map subscriptions send it. */
const ask = (id: number, channel: string) => ({
  id,
  subscribe: { channel: receiptsOf(channel), type: 1, phase: 2, flag: 1 },
});

interface Value {
  readonly read: number;
  readonly at_ms?: number;
  readonly users?: number;
  readonly epoch: string;
}

/** What receipts show, as a client keeps it. */
class Shown {
  readonly keys = new Map<string, Value>();
  readonly socket: TestSocket;

  constructor(socket: TestSocket, state: readonly { key: string; data: Value }[]) {
    this.socket = socket;
    for (const { key, data } of state) this.keys.set(key, data);
  }

  /** How far each user has read, or how many users have read so far. */
  get reads(): object {
    return Object.fromEntries(
      [...this.keys].map(([key, { read, users }]) => [key, users === undefined ? read : { users }]),
    );
  }

  /** How many have read up to an offset, as docs/cursors.md counts them. */
  seenBy(offset: number): number {
    let count = 0;
    for (const { read, users = 1 } of this.keys.values()) if (read >= offset) count += users;
    return count;
  }

  /** Takes the next change. */
  async next(): Promise<void> {
    const line = await this.socket.line();
    if (line === "{}") {
      this.socket.send({});
      return;
    }
    const { push }: { push?: { pub?: { key: string; data?: Value; removed?: true } } } =
      JSON.parse(line);
    const { key, data } = push?.pub ?? {};
    if (key === undefined) throw new Error(line);
    if (data === undefined) this.keys.delete(key);
    else this.keys.set(key, data);
  }

  async reach(expected: object): Promise<void> {
    const text = JSON.stringify(sorted(expected));
    while (JSON.stringify(sorted(this.reads)) !== text) await this.next();
  }
}

const sorted = (reads: object) =>
  Object.entries(reads).toSorted(([one], [other]) => (one < other ? -1 : 1));

/** Subscribes to the receipts of a channel. */
async function watch(socket: TestSocket, channel: string, id = 7): Promise<Shown> {
  const line = await answerLine(socket, ask(id, channel));
  const { subscribe }: { subscribe?: { state?: { key: string; data: Value }[] } } =
    JSON.parse(line);
  if (subscribe === undefined) throw new Error(line);
  return new Shown(socket, subscribe.state ?? []);
}

/** The answer to a command, past pings. */
async function answerLine(socket: TestSocket, command: object): Promise<string> {
  socket.send(command);
  for (;;) {
    const line = await socket.line();
    if (line !== "{}") return line;
    socket.send({});
  }
}

const mark = async (channel: string, user: string, offset: number) =>
  (await call("mark_read", { channel, user, offset })).body;

/** A call that asks how many have read up to an offset. */
const count = (data: object) => ({ id: 5, rpc: { method: "dormouse.marks", data } });

async function published(channel: string, most: number): Promise<string> {
  let epoch = "";
  for (let data = 1; data <= most; data++) ({ epoch } = await publish(channel, data));
  return epoch;
}

const realStub = env.CHANNELS.getByName.bind(env.CHANNELS);

const rows = (name: string) => runInDurableObject(realStub(name), ({ sql }) => sql.rowsWritten);

/** The calls between the objects of channels and their receipts: counts them, or has the platform lose those that tell. */
class Calls {
  listed = 0;
  told = 0;
  isLost = false;

  constructor() {
    env.CHANNELS.getByName = (name, options) =>
      new Proxy(realStub(name, options), {
        get: (target, property) => {
          if (property === "fetch") return target.fetch.bind(target);
          if (property === "listReceipts") this.listed++;
          if (property === "receiptsTold") {
            this.told++;
            if (this.isLost) return lostCall;
          }
          return Reflect.get(target, property);
        },
      });
  }
}

afterEach(() => {
  env.CHANNELS.getByName = realStub;
});

describe.each(variants)("receipts, on $name", (variant) => {
  it("[CU36] [CU39] have what each user has read, and are told when a mark goes forward", async () => {
    const channel = newChannel("desk");
    const epoch = await published(channel, 3);
    await mark(channel, "ann", 2);
    await variant.betweenSteps(channel);
    const shown = await watch(await variant.connect(receiptsOf(channel), "bob"), channel);
    expect([...shown.keys]).toEqual([["ann", { read: 2, at_ms: expect.any(Number), epoch }]]);
    await variant.betweenSteps(channel);
    await mark(channel, "cyd", 1);
    await shown.reach({ ann: 2, cyd: 1 });
    await variant.betweenSteps(channel);
    await variant.betweenSteps(receiptsOf(channel));
    await mark(channel, "cyd", 3);
    await shown.reach({ ann: 2, cyd: 3 });
    expect([shown.seenBy(1), shown.seenBy(3), shown.seenBy(4)]).toEqual([2, 1, 0]);
    await mark(channel, "ann", 1);
    // Whose marks on other channels are deleted, too.
    await mark(channel, "gone", 1);
    await shown.reach({ ann: 2, cyd: 3, gone: 1 });
    await call("forget_user", { user: "gone" });
    await shown.reach({ ann: 2, cyd: 3 });
  });

  it("[CU37] are refused where the option has them for backends, and changed by nobody", async () => {
    const channel = newChannel("note");
    await published(channel, 1);
    await mark(channel, "ann", 1);
    const socket = await variant.connect(receiptsOf(channel), "bob");
    expect(await answerLine(socket, ask(2, channel))).toMatch(
      /^\{"id":2,"error":\{"code":103,"message":"permission denied"\}\}$/,
    );
    const name = receiptsOf(channel);
    const change = { channel: name, type: 1, key: "bob", data: 1 };
    expect(await answerLine(socket, { id: 3, publish: change })).toContain('"code":107');
    const removal = { channel: name, type: 1, key: "ann", removed: true };
    expect(await answerLine(socket, { id: 4, publish: removal })).toContain('"code":107');
    expect((await call("map_publish", { channel: name, key: "a", data: 1 })).body).toContain("107");
    expect((await call("map_read_state", { channel: name, limit: -1 })).body).toContain('"ann"');
  });

  it("[CU5] [CU39] begin anew with the channel's epoch", async () => {
    const channel = newChannel("brief");
    await published(channel, 2);
    await mark(channel, "ann", 2);
    const shown = await watch(await variant.connect(receiptsOf(channel), "bob"), channel);
    expect(shown.reads).toEqual({ ann: 2 });
    await variant.betweenSteps(channel);
    vi.setSystemTime(Date.now() + 120_000);
    const epoch = await published(channel, 2);
    await shown.reach({});
    await variant.betweenSteps(channel);
    await mark(channel, "ann", 1);
    await shown.reach({ ann: 1 });
    expect(shown.keys.get("ann")?.epoch).toBe(epoch);
  });
});

describe.each(gatewayVariants)("the right to see receipts, on $name", (variant) => {
  it("[CU37] [CU41] is that of a subscriber of the channel, and ends with the subscription", async () => {
    const channel = newChannel("room");
    await published(channel, 2);
    await mark(channel, "ann", 1);
    const socket = await variant.connect(channel, "bob");
    expect(await answerLine(socket, ask(2, channel))).toMatch(
      /^\{"id":2,"error":\{"code":103,"message":"permission denied","temporary":true\}\}$/,
    );
    await socket.ask({ id: 3, subscribe: { channel } });
    const shown = await watch(socket, channel);
    expect(shown.reads).toEqual({ ann: 1 });
    await variant.betweenSteps(channel, receiptsOf(channel));
    await mark(channel, "ann", 2);
    await shown.reach({ ann: 2 });
    await variant.betweenSteps(channel, receiptsOf(channel));
    socket.send({ id: 8, unsubscribe: { channel } });
    const ended = `{"push":{"channel":"${receiptsOf(channel)}","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}`;
    expect([await socket.line(), await socket.line()]).toEqual([
      ended,
      '{"id":8,"unsubscribe":{}}',
    ]);
    expect(await answerLine(socket, ask(9, channel))).toContain('"code":103');
    await mark(channel, "cyd", 2);
    expect(await answerLine(socket, { id: 10, presence: { channel } })).toContain('"id":10');
  });

  it("[CU41] ends with the code with which a backend ends the subscription", async () => {
    const channel = newChannel("room");
    await published(channel, 1);
    const socket = await variant.subscribe(channel, "bob");
    await watch(socket, channel);
    await variant.betweenSteps(channel, receiptsOf(channel));
    await call("unsubscribe", { channel, user: "bob" });
    const lines = [await socket.line(), await socket.line()];
    expect(
      lines.map((line) => /"channel":"([^"]+)","unsubscribe":\{"code":2000/.exec(line)?.[1]),
    ).toEqual([channel, receiptsOf(channel)]);
  });

  it("[CU40] lets a client ask how many have read up to an offset", async () => {
    const channel = newChannel("room");
    const epoch = await published(channel, 3);
    for (const [index, user] of ["ann", "bob", "cyd"].entries())
      await mark(channel, user, index + 1);
    const socket = await variant.connect(channel, "bob");
    expect(await answerLine(socket, count({ channel, offset: 2 }))).toContain('"code":103');
    await socket.ask({ id: 2, subscribe: { channel } });
    await variant.betweenSteps(channel);
    expect(JSON.parse(await answerLine(socket, count({ channel, offset: 2 })))).toEqual({
      id: 5,
      rpc: { data: { count: 2, epoch, offset: 3 } },
    });
    for (const bad of [{ channel }, { channel, offset: -1 }, { offset: 1 }])
      expect(await answerLine(socket, count(bad))).toContain('"code":107');
    const other = newChannel("note");
    await socket.ask({ id: 6, subscribe: { channel: other } });
    expect(await answerLine(socket, count({ channel: other, offset: 1 }))).toContain('"code":103');
  });
});

const onGateway = new Variant(gatewayPlace(), awake);

describe("receipts", () => {
  it("[CU38] show how many have read how far once there are too many users", async () => {
    showAtMost(3);
    const channel = newChannel("desk");
    const epoch = await published(channel, 2);
    for (const user of ["ann", "bob", "cyd"]) await mark(channel, user, 1);
    const shown = await watch(await onGateway.connect(channel, "watcher"), channel);
    expect(shown.reads).toEqual({ ann: 1, bob: 1, cyd: 1 });
    await mark(channel, "dan", 2);
    await shown.reach({ 1: { users: 3 }, 2: { users: 1 } });
    expect(shown.keys.get("1")).toEqual({ read: 1, users: 3, epoch });
    await mark(channel, "ann", 2);
    await shown.reach({ 1: { users: 2 }, 2: { users: 2 } });
    expect([shown.seenBy(1), shown.seenBy(2)]).toEqual([4, 2]);
    for (const user of ["bob", "cyd"]) await mark(channel, user, 2);
    await shown.reach({ 2: { users: 4 } });
  });

  it("[CU38] show counts of the newest publications", async () => {
    showAtMost(3);
    const channel = newChannel("desk");
    await published(channel, 6);
    for (let read = 1; read <= 6; read++) await mark(channel, `user-${read}`, read);
    const shown = await watch(await onGateway.connect(channel, "watcher"), channel);
    expect(shown.reads).toEqual({ 4: { users: 1 }, 5: { users: 1 }, 6: { users: 1 } });
  });

  it("[CU39] are told nothing while nobody looks, but what a fresh instance finds out", async () => {
    const calls = new Calls();
    const channel = newChannel("desk");
    await published(channel, 3);
    await mark(channel, "ann", 1);
    await expect.poll(() => calls.told).toBe(1);
    for (const offset of [2, 3]) await mark(channel, "ann", offset);
    await mark(channel, "bob", 3);
    expect(calls).toMatchObject({ told: 1, listed: 0 });
    const socket = await onGateway.connect(channel, "watcher");
    const shown = await watch(socket, channel);
    expect(shown.reads).toEqual({ ann: 3, bob: 3 });
    await mark(channel, "cyd", 3);
    await shown.reach({ ann: 3, bob: 3, cyd: 3 });
    await mark(channel, "cyd", 3);
    expect(calls).toMatchObject({ told: 2, listed: 1 });
  });

  it("[CU39] cost no row of theirs at a mark, and a few once they are quiet", async () => {
    const channel = newChannel("desk");
    const receipts = receiptsOf(channel);
    await published(channel, 3);
    await mark(channel, "ann", 1);
    // The clock stands, so nothing is quiet for long enough.
    vi.setSystemTime(Date.now());
    const shown = await watch(await onGateway.connect(channel, "watcher"), channel);
    const before = [await rows(channel), await rows(receipts)] as const;
    await mark(channel, "ann", 2);
    await shown.reach({ ann: 2 });
    await mark(channel, "ann", 3);
    await shown.reach({ ann: 3 });
    expect([await rows(channel), await rows(receipts)]).toEqual([before[0] + 2, before[1]]);
    vi.setSystemTime(Date.now() + mapLimits.mapRestMs);
    // Any event sets the timer by the test's clock.
    await call("map_stats", { channel: receipts });
    await expect.poll(() => rows(receipts), patience).toBeGreaterThan(before[1]);
    expect((await rows(receipts)) - before[1]).toBeLessThanOrEqual(4);
  });

  it("[CU39] make good calls that were lost, and a crash of the channel's object", async () => {
    const channel = newChannel("desk");
    await published(channel, 3);
    const shown = await watch(await onGateway.connect(channel, "watcher"), channel);
    const calls = new Calls();
    calls.isLost = true;
    await mark(channel, "ann", 1);
    await crashObject(realStub(channel));
    calls.isLost = false;
    vi.setSystemTime(Date.now() + keyTtlMs / 2);
    await runDurableObjectAlarm(realStub(receiptsOf(channel)));
    await shown.reach({ ann: 1 });
    await mark(channel, "bob", 2);
    await shown.reach({ ann: 1, bob: 2 });
    expect(calls.listed).toBeGreaterThan(0);
  });

  it("[CU36] [CU37] of no channel are refused, and those with a token where the option has them for backends", async () => {
    const socket = await onGateway.connect(newChannel("room"), "bob");
    for (const channel of ["receipts:x", "nowhere:x", "x"])
      expect(await answerLine(socket, ask(2, channel))).toContain('"code":103');
    const name = newChannel("note");
    const { id, subscribe } = ask(3, name);
    const signed = await token({ sub: "bob", channel: receiptsOf(name) });
    const asked = { id, subscribe: { ...subscribe, token: signed } };
    expect(await answerLine(socket, asked)).toContain('"code":103');
  });
});
