import { plainPublication } from "../../../../src/channel/publication-request.ts";
import { sendAll } from "../../../support/send-all.ts";
import { describe, expect, it } from "vitest";
import type { Channel } from "../../../../src/channel/channel.ts";
import type { Cursor } from "../../../../src/contract/session-snapshot.ts";
import { sortBatch } from "../../../../src/gateway/batch-order.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { replyToRequests } from "../../../../src/channel/relay-replies.ts";
import type { RelayReply, RelayRequest } from "../../../../src/contract/relay-request.ts";
import {
  openChannel,
  type Opening,
  positionOf,
  publishing,
  publishNumbers,
  withHistory,
} from "../../../contract/open-channel.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { json } from "../../api/channel-config.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";

const info = { user: "42", client: "c1" };
const bytesMax = 1_048_576;

describe("following", () => {
  it("[L1] has the top and the next sequence", () => {
    const channel = opened();
    publishNumbers(channel, 1, 3);
    const following = { outcome: "following", position: at(3), instance: 7, sequence: 3 };
    expect(ask(channel, { method: "follow" })).toEqual([following]);
    expect(channel.relay.gateways).toEqual(["eu/1"]);
    expect(ask(opened({ options: {} }), { method: "follow" })).toEqual([
      { outcome: "following", instance: 7, sequence: 0 },
    ]);
  });

  it("[H5] gives a stream that wasn't there an epoch that stays", () => {
    const channel = opened();
    expect(ask(channel, { method: "follow" })).toMatchObject([{ position: at(0) }]);
    expect(positionOf(channel)).toEqual(at(0));
  });

  it("[H6] doesn't bring back a stream that has ended", () => {
    const epochs = ["first", "second"];
    const channel = opened({ newEpoch: () => epochs.shift() ?? "" });
    publishNumbers(channel, 1, 3);
    const endMs = channel.cleanupDueAtMs(0) ?? 0;
    const position = { epoch: "second", offset: 0 };
    expect(ask(channel, { method: "follow" }, endMs)).toMatchObject([{ position }]);
  });

  it("[L1] begins after every call about a stream that has ended, however late that comes", () => {
    const epochs = ["first", "second"];
    const channel = opened({ newEpoch: () => epochs.shift() ?? "" });
    ask(channel, { method: "follow" });
    channel.relay.check("eu/1");
    const [late, ...others] = channel.relay.deliveries(channel.top, 0);
    if (late === undefined || others.length > 0) throw new Error("not one call");
    expect(late.batch).toMatchObject({ first: 1, entries: [], top: { epoch: "first", offset: 0 } });
    channel.relay.answered(late, { outcome: "left" }, 0);
    const [reply] = ask(channel, { method: "follow" }, channel.cleanupDueAtMs(0) ?? 0);
    if (reply?.outcome !== "following") throw new Error("doesn't follow");
    const { instance, sequence, position } = reply;
    expect(position).toEqual({ epoch: "second", offset: 0 });
    const cursor: Cursor = { instance, sequence, ...(position === undefined ? {} : { position }) };
    expect(sortBatch(late.batch, cursor)).toMatchObject({ outcome: "sorted", cursor, entries: [] });
  });

  it("[B1] is refused with 111 beyond the limit of gateways, and makes no stream", () => {
    const channel = opened();
    for (let index = 0; index < limits.relayGatewaysMax; index++) {
      channel.relay.follow(`gateway ${index}`, 0);
    }
    expect(ask(channel, { method: "follow" })).toEqual([error(errorCodes.tooManyRequests)]);
    expect(channel.top).toBeUndefined();
  });
});

describe("recovering", () => {
  it("[L3] gives a gateway more than a client may recover", () => {
    const channel = opened({ client: { recoveryMaxPublicationLimit: 3 } });
    publishNumbers(channel, 1, 5);
    expect(ask(channel, { method: "recover", since: at(0), whole: true })).toEqual([
      { outcome: "recovered", position: at(5), publications: [1, 2, 3, 4, 5].map(publication) },
    ]);
    expect(outcomes(ask(channel, recover(0), 0))).toEqual(["unrecoverable"]);
  });

  it("[L3] gives a gateway the oldest of it, half as much as a reader may be behind", () => {
    const historySize = 600;
    const channel = opened({ options: { ...withHistory, historySize } });
    // The ring has wrapped, and its end lies in the middle of a page.
    for (let count = 0; count < 900; count++) publishText(channel, 10_000);
    const offsets = (since: number) => page(channel, since);
    const first = offsets(300);
    expect([first[0], first.length]).toEqual([301, 51]);
    expect(offsets(575)).toHaveLength(51);
    expect(offsets(899)).toEqual([900]);
    let since = 300;
    while (since < 900) since = offsets(since).at(-1) ?? Number.NaN;
    expect(since).toBe(900);
  });

  it("[L3] gives a gateway at least one missed publication, whatever its size", () => {
    const channel = opened({ options: withHistory });
    publishText(channel, 1_000_000);
    publishText(channel, 1_000_000);
    expect([page(channel, 0), page(channel, 1), page(channel, 2)]).toEqual([[1], [2], []]);
    const all = Array.from({ length: 12 }, () => whole(0));
    expect(new Set(outcomes(answer(channel, all)))).toEqual(new Set(["recovered"]));
  });

  it("[L3] gives a gateway thousands of small ones, as many as fit with their channel's name", () => {
    const historySize = 10_000;
    const channel = opened({ options: { ...withHistory, historySize } });
    publishNumbers(channel, 1, 9_000);
    const { length } = page(channel, 0);
    // A push may be twice as large as the stored publication.
    expect(length * 130).toBeLessThan(524_288);
    expect(length).toBeGreaterThan(3_000);
  });

  it("[L3] doesn't recover a gateway whose oldest missed publication or whose stream is gone", () => {
    const channel = opened();
    publishNumbers(channel, 1, 9);
    const others = [whole(3), whole(10), { ...whole(7), since: { offset: 7, epoch: "other" } }];
    expect(new Set(outcomes(answer(channel, others)))).toEqual(new Set(["unrecoverable"]));
    expect(page(channel, 4)).toEqual([5, 6, 7, 8, 9]);
    channel.removeHistory(0);
    expect(outcomes(answer(channel, [whole(7), whole(9)]))).toEqual(["unrecoverable", "recovered"]);
  });

  it("[R2] gives the newest publication", () => {
    const channel = opened();
    expect(ask(channel, { method: "newest" })).toEqual([
      { outcome: "unrecoverable", position: at(0) },
    ]);
    publishNumbers(channel, 1, 9);
    expect(ask(channel, { method: "newest" })).toEqual([
      { outcome: "recovered", position: at(9), publications: [publication(9)] },
    ]);
  });

  it("[W1] is refused with 108 without history", () => {
    const channel = opened({ options: {} });
    const refused = error(errorCodes.notAvailable);
    expect(answer(channel, [recover(0), { method: "newest" }])).toEqual([refused, refused]);
  });
});

describe("publishing", () => {
  it("[O4] gives the publication's entry, after the entries before it", () => {
    const channel = opened();
    const reader = new RecordingSubscriber("reader");
    channel.hub.add(reader);
    const publish = (data: string): RelayRequest => ({
      method: "publish",
      request: plainPublication(json(data)),
      info,
    });
    expect(answer(channel, [{ method: "follow" }, publish("1"), publish("2")])).toMatchObject([
      { outcome: "following", sequence: 0 },
      { outcome: "published", instance: 7, sequence: 1 },
      { outcome: "published", instance: 7, sequence: 2 },
    ]);
    sendAll(channel.hub);
    expect(reader.received).toEqual(["1", "2"]);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    expect(delivery?.batch.entries[1]).toEqual({
      type: "publication",
      publication: { data: "2", offset: 2, info },
    });
  });
});

describe("a channel whose sockets have too large a backlog", () => {
  it("[B3] refuses to publish, and carries out everything else", () => {
    const channel = opened();
    const subscriber = new RecordingSubscriber("interested", { hearsJoinLeave: true });
    channel.hub.add(subscriber);
    publishNumbers(channel, 1, 1);
    const requests: RelayRequest[] = [
      { method: "follow" },
      { method: "publish", request: plainPublication(json("2")), info },
      { method: "announce", entries: [{ type: "leave", info }] },
      { method: "publish", request: plainPublication(json("3")), info },
      recover(0),
    ];
    const answers = replyToRequests(channel, "eu/1", requests, 0, true);
    expect(answers).toMatchObject([
      { outcome: "following" },
      error(errorCodes.tooManyRequests),
      { outcome: "announced" },
      error(errorCodes.tooManyRequests),
      { outcome: "recovered", publications: [publication(1)] },
    ]);
    sendAll(channel.hub);
    expect([channel.top, subscriber.received.at(-1)]).toEqual([at(1), "leave 42"]);
  });
});

describe("reading the history", () => {
  const query = { limit: -1, reverse: false };

  it("[B1] stays within the limit of one reply, all reads together", () => {
    const channel = opened();
    publishText(channel, 1_000_000);
    const read: RelayRequest = { method: "history", request: query, bytesMax };
    const newest: RelayRequest = { method: "newest" };
    const answers = answer(channel, [
      ...Array.from({ length: 9 }, (_, index) => (index % 2 === 0 ? read : recover(0))),
      newest,
      recover(1),
      { method: "follow" },
      { method: "history", request: { ...query, limit: 0 }, bytesMax },
    ]);
    const fitting = ["history", "recovered", "history", "recovered"];
    const beyond = ["failed", "unrecoverable"];
    const small = ["recovered", "following", "history"];
    expect(outcomes(answers)).toEqual([...fitting, ...fitting, ...beyond, ...small]);
    expect(answers[8]).toEqual(error(errorCodes.limitExceeded));
  });
});

describe("announcing", () => {
  it("[O5] informs local subscribers and gateways, in order", () => {
    const channel = opened();
    const interested = new RecordingSubscriber("interested", { hearsJoinLeave: true });
    const older = new RecordingSubscriber("42");
    for (const subscriber of [interested, older]) channel.hub.add(subscriber);
    const entries = [
      { type: "join", info },
      { type: "sole", user: "42", client: "c1" },
      { type: "leave", info },
    ] as const;
    const [, announced] = answer(channel, [{ method: "follow" }, { method: "announce", entries }]);
    expect(announced).toEqual({ outcome: "announced" });
    sendAll(channel.hub);
    expect(interested.received).toEqual(["join 42", "leave 42"]);
    expect(older.replacements).toEqual(["c1"]);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    expect(delivery?.batch.entries).toEqual(entries);
  });

  it("[H10] ignores entries of a gateway that only the channel may make", () => {
    const channel = opened();
    publishNumbers(channel, 1, 1);
    const forged = { type: "publication", publication: publication(2) } as const;
    const entries = [forged, { type: "removed" }] as const;
    expect(ask(channel, { method: "announce", entries })).toEqual([{ outcome: "announced" }]);
    expect([channel.relay.sequence, channel.top]).toEqual([1, at(1)]);
  });
});

it("[V1] answers 100 to a request of a newer release, and continues", () => {
  // A request of another release isn't in our types.
  const newer: RelayRequest[] = JSON.parse('[{"method":"newer"},{"method":"follow"}]');
  expect(answer(opened(), newer)).toMatchObject([
    error(errorCodes.internal),
    { outcome: "following" },
  ]);
});

it("[I4] answers 111 when the channel can take no more keys", () => {
  // A client's publication has no key of its own, but takes the place of one that has.
  const channel = opened();
  for (let index = 0; index < 5; index++) {
    channel.publish(publishing(index, { idempotencyKey: `ring ${index}` }), undefined, 0);
  }
  for (let index = 0; index < limits.idempotencyKeysMax; index++) {
    const request = publishing(0, { idempotencyKey: `filler ${index}`, skipHistory: true });
    channel.publish(request, undefined, 0);
  }
  const publish: RelayRequest = { method: "publish", request: plainPublication(json("1")), info };
  expect(ask(channel, publish)).toEqual([error(errorCodes.tooManyRequests)]);
});

function opened(opening: Opening = {}): Channel {
  const usual = { options: withHistory, newEpoch: () => "abcd", instance: 7 };
  return openChannel(new NodeSql(), { ...usual, ...opening });
}

function answer(
  channel: Channel,
  requests: readonly RelayRequest[],
  nowMs = 0,
): readonly RelayReply[] {
  return replyToRequests(channel, "eu/1", requests, nowMs);
}

function ask(channel: Channel, request: RelayRequest, nowMs = 0): readonly RelayReply[] {
  return answer(channel, [request], nowMs);
}

function recover(offset: number): RelayRequest {
  return { method: "recover", since: at(offset) };
}

function whole(offset: number): RelayRequest {
  return { method: "recover", since: at(offset), whole: true };
}

/** The offsets that a gateway gets if it missed everything from there on. */
function page(channel: Channel, offset: number): readonly number[] {
  const [recovered] = ask(channel, whole(offset));
  if (recovered?.outcome !== "recovered") throw new Error("not recovered");
  return recovered.publications.map((each) => each.offset);
}

function outcomes(...answers: readonly (readonly RelayReply[])[]): string[] {
  return answers.flat().map(({ outcome }) => outcome);
}

function publishText(channel: Channel, characters: number): void {
  channel.publish(publishing(JSON.stringify("x".repeat(characters - 2))), undefined, 0);
}

function publication(offset: number) {
  return { data: json(String(offset)), offset };
}

function at(offset: number) {
  return { offset, epoch: "abcd" };
}

function error(code: object) {
  return { outcome: "failed", error: code };
}
