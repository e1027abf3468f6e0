import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { channel } from "../../../src/features/procedures/definition.ts";
import { useChannels } from "../../../workers/platform/channel-code.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { Description } from "../api/described.ts";
import { post } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { variants } from "../support/variant.ts";

const open = { allow_subscribe_for_client: true, allow_call_for_client: true };
const config = {
  ...testConfig,
  channel: {
    namespaces: [
      {
        ...open,
        name: "auction",
        allow_publish_for_client: true,
        history_size: 10,
        history_ttl: "1h",
      },
      {
        ...open,
        name: "talk",
        allow_publish_for_client: true,
        allow_change: true,
        allow_change_own_for_client: true,
        history_size: 10,
        history_ttl: "1h",
      },
      { ...open, name: "board", subscription_type: "map", map: { mode: "persistent" } },
    ],
  },
};
configure(config);
useChannels({
  auction: channel({
    procedures: {
      bid(ctx, amount: number) {
        const best = ctx.get<number>("best") ?? 0;
        if (amount <= best) ctx.reject(1_001, `the best bid is ${best}`);
        ctx.set("best", amount);
        ctx.publish({ bid: amount, by: ctx.user });
        ctx.at("end", ctx.nowMs + 30_000, "close");
        return { isBest: true };
      },
      count: (ctx) => ctx.offset,
      close: (ctx) => ctx.publish({ sold: ctx.get("best") ?? null }),
    },
    onPublish(ctx) {
      if (!ctx.isBackend) ctx.reject(1_002, "bid, don't talk");
    },
  }),
  talk: channel({
    procedures: { edits: (ctx) => ctx.get("edits") ?? 0 },
    onPublish(ctx, { changes, removed }) {
      if (changes === undefined) return;
      if (removed === true) ctx.reject(1_004, `${JSON.stringify(changes.data)} stays`);
      ctx.set("edits", (ctx.get<number>("edits") ?? 0) + 1);
    },
  }),
  board: channel({
    procedures: {
      move(ctx, [from, to]: readonly [string, string]) {
        const piece = ctx.get("piece");
        if (piece !== undefined && piece !== from) ctx.reject(1_003, "there is no piece");
        ctx.set("piece", to);
        ctx.set("moves", (ctx.get<number>("moves") ?? 0) + 1);
      },
    },
  }),
});

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

function rpc(id: number, data: object) {
  return { id, rpc: { method: "dormouse.call", data } };
}

/** What the API answers to a call, which its description has to fit (rule W8). */
async function ask(request: object): Promise<object> {
  description ??= await Description.fetch(config);
  const body = await description.check(
    "/api/call",
    await post("/api/call", JSON.stringify(request)),
  );
  return JSON.parse(body);
}

let description: Description | undefined;

/** Has the alarm of a channel's object ring so much later. An earlier one, for pings, is the same alarm. */
async function ring(name: string, waitMs: number): Promise<void> {
  vi.setSystemTime(Date.now() + waitMs);
  if (!(await runDurableObjectAlarm(env.CHANNELS.getByName(name))))
    throw new Error("no alarm is set");
}

describe.each(variants)("a procedure: $name", (variant) => {
  it("[PC15] [ED20] lets a client edit, and not delete, what it has published", async () => {
    const channelName = newChannel("talk");
    const socket = await variant.subscribe(channelName, "ann");
    socket.send({ id: 3, publish: { channel: channelName, data: "helo" } });
    expect([await socket.next(), await socket.next()]).toHaveLength(2);
    await variant.betweenSteps(channelName);
    const change = { channel: channelName, offset: 1 };
    const deletion = { id: 4, rpc: { method: "dormouse.delete", data: change } };
    expect(await socket.ask(deletion)).toMatchObject({
      error: { code: 1_004, message: '"helo" stays' },
    });
    await variant.betweenSteps(channelName);
    const data = { ...change, data: "hello" };
    socket.send({ id: 5, rpc: { method: "dormouse.update", data } });
    const got = [await socket.next(), await socket.next()];
    expect(got).toContainEqual({ id: 5, rpc: { data: expect.objectContaining({ version: 2 }) } });
    expect(JSON.stringify(got)).toContain('"dormouse.update":"1"');
    expect(await socket.ask(rpc(6, { channel: channelName, procedure: "edits" }))).toEqual({
      id: 6,
      rpc: { data: 1 },
    });
  });

  it("[PC1] [PC4] [PC6] [PC7] publishes, keeps keys and sets a timer, which calls once", async () => {
    const name = newChannel("auction");
    const socket = await variant.subscribe(name, "ann");
    socket.send(rpc(3, { channel: name, procedure: "bid", args: 5, idempotency_key: "a" }));
    expect(await socket.next()).toMatchObject({
      push: { pub: { data: { bid: 5, by: "ann" }, offset: 1 } },
    });
    expect(await socket.next()).toEqual({ id: 3, rpc: { data: { isBest: true } } });
    await variant.betweenSteps(name);
    expect(await socket.ask(rpc(4, { channel: name, procedure: "bid", args: 4 }))).toMatchObject({
      error: { code: 1_001, message: "the best bid is 5" },
    });
    await variant.betweenSteps(name);
    const again = { channel: name, procedure: "bid", args: 5, idempotency_key: "a" };
    expect(await socket.ask(rpc(5, again))).toEqual({ id: 5, rpc: { data: { isBest: true } } });
    const publish = { channel: name, data: "hello" };
    expect(await socket.ask({ id: 6, publish })).toMatchObject({ error: { code: 1_002 } });
    expect(await ask({ channel: name, procedure: "bid", args: 6 })).toEqual({
      result: { data: { isBest: true } },
    });
    expect(await socket.next()).toMatchObject({ push: { pub: { data: { bid: 6 }, offset: 2 } } });
    await variant.betweenSteps(name);
    await ring(name, 30_000);
    expect(JSON.parse(await socket.lineWith("sold"))).toMatchObject({
      push: { pub: { data: { sold: 6 }, offset: 3 } },
    });
    // The alarm rings again, and the timer is gone.
    vi.setSystemTime(Date.now() + 60_000);
    await runDurableObjectAlarm(env.CHANNELS.getByName(name));
    expect(await ask({ channel: name, procedure: "count" })).toEqual({ result: { data: 3 } });
    expect(await ask({ channel: name, procedure: "none" })).toMatchObject({ error: { code: 104 } });
  });

  it("[PC11] changes the keys of a map, which subscribers see live", async () => {
    const name = newChannel("board");
    await ask({ channel: name, procedure: "move", args: ["a1", "a2"] });
    const socket = await variant.connect(name, "ann");
    const subscribe = { channel: name, type: 1, phase: 2, flag: 1 };
    expect(await socket.ask({ id: 2, subscribe })).toMatchObject({
      subscribe: {
        state: [
          { key: "moves", data: 1 },
          { key: "piece", data: "a2" },
        ],
      },
    });
    await variant.betweenSteps(name);
    socket.send(rpc(3, { channel: name, procedure: "move", args: ["a2", "a3"] }));
    const received = [await socket.next(), await socket.next(), await socket.next()];
    expect(received).toMatchObject([
      { push: { pub: { key: "piece", data: "a3" } } },
      { push: { pub: { key: "moves", data: 2 } } },
      { id: 3, rpc: {} },
    ]);
  });
});

it("[PC1] [PC13] a call with a key and a publication writes two rows, and one without code none", async () => {
  const name = newChannel("auction");
  const stub = env.CHANNELS.getByName(name);
  const rows = () => runInDurableObject(stub, ({ sql }) => sql.rowsWritten);
  await ask({ channel: name, procedure: "bid", args: 1 });
  const before = await rows();
  await ask({ channel: name, procedure: "bid", args: 2 });
  // The key, the publication and the timer; the alarm is set already.
  expect((await rows()) - before).toBe(3);
  await ask({ channel: name, procedure: "bid", args: 2 });
  expect((await rows()) - before).toBe(3);
});

it("[W8] a call in a batch is answered as the description says", async () => {
  description ??= await Description.fetch(config);
  const commands = [{ call: { channel: newChannel("auction"), procedure: "count" } }];
  const answer = await post("/api/batch", JSON.stringify({ commands }));
  const body = await description.check("/api/batch", answer);
  expect(JSON.parse(body)).toEqual({ replies: [{ call: { data: 0 } }] });
});
