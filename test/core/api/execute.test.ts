import { sendAll } from "../../support/send-all.ts";
import { describe, expect, it } from "vitest";
import type { ChannelOperation, HistoryQuery } from "../../../src/contract/channel-call.ts";
import { execute, executeAll } from "../../../src/api/execute.ts";
import type { Channel } from "../../../src/channel/channel.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import {
  openChannel,
  publishing,
  publishNumbers,
  unpositioned,
  withHistory,
} from "../../contract/open-channel.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { RecordingSubscriber } from "../hub/recording-subscriber.ts";

const notAvailable = { error: errorCodes.notAvailable };

describe("publish", () => {
  it("[W1] answers with the position, and reaches subscribers without a publisher", () => {
    const channel = kept();
    const reader = listening(channel, "reader");
    expect(publish(channel, 1)).toEqual({ result: '{"offset":1,"epoch":"abcd"}' });
    expect(publish(channel, 2)).toEqual({ result: '{"offset":2,"epoch":"abcd"}' });
    sendAll(channel.hub);
    expect(reader.frames.join("\n")).toBe(
      '{"push":{"channel":"room","pub":{"data":1,"offset":1,"epoch":"abcd"}}}\n' +
        '{"push":{"channel":"room","pub":{"data":2,"offset":2}}}',
    );
  });

  it("[W1] answers with nothing when it isn't kept", () => {
    const skipping = publishing(1, { skipHistory: true });
    expect(ask(kept(), { method: "publish", request: skipping })).toEqual({ result: "{}" });
    expect(publish(openChannel(new NodeSql()), 1)).toEqual({ result: "{}" });
  });

  it("[I1] answers a repeated key as the first time", () => {
    const channel = kept();
    const request = publishing(1, { idempotencyKey: "key" });
    const first = ask(channel, { method: "publish", request });
    publish(channel, 2);
    expect(ask(channel, { method: "publish", request })).toEqual(first);
    expect(first).toEqual({ result: '{"offset":1,"epoch":"abcd"}' });
    expect(history(channel, { limit: 0 })).toEqual({
      result: '{"publications":[],"epoch":"abcd","offset":2}',
    });
    const unkept = openChannel(new NodeSql());
    expect(ask(unkept, { method: "publish", request })).toEqual({ result: "{}" });
    expect(ask(unkept, { method: "publish", request })).toEqual({ result: "{}" });
  });

  it("[I4] is refused with 111 beyond the limit of keys", () => {
    const channel = openChannel(new NodeSql());
    for (let index = 0; index < limits.idempotencyKeysMax; index++) {
      channel.publish(publishing(0, { idempotencyKey: `filler ${index}` }), undefined, 0);
    }
    const request = publishing(1, { idempotencyKey: "one more" });
    expect(ask(channel, { method: "publish", request })).toEqual({
      error: { code: 111, message: "too many requests", temporary: true },
    });
  });
});

describe("history", () => {
  it("[H2] answers with publications and the position, both ways", () => {
    const channel = kept();
    channel.publish(publishing(1, { tags: { kind: "score" } }), { user: "42", client: "c1" }, 0);
    publishNumbers(channel, 2, 3);
    const first =
      '{"data":1,"info":{"user":"42","client":"c1"},"offset":1,"tags":{"kind":"score"}}';
    const [second, third] = ['{"data":2,"offset":2}', '{"data":3,"offset":3}'];
    expect(history(channel, { limit: -1 })).toEqual(historyTo3(first, second, third));
    expect(history(channel, { limit: 2 })).toEqual(historyTo3(first, second));
    expect(history(channel, { limit: 2, reverse: true })).toEqual(historyTo3(third, second));
    expect(history(channel, { limit: 0 })).toEqual(historyTo3());
    const since = { offset: 2, epoch: "abcd" };
    expect(history(channel, { limit: -1, since })).toEqual(historyTo3(third));
    expect(history(channel, { limit: -1, since, reverse: true })).toEqual(historyTo3(first));
  });

  it("[W1] is refused with 112 for another epoch, and with 108 without history", () => {
    const since = { offset: 0, epoch: "other" };
    expect(history(kept(), { limit: -1, since })).toEqual({
      error: errorCodes.unrecoverablePosition,
    });
    expect(history(openChannel(new NodeSql()), { limit: -1 })).toEqual(notAvailable);
  });

  it("[B2] is refused with 106 when it is too large to answer", () => {
    const channel = openChannel(new NodeSql(), { options: { ...withHistory, historySize: 20 } });
    const data = JSON.stringify("x".repeat(limits.publicationBytesMax - 2));
    for (let count = 0; count < 9; count++) channel.publish(publishing(data), undefined, 0);
    expect(history(channel, { limit: -1 })).toEqual({ error: errorCodes.limitExceeded });
  });
});

describe("history_remove", () => {
  it("[H10] removes the publications and keeps the position", () => {
    const channel = kept();
    publishNumbers(channel, 1, 2);
    expect(ask(channel, { method: "history_remove" })).toEqual({ result: "{}" });
    expect(history(channel, { limit: -1 })).toEqual({
      result: '{"publications":[],"epoch":"abcd","offset":2}',
    });
    expect(publish(channel, 3)).toEqual({ result: '{"offset":3,"epoch":"abcd"}' });
  });

  it("[W1] is refused with 108 without history", () => {
    expect(ask(openChannel(new NodeSql()), { method: "history_remove" })).toEqual(notAvailable);
  });
});

describe("presence", () => {
  it("[P1] answers with the present clients, and their number", () => {
    const channel = openChannel(new NodeSql(), { options: { presence: true } });
    const clients = ["alice", "bob"].map((user) => ({ user, client: `c-${user}` }));
    const stats = { clientCount: 2, userCount: 2, incomplete: true };
    const present = { outcome: "present", result: { parts: [clients] }, stats } as const;
    const listed = {
      result:
        '{"presence":{"c-alice":{"user":"alice","client":"c-alice"},' +
        '"c-bob":{"user":"bob","client":"c-bob"}}}',
    };
    const counted = { result: '{"num_clients":2,"num_users":2,"incomplete":true}' };
    expect(executeAll(channel, asking, 0, present)).toEqual([listed, counted, listed]);
  });

  it("[P6] is refused where the question was", () => {
    const channel = openChannel(new NodeSql(), { options: { presence: true } });
    const error = errorCodes.tooManyRequests;
    const refused = { outcome: "failed", error } as const;
    expect(executeAll(channel, asking, 0, refused)).toEqual([{ error }, { error }, { error }]);
  });

  it("[B2] is refused with 106 beyond the answers of one call", () => {
    const channel = openChannel(new NodeSql(), { options: { presence: true } });
    const clients = [{ user: "x".repeat(limits.answerBytesMax / 2), client: "c" }];
    const stats = { clientCount: 1, userCount: 1 };
    const present = { outcome: "present", result: { parts: [clients] }, stats } as const;
    const [first, , third] = executeAll(channel, asking, 0, present);
    expect(first).toHaveProperty("result");
    expect(third).toEqual({ error: errorCodes.limitExceeded });
  });

  it("[W1] is refused with 108 where it is off", () => {
    expect(executeAll(kept(), asking, 0)).toEqual([notAvailable, notAvailable, notAvailable]);
  });
});

const asking: readonly ChannelOperation[] = [
  { method: "presence" },
  { method: "presence_stats" },
  { method: "presence" },
];

function historyTo3(...publications: (string | undefined)[]) {
  return { result: `{"publications":[${publications.join(",")}],"epoch":"abcd","offset":3}` };
}

function kept(): Channel {
  return openChannel(new NodeSql(), { options: withHistory, newEpoch: () => "abcd" });
}

function listening(channel: Channel, user: string): RecordingSubscriber {
  const recipient = new RecordingSubscriber(user);
  channel.subscribe(recipient, unpositioned, 0);
  return recipient;
}

function ask(channel: Channel, command: ChannelOperation) {
  return execute(channel, command, 0);
}

function publish(channel: Channel, data: number) {
  return ask(channel, { method: "publish", request: publishing(data) });
}

function history(channel: Channel, query: Partial<HistoryQuery> & { readonly limit: number }) {
  return ask(channel, { method: "history", request: { reverse: false, ...query } });
}
