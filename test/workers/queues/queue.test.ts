import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChannelAnswers } from "../../../src/contract/channel-call.ts";
import { queueLimits } from "../../../src/features/queues/limits.ts";
import { limits } from "../../../src/limits.ts";
import edge from "../../../workers/edge.ts";
import { keptData } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { OwnTimers } from "../support/own-timers.ts";
import { awake, evicted } from "../support/object-state.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";
import { placedClasses } from "../http/placed-classes.ts";
import { overloadedError, watchedChannels } from "../support/watched-channels.ts";
import { patience } from "../../support/patience.ts";

const orders = {
  name: "orders",
  type: "cloudflare_queue",
  enabled: true,
  cloudflare_queue: {
    queue: "orders",
    methods: ["*"],
    channels: ["*"],
    dead_letter: "queue:REFUSED",
  },
};
const news = {
  name: "news",
  type: "cloudflare_queue",
  enabled: true,
  cloudflare_queue: {
    queue: "news",
    channels: ["room:*"],
    publication_data_mode: { enabled: true },
  },
};
const off = {
  ...orders,
  name: "off",
  enabled: false,
  cloudflare_queue: { ...news.cloudflare_queue, queue: "off" },
};
configure({ ...testConfig, consumers: [orders, news, off] });

let lines: string[] = [];
let errors: string[] = [];
beforeEach(() => {
  lines = [];
  errors = [];
  vi.spyOn(console, "warn").mockImplementation((line) => lines.push(String(line)));
  vi.spyOn(console, "error").mockImplementation((line) => errors.push(String(line)));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A message with an ID of its own. */
function message(body: unknown, attempts = 1, id: string = crypto.randomUUID()) {
  return { id, timestamp: new Date(1_700_000_000_000), attempts, body };
}

type TestMessage = ReturnType<typeof message>;

function publishOf(channel: string, data: unknown, more: object = {}): object {
  return { method: "publish", payload: { channel, data, ...more } };
}

/** Has the Worker take a batch, and gives what became of it; its environment differs in the given fields. */
async function take(
  messages: readonly TestMessage[],
  { queue = "orders", differences = {} }: { queue?: string; differences?: object } = {},
) {
  const batch = createMessageBatch(queue, [...messages]);
  const context = createExecutionContext();
  // The result doesn't have the delays.
  const retries = batch.messages.map((one) => vi.spyOn(one, "retry"));
  await edge.queue(batch, { ...env, ...differences });
  const result = await getQueueResult(batch, context);
  expect(result).toMatchObject({ outcome: "ok", ackAll: false, retryBatch: { retry: false } });
  const again = retries.flatMap(({ mock: { calls } }, index) =>
    calls.map(([options]) => [index, options?.delaySeconds]),
  );
  expect(result.retryMessages).toHaveLength(again.length);
  const done = result.explicitAcks.map((id) => messages.findIndex((one) => one.id === id));
  return { done: done.toSorted((first, second) => first - second), again };
}

/** A queue for refused messages that the test looks into. */
function refusedQueue(answer: () => Promise<unknown> = () => Promise.resolve()) {
  const sent: object[] = [];
  const REFUSED = {
    send: (body: object) => {
      sent.push(body);
      return answer();
    },
  };
  return { differences: { REFUSED } satisfies object, sent };
}

/** What differs where objects are placed. */
function placedSettings(placement: object): object {
  return { ...placedClasses([]), config: { ...testConfig, consumers: [orders], placement } };
}

const overloaded = () => Promise.reject<ChannelAnswers>(overloadedError());

describe("the messages of a batch", () => {
  it("[PL4] are left to the queue where the configuration's jurisdictions aren't those on record", async () => {
    const channel = newChannel("room");
    const messages = [message(publishOf(channel, 1))];
    const agreed = placedSettings({ jurisdiction: "eu", jurisdiction_before: "new" });
    expect(await take(messages, { differences: agreed })).toStrictEqual({ done: [0], again: [] });
    const later = [message(publishOf(channel, 2))];
    const { done, again } = await take(later, {
      differences: placedSettings({ jurisdiction: "us" }),
    });
    expect([done, again]).toMatchObject([[], [[0, expect.any(Number)]]]);
    expect(errors).toEqual([expect.stringContaining("jurisdictions differ from those on record")]);
    expect(await keptData(channel)).toEqual(["1"]);
  });

  it("[M2] are carried out by one call to each channel's object, in their order", async () => {
    const [first, second] = [newChannel("room"), newChannel("room")];
    const calls: [string, number][] = [];
    const CHANNELS = watchedChannels(({ channel, commands, proceed }) => {
      calls.push([channel, commands.length]);
      return proceed();
    });
    const messages = [
      message(publishOf(first, 1)),
      message(publishOf(second, 1)),
      message({ method: "broadcast", payload: { channels: [second, first], data: 2 } }),
      message(JSON.stringify(publishOf(first, 3))),
    ];
    expect(await take(messages, { differences: { CHANNELS } })).toStrictEqual({
      done: [0, 1, 2, 3],
      again: [],
    });
    expect(calls).toStrictEqual([
      [first, 3],
      [second, 2],
    ]);
    expect(await keptData(first)).toStrictEqual(["1", "2", "3"]);
    expect(await keptData(second)).toStrictEqual(["1", "2"]);
    expect([...lines, ...errors]).toStrictEqual([]);
  });

  it("[M1] reach clients, and order their connections", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.subscribe(channel, "ada");
    await take([message(publishOf(channel, "hello"))]);
    expect(await socket.line()).toContain(`"pub":{"data":"hello"}`);
    await take([message({ method: "disconnect", payload: { user: "ada" } })]);
    expect(await socket.closed).toMatchObject({ code: 3503 });
  });

  it("[M3] [M7] are delivered again, one by one, if their channel is overloaded", async () => {
    const [good, bad] = [newChannel("room"), newChannel("room")];
    const CHANNELS = watchedChannels(({ channel, proceed }) =>
      channel === bad ? overloaded() : proceed(),
    );
    const messages = [
      message(publishOf(bad, 1)),
      message(publishOf(good, 2)),
      message(publishOf(bad, 3), 3),
      message({ method: "broadcast", payload: { channels: [good, bad], data: 4 } }, 9),
    ];
    expect(await take(messages, { differences: { CHANNELS } })).toStrictEqual({
      done: [1],
      again: [
        [0, 5],
        [2, 20],
        [3, 120],
      ],
    });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { refused: "queue publish", rule: "M3", key: "orders" },
      { refused: "queue publish", reason: expect.stringContaining("nothing was done") },
      { refused: "queue broadcast" },
    ]);
    // What was done already isn't done twice, and the order in the channel stays.
    expect(await take(messages.toSpliced(1, 1))).toStrictEqual({ done: [0, 1, 2], again: [] });
    expect(await keptData(good)).toStrictEqual(["2", "4"]);
    expect(await keptData(bad)).toStrictEqual(["1", "3", "4"]);
  });

  it("[M3] [B4] are delivered again if they are more than one request may have", async () => {
    const names = Array.from({ length: limits.requestChannelsMax - 1 }, () => newChannel("plain"));
    const CHANNELS = watchedChannels(({ commands }) => {
      const answers = commands.map(() => ({ error: { code: 108, message: "", temporary: false } }));
      return Promise.resolve({ outcome: "answers", answers });
    });
    const { differences, sent } = refusedQueue();
    const messages = [
      message({ method: "broadcast", payload: { channels: names, data: 1 } }),
      message(publishOf(newChannel("plain"), 2)),
      message(publishOf(newChannel("plain"), 3)),
    ];
    expect(await take(messages, { differences: { CHANNELS, ...differences } })).toStrictEqual({
      done: [0, 1],
      again: [[2, 5]],
    });
    expect(sent).toHaveLength(2);
  });
});

describe.each([awake, evicted])(
  "a message that is delivered again, objects $name",
  ({ betweenSteps }) => {
    it.each(["room", "plain"])("[M4] publishes once in %s", async (namespace) => {
      const channel = newChannel(namespace);
      const socket = await TestSocket.subscribe(channel, "ada");
      if (namespace === "room") await socket.frame(); // its own join
      const one = message(publishOf(channel, "once"));
      expect((await take([one])).done).toStrictEqual([0]);
      await betweenSteps([env.CHANNELS.getByName(channel)]);
      expect((await take([{ ...one, attempts: 2 }])).done).toStrictEqual([0]);
      expect((await take([message(publishOf(channel, "twice"))])).done).toStrictEqual([0]);
      await betweenSteps([env.CHANNELS.getByName(channel)]);
      expect(await socket.line()).toContain(`"data":"once"`);
      expect(await socket.line()).toContain(`"data":"twice"`);
    });
  },
);

describe("a message that is refused", () => {
  it("[M5] is sent to the queue for such, with the reason, and nothing of it is logged", async () => {
    const channel = newChannel("room");
    const { differences, sent } = refusedQueue();
    const messages = [
      message("s3cr3t"),
      message(publishOf("nosuch:a", "s3cr3t")),
      message(publishOf(channel, 1)),
      message(new TextEncoder().encode('{"method":"s3cr3t"}').buffer),
    ];
    expect(await take(messages, { differences })).toStrictEqual({ done: [0, 1, 2, 3], again: [] });
    const of = (index: number) => ({
      queue: "orders",
      id: messages[index]?.id,
      sent_at: 1_700_000_000_000,
    });
    const badRequest = { code: 107, message: "bad request" };
    expect(sent).toStrictEqual([
      { reason: "the message is not valid JSON", error: badRequest, message: "s3cr3t", ...of(0) },
      {
        reason: "channel.namespaces doesn't have nosuch",
        error: { code: 102, message: "unknown channel" },
        message: messages[1]?.body,
        ...of(1),
      },
      { reason: "unknown method", error: badRequest, message: '{"method":"s3cr3t"}', ...of(3) },
    ]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { refused: "queue message", rule: "M5", code: 107, key: "orders" },
      { refused: "queue publish", rule: "M5", code: 102 },
      { refused: "queue message", reason: "unknown method" },
    ]);
    expect([...lines, ...errors].join()).not.toContain("s3cr3t");
    expect(await keptData(channel)).toStrictEqual(["1"]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["refuses it", () => Promise.reject(new Error("s3cr3t"))],
    ["is silent", () => new Promise(() => {})],
  ])("[M8] is delivered again if that queue %s", async (_, answer) => {
    const timers = new OwnTimers();
    const { differences, sent } = refusedQueue(answer);
    const taken = timers.of(() => take([message("s3cr3t")], { differences }));
    await vi.waitUntil(() => sent.length === 1, patience);
    await vi.advanceTimersByTimeAsync(queueLimits.deadLetterAnswerMs);
    expect(await taken).toStrictEqual({ done: [], again: [[0, 5]] });
    expect(timers.waiting).toBe(0);
    vi.useRealTimers();
    expect([...lines, ...errors].join()).not.toContain("s3cr3t");
  });

  it("[M8] is delivered again where there is no such queue, or when it can't be sent there", async () => {
    expect(await take([message("no json")], { queue: "news" })).toStrictEqual({
      done: [],
      again: [[0, 5]],
    });
    const { differences, sent } = refusedQueue();
    expect(await take([message(new Uint8Array([255]))], { differences })).toStrictEqual({
      done: [],
      again: [[0, 5]],
    });
    expect(sent).toStrictEqual([]);
  });
});

describe("a batch of a queue", () => {
  it.each(["nobody-named-it", "off"])(
    "[M6] %s, which no enabled consumer names, is left to it",
    async (queue) => {
      const channel = newChannel("room");
      const messages = [
        message(publishOf(channel, 1)),
        message({ data: 1, channels: [channel] }, 4),
      ];
      expect(await take(messages, { queue })).toStrictEqual({
        done: [],
        again: [
          [0, 5],
          [1, 40],
        ],
      });
      expect(errors).toStrictEqual([
        `the messages of the queue ${queue} are left to it: none of the enabled consumers of the configuration names it`,
      ]);
      expect(await keptData(channel)).toStrictEqual([]);
    },
  );

  it("[M6] [A8] is left to it by a Worker that isn't configured", async () => {
    const channel = newChannel("room");
    const differences = { API_KEY: "" };
    expect(await take([message(publishOf(channel, 1))], { differences })).toStrictEqual({
      done: [],
      again: [[0, 5]],
    });
    expect(errors.join()).toContain("the Worker isn't configured");
    expect(await keptData(channel)).toStrictEqual([]);
    await take([message("refused")], { differences: { REFUSED: undefined } });
    expect(errors.join()).toContain("the Worker isn't configured");
  });
});

describe("the simulated queue", () => {
  it("[M1] [M5] brings orders to the Worker, and takes what it refuses", async () => {
    const channel = newChannel("room");
    await env.ORDERS.send(publishOf(channel, 1));
    await env.ORDERS.send(JSON.stringify(publishOf(channel, 2)), { contentType: "text" });
    const wrong = { method: "invent", channel };
    await env.ORDERS.send(wrong);
    await vi.waitUntil(async () => (await keptData(channel)).length === 2, { timeout: 20_000 });
    expect(await keptData(channel)).toStrictEqual(["1", "2"]);
    const letter = await vi.waitUntil(
      async () => {
        const letters: { message: { channel?: string } }[] = await (
          await env.DEAD_LETTERS.fetch("https://dead-letters/")
        ).json();
        return letters.find((one) => one.message.channel === channel);
      },
      { timeout: 20_000 },
    );
    expect(letter).toMatchObject({ reason: "unknown method", message: wrong, queue: "orders" });
  });
});
