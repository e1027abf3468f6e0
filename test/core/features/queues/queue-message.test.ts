import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ApiAnswer, outcomeAnswer } from "../../../../src/api/answers.ts";
import { type ApiCommand, entriesOf, type Refused } from "../../../../src/api/command.ts";
import {
  fittingCommands,
  messageOutcome,
  parseMessageBody,
  parseQueueMessage,
  retrySeconds,
} from "../../../../src/features/queues/queue-message.ts";
import { operationNames } from "../../../../src/api/operations.ts";
import type { ConsumerConfig } from "../../../../src/features/queues/config.ts";
import { queueLimits } from "../../../../src/features/queues/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { caller, json } from "../../api/channel-config.ts";

const { channels } = caller();
const everything: ConsumerConfig = {
  name: "orders",
  queue: "dormouse-orders",
  rights: { methods: ["*"], channels: ["*"] },
  publicationDataMode: false,
};
const publications: ConsumerConfig = {
  ...everything,
  rights: { methods: ["broadcast"], channels: ["*"] },
  publicationDataMode: true,
};

function parse(body: unknown, consumer = everything) {
  return parseQueueMessage(parseMessageBody(body), "0123abcd", consumer, channels, 5_000);
}

/** The command of a message. */
function commandOf(body: unknown, consumer = everything): ApiCommand {
  const parsed = parse(body, consumer);
  if (parsed.outcome === "refused") throw new Error(parsed.detail);
  return parsed.command;
}

function refusalOf(body: unknown, consumer = everything): Refused {
  const parsed = parse(body, consumer);
  if (parsed.outcome === "command") throw new Error("not refused");
  return parsed;
}

/** The publications that a message makes, by their channels. */
function publicationsOf(command: ApiCommand): readonly object[] {
  return entriesOf(command).map((entry) => {
    if (entry.outcome !== "call" || entry.command.method !== "publish")
      throw new Error(entry.outcome);
    return Object.assign({ channel: entry.channel }, entry.command.request);
  });
}

/** A broadcast to so many channels, whose names are numbered. */
function broadcastTo(from: number, count: number): ApiCommand {
  const names = Array.from({ length: count }, (_, index) => `c${from + index}`);
  return commandOf({ method: "broadcast", payload: { channels: names, data: 1 } });
}

const publish = { method: "publish", payload: { channel: "a", data: { n: 1 } } };

describe("the body of a message", () => {
  const text = JSON.stringify(publish);
  const bytes = new TextEncoder().encode(text);
  it.each<[string, unknown]>([
    ["a value", publish],
    ["a text", text],
    ["bytes", bytes],
    ["bytes in a buffer", bytes.slice().buffer],
  ])("[M1] may be %s", (_, body) => {
    expect(publicationsOf(commandOf(body))).toMatchObject([{ channel: "a", data: `{"n":1}` }]);
  });

  it("[W2] keeps each digit and each space of data that was sent as text or bytes", () => {
    const exact = `{"method":"publish","payload":{"channel":"a","data":{"n": 1.50, "m":9007199254740993}}}`;
    for (const body of [exact, new TextEncoder().encode(exact)]) {
      const data = `{"n": 1.50, "m":9007199254740993}`;
      expect(publicationsOf(commandOf(body))).toMatchObject([{ data }]);
      expect(parseMessageBody(body)?.value).toBe(exact);
    }
  });

  const cycle: { self?: object } = {};
  cycle.self = cycle;
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a bigint", { method: "publish", payload: { channel: "a", data: 5n } }],
    ["a cycle", cycle],
    ["bytes that aren't UTF-8", new Uint8Array([0x7b, 0xff, 0x7d])],
  ])("[M5] may not be %s", (_, body) => {
    expect(parseMessageBody(body)).toBeUndefined();
    expect(refusalOf(body)).toStrictEqual({
      outcome: "refused",
      error: errorCodes.badRequest,
      detail: "the message is neither JSON nor UTF-8 text",
    });
  });

  it("[M5] [B2] has at most limits.queueMessageCharactersMax characters", () => {
    const longest = text + " ".repeat(queueLimits.queueMessageCharactersMax - text.length);
    expect(commandOf(longest)).toMatchObject({ method: "publish" });
    expect(refusalOf(`${longest} `).detail).toBe("the message exceeds 1048576 characters");
  });
});

describe("a message with a command", () => {
  it("[M1] may have its payload as a string of JSON, as tools write it that copy tables", () => {
    const payload = `{"channel":"a","data":[1.0]}`;
    const command = commandOf({ method: "publish", payload });
    expect(publicationsOf(command)).toMatchObject([{ channel: "a", data: "[1.0]" }]);
    expect(refusalOf({ method: "publish", payload: "{" }).detail).toBe(
      "payload: a string that is not valid JSON",
    );
  });

  it("[M1] may have any method that changes something", () => {
    expect(commandOf({ method: "disconnect", payload: { user: "ada" } })).toMatchObject({
      method: "disconnect",
      entry: { outcome: "order", order: { method: "disconnect" } },
    });
    expect(commandOf({ method: "history_remove", payload: { channel: "a" } })).toMatchObject({
      entry: { channel: "a", command: { method: "history_remove" } },
    });
  });

  it.each<[unknown, number, string]>([
    ["no json", 107, "the message is not valid JSON"],
    ["[]", 107, "the request must be an object"],
    ["{}", 107, "unknown method"],
    [{ method: 5 }, 107, "the field method must be a string"],
    [{ method: "invent" }, 107, "unknown method"],
    [{ method: "batch", payload: { commands: [] } }, 107, "unknown method"],
    [{ method: "rpc" }, 107, "rpc is a method of Centrifugo that Dormouse doesn't have yet"],
    [
      { method: "history", payload: { channel: "a" } },
      108,
      "the method only reads, and messages get no answers",
    ],
    [{ method: "publish", payload: [] }, 107, "payload: the request must be an object"],
    [
      { method: "publish", payload: { channel: 5 } },
      107,
      "payload: the field channel must be a string",
    ],
  ])("[M5] is refused: %j", (body, code, detail) => {
    expect(refusalOf(body)).toMatchObject({ error: { code }, detail });
  });

  it.each<[object, number, string]>([
    [{ method: "publish" }, 107, "channel is required"],
    [{ method: "publish", payload: { channel: "a" } }, 107, "data is required"],
    [
      { method: "publish", payload: { channel: "nosuch:a", data: 1 } },
      102,
      "channel.namespaces doesn't have nosuch",
    ],
    [
      { method: "subscribe", payload: { user: "ada", channel: "a", expire_at: 5 } },
      100,
      "expire_at has passed",
    ],
  ])("[M5] [U28] is refused as by the HTTP API: %j", (body, code, detail) => {
    const command = commandOf(body);
    const [entry] = entriesOf(command);
    if (entry?.outcome !== "refused") throw new Error("not refused");
    expect(messageOutcome(command, [entry])).toMatchObject({
      outcome: "refused",
      error: { code },
      detail,
    });
  });

  it("[M1] does what the consumer admits, and nothing else", () => {
    const rights = { methods: ["publish"], channels: ["news:*"] };
    const command = commandOf(publish, { ...everything, rights });
    expect(command).toMatchObject({
      entry: {
        outcome: "refused",
        error: errorCodes.permissionDenied,
        detail: `the consumer "orders" doesn't admit the channel`,
        channel: "a",
      },
    });
    const order = { method: "disconnect", payload: { user: "ada" } };
    expect(commandOf(order, { ...everything, rights })).toMatchObject({
      entry: { detail: `the consumer "orders" doesn't admit the method disconnect` },
    });
  });

  it("[M3] [B4] is refused if it alone is more than one request may carry out", () => {
    const each = "x".repeat(queueLimits.queueMessageCharactersMax / 2);
    const many = Array.from({ length: 20 }, () => "a");
    const payload = { channels: many, data: each };
    expect(refusalOf({ method: "broadcast", payload })).toMatchObject({
      error: errorCodes.badRequest,
      detail: `the data for one channel exceeds ${limits.requestBytesMax} bytes`,
    });
  });
});

describe("a message in publication data mode", () => {
  it("[M1] is a publication for the channels that it names", () => {
    const body = `{"data":{"n":1.0},"channels":["a","b"],"idempotency_key":"k","delta":true,
      "version":18446744073709551615,"version_epoch":"e","tags":{"lang":"en"},"skip_history":true}`;
    const publication = {
      data: `{"n":1.0}`,
      idempotencyKey: "k",
      delta: true,
      version: 18446744073709551615n,
      versionEpoch: "e",
      tags: { lang: "en" },
      skipHistory: true,
    };
    expect(publicationsOf(commandOf(body, publications))).toStrictEqual([
      { channel: "a", ...publication },
      { channel: "b", ...publication },
    ]);
  });

  it("[M1] is never a command", () => {
    const command = commandOf({ method: "disconnect", payload: { user: "ada" } }, publications);
    expect(command).toMatchObject({ entry: { detail: "channels is required" } });
  });
});

describe("the idempotency key of a publication", () => {
  it("[M4] is made of the message's ID if the message has none", () => {
    const broadcast = { method: "broadcast", payload: { channels: ["a", "b"], data: 1 } };
    const keys = [
      ...publicationsOf(commandOf(publish)),
      ...publicationsOf(commandOf(broadcast)),
      ...publicationsOf(commandOf({ data: 1, channels: ["c"] }, publications)),
    ];
    expect(keys).toHaveLength(4);
    for (const one of keys) expect(one).toMatchObject({ idempotencyKey: "queue:0123abcd" });
  });

  it.each(["map_publish", "map_remove"])("[M4] is that of a map's change, too: %s", (method) => {
    const payload = { channel: "scores:a", key: "k", data: 1, if_offset: 3 };
    expect(entriesOf(commandOf({ method, payload }))).toMatchObject([
      { command: { method, request: { key: "k", idempotencyKey: "queue:0123abcd", ifOffset: 3 } } },
    ]);
    const own = { ...payload, idempotency_key: "mine" };
    expect(entriesOf(commandOf({ method, payload: own }))).toMatchObject([
      { command: { method, request: { idempotencyKey: "mine" } } },
    ]);
  });

  it("[M4] is that of an append that names no place, which one that does needs not", () => {
    const payload = { channel: "scores:a", key: "k", text: "t" };
    const method = "map_append";
    expect(entriesOf(commandOf({ method, payload }))).toMatchObject([
      { command: { method, request: { idempotencyKey: "queue:0123abcd" } } },
    ]);
    expect(entriesOf(commandOf({ method, payload: { ...payload, at: 0 } }))).toMatchObject([
      { command: { method, request: { at: 0, idempotencyKey: "" } } },
    ]);
  });

  it("[M1] is none of a map that is cleared, nor of a shared poll's value, and reading is refused", () => {
    const clear = commandOf({ method: "map_clear", payload: { channel: "scores:a" } });
    expect(entriesOf(clear)).toMatchObject([{ command: { method: "map_clear" } }]);
    const payload = { channel: "votes:a", key: "k", data: 1, version: 1 };
    expect(entriesOf(commandOf({ method: "shared_poll_publish", payload }))).toMatchObject([
      { command: { method: "shared_poll_publish", request: { version: 1n } } },
    ]);
    for (const method of ["map_read_state", "map_read_stream", "map_stats"]) {
      expect(refusalOf({ method, payload: { channel: "scores:a" } })).toMatchObject({
        error: errorCodes.notAvailable,
      });
    }
  });

  it("[M4] is the message's own if it has one", () => {
    const own = { ...publish, payload: { ...publish.payload, idempotency_key: "mine" } };
    expect(publicationsOf(commandOf(own))).toMatchObject([{ idempotencyKey: "mine" }]);
  });
});

describe("what one request may carry out of a batch", () => {
  it("[M3] [B4] are so many of the first commands", () => {
    const half = limits.requestChannelsMax / 2;
    const single = commandOf(publish);
    expect(fittingCommands([])).toBe(0);
    expect(fittingCommands([single])).toBe(1);
    expect(fittingCommands([broadcastTo(0, half), broadcastTo(half, half)])).toBe(2);
    // The channel c0 is called already.
    expect(fittingCommands([broadcastTo(0, 2 * half), broadcastTo(0, 1)])).toBe(2);
    expect(fittingCommands([broadcastTo(0, half), broadcastTo(half, half), single, single])).toBe(
      2,
    );
    expect(fittingCommands([broadcastTo(0, 2 * half), single])).toBe(1);
  });
});

describe("what becomes of a message", () => {
  const done = { result: json("{}") };
  const busy = { error: errorCodes.tooManyRequests, detail: "the channel is overloaded" };
  const unknown = { error: errorCodes.internal };
  const refused: Refused = { outcome: "refused", error: errorCodes.notAvailable, detail: "why" };
  const toTwo = broadcastTo(0, 2);

  it.each<[string, readonly ApiAnswer[], object]>([
    ["[M3] is done", [done, done], { outcome: "done" }],
    ["[M3] comes again", [busy, done], { outcome: "again", detail: "the channel is overloaded" }],
    ["[M3] comes again", [done, unknown], { outcome: "again", detail: "internal server error" }],
    ["[M3] comes again without an answer", [done], { outcome: "again" }],
    ["[M5] is refused", [done, refused], refused],
    [
      "[M5] is refused for its first reason",
      [refused, { error: errorCodes.badRequest }],
      { ...refused, channel: "c0" },
    ],
    // What can be done now is done before the message is given up.
    ["[M3] comes again first", [busy, refused], { outcome: "again" }],
  ])("%s: %j", (_, answers, outcome) => {
    expect(messageOutcome(toTwo, answers)).toMatchObject(outcome);
  });

  it("[M7] it isn't delivered again if a user's home keeps its order", () => {
    const order = commandOf({ method: "disconnect", payload: { user: "ada" } });
    const pending = { outcome: "pending", retryAfterSeconds: 5 } as const;
    expect(messageOutcome(order, [outcomeAnswer(pending, 0)])).toStrictEqual({
      outcome: "done",
    });
    expect(messageOutcome(order, [{ error: errorCodes.internal }])).toMatchObject({
      outcome: "again",
    });
  });

  it("[M3] [V1] it is delivered again if the channel's object has the configuration of before", () => {
    const command = commandOf(publish);
    expect(messageOutcome(command, [{ error: errorCodes.unknownChannel }])).toMatchObject({
      outcome: "again",
    });
    expect(messageOutcome(command, [{ error: errorCodes.notAvailable }])).toMatchObject({
      outcome: "refused",
      channel: "a",
    });
  });

  it("[M3] the delay doubles up to limits.queueRetrySecondsMax", () => {
    expect([0, 1, 2, 3, 5, 6, 100].map(retrySeconds)).toStrictEqual([5, 5, 10, 20, 80, 120, 120]);
    expect(retrySeconds(1)).toBe(queueLimits.queueRetrySeconds);
    // A repetition finds the key of the first publication.
    expect(2 * queueLimits.queueRetrySecondsMax * 1_000).toBeLessThan(limits.idempotencyMs);
  });
});

it("[M1] docs/queue.md names each method that a message can be", () => {
  const page = readFileSync("docs/queue.md", "utf8");
  const [, list = ""] = /^All methods that change something are there: ([^.]+)\./m.exec(page) ?? [];
  const named = Array.from(list.matchAll(/`(\w+)`/g), ([, name = ""]) => name);
  expect(named.toSorted()).toEqual(operationNames(({ changes }) => changes === true).toSorted());
});
