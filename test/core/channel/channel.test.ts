import { sendAll } from "../../support/send-all.ts";
import { describe, expect, it } from "vitest";
import type { Channel } from "../../../src/channel/channel.ts";
import type { SubscribeOutcome } from "../../../src/channel/channel-outcomes.ts";
import type { Subscriber } from "../../../src/hub/subscriber.ts";
import type { RelayEntry } from "../../../src/contract/relay-batch.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import {
  openChannel,
  positioned,
  positionOf,
  publishing,
  publishNumbers,
  withHistory,
} from "../../contract/open-channel.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { RecordingSubscriber } from "../hub/recording-subscriber.ts";

describe("subscribing and leaving", () => {
  it("[O3] gives a new subscriber the collected publications by recovery, and not again", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory });
    subscribe(channel, new RecordingSubscriber("early"));
    publishNumbers(channel, 1, 3);
    const late = new RecordingSubscriber("late");
    const outcome = subscribe(channel, late, { ...positionOf(channel), offset: 1 });
    expect(outcome).toMatchObject({
      recovered: true,
      publications: [{ offset: 2 }, { offset: 3 }],
    });
    publishNumbers(channel, 4, 4);
    sendAll(channel.hub);
    expect(late.received).toEqual(["4"]);
  });

  it("[O5] announces a leave to the others after the publications before it", () => {
    const channel = openChannel(new NodeSql());
    const traits = { announced: true, hearsJoinLeave: true };
    const leaving = new RecordingSubscriber("leaving", traits);
    const staying = new RecordingSubscriber("staying", traits);
    const uninterested = new RecordingSubscriber("uninterested", { announced: true });
    for (const subscriber of [leaving, staying, uninterested]) subscribe(channel, subscriber);
    publishNumbers(channel, 1, 1);
    channel.unsubscribe(leaving);
    expect([leaving.received, staying.received]).toEqual([["1"], []]);
    sendAll(channel.hub);
    expect(leaving.received).toEqual(["1"]);
    expect(staying.received).toEqual(["1", "leave leaving"]);
    expect(uninterested.received).toEqual(["1"]);
  });
});

describe("a publication", () => {
  const info = { user: "42", client: "c1", connInfo: publishing('{"name":"Ada"}').data };
  const infoJson = '{"user":"42","client":"c1","conn_info":{"name":"Ada"}}';

  it("[W1] is sent with its publisher, tags and offset, the first one with the epoch", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory, newEpoch: () => "abcd" });
    const reader = new RecordingSubscriber("reader");
    subscribe(channel, reader);
    channel.publish(publishing('{"a": 1}', { tags: { kind: "score" } }), info, 0);
    sendAll(channel.hub);
    channel.publish(publishing(2), undefined, 0);
    sendAll(channel.hub);
    expect(reader.frames).toEqual([
      `{"push":{"channel":"room","pub":{"data":{"a": 1},"info":${infoJson},"offset":1,"tags":{"kind":"score"},"epoch":"abcd"}}}`,
      '{"push":{"channel":"room","pub":{"data":2,"offset":2}}}',
    ]);
  });

  it("[H8] is sent without a position if it isn't kept", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory });
    const reader = new RecordingSubscriber("reader");
    subscribe(channel, reader);
    const skipping = publishing(1, { skipHistory: true, tags: { kind: "score" } });
    expect(channel.publish(skipping, info, 0)).toEqual({ outcome: "published" });
    sendAll(channel.hub);
    expect(reader.frames).toEqual([
      `{"push":{"channel":"room","pub":{"data":1,"info":${infoJson},"tags":{"kind":"score"}}}}`,
    ]);
  });
});

describe("the entries for gateways", () => {
  it("[F1] is the publication that subscribers here get, made once", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory, newEpoch: () => "abcd" });
    channel.relay.follow("eu/1", 0);
    const tags = { kind: "score" };
    const info = { user: "42", client: "c1" };
    channel.publish(publishing(1, { tags, idempotencyKey: "key" }), info, 0);
    channel.publish(publishing(1, { idempotencyKey: "key" }), info, 0);
    channel.publish(publishing(2, { skipHistory: true }), undefined, 0);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    expect(delivery?.batch.top).toEqual({ offset: 1, epoch: "abcd" });
    expect(delivery?.batch.entries).toEqual([
      { type: "publication", publication: { data: "1", offset: 1, epoch: "abcd", info, tags } },
      { type: "publication", publication: { data: "2", offset: 0 } },
    ]);
  });

  it("[O5] include every join and leave, but no leave without a join", () => {
    const channel = openChannel(new NodeSql());
    channel.relay.follow("eu/1", 0);
    const [coming, silent] = [
      new RecordingSubscriber("coming", { announced: true }),
      new RecordingSubscriber("silent"),
    ];
    for (const subscriber of [coming, silent]) subscribe(channel, subscriber);
    channel.announce("join", coming.info);
    for (const subscriber of [coming, silent, coming]) channel.unsubscribe(subscriber);
    expect(gatewayEntries(channel)).toEqual([
      { type: "join", info: coming.info },
      { type: "leave", info: coming.info },
    ]);
  });

  it("[C10] is which connection wants to be a user's only one", () => {
    const channel = openChannel(new NodeSql());
    channel.relay.follow("eu/1", 0);
    const older = new RecordingSubscriber("42");
    subscribe(channel, older);
    channel.makeExclusive("42", "c2");
    expect(older.replacements).toEqual(["c2"]);
    expect(gatewayEntries(channel)).toEqual([{ type: "sole", user: "42", client: "c2" }]);
  });

  it("[H10] is that the history was removed, if there was any", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory });
    channel.relay.follow("eu/1", 0);
    channel.removeHistory(0);
    expect(gatewayEntries(channel)).toEqual([]);
    publishNumbers(channel, 1, 1);
    channel.removeHistory(0);
    expect(gatewayEntries(channel).map(({ type }) => type)).toEqual(["publication", "removed"]);
  });

  it("[L4] has the time of its newest publication", () => {
    const sql = new NodeSql();
    const channel = openChannel(sql, { options: withHistory });
    expect([channel.newestMs, channel.top]).toEqual([undefined, undefined]);
    publishNumbers(channel, 1, 2, 5_000);
    for (const opened of [channel, openChannel(sql, { options: withHistory })]) {
      expect([opened.newestMs, opened.top?.offset]).toEqual([5_000, 2]);
    }
    expect(openChannel(new NodeSql()).position(0)).toBeUndefined();
  });
});

/** The next entries for gateways. */
function gatewayEntries(channel: Channel): readonly RelayEntry[] {
  return channel.relay.deliveries(channel.top, 0).flatMap(({ batch }) => batch.entries);
}

function subscribe(
  channel: Channel,
  subscriber: Subscriber,
  since?: StreamPosition,
): SubscribeOutcome {
  const options = { ...positioned, ...(since === undefined ? {} : { since }) };
  return channel.subscribe(subscriber, options, 0);
}
