import { describe, expect, it } from "vitest";
import type { TrackVerdict } from "../../../../src/access/key-signature.ts";
import { limits } from "../../../../src/limits.ts";
import { SdkDecoder } from "../../delta/sdk-decoder.ts";
import type { TestConnection } from "../../session/test-connection.ts";
import { longValue } from "../../../support/long-value.ts";
import { startMs } from "../../session/channel-fixture.ts";
import { PolledChannelFixture } from "./polled-channel-fixture.ts";

const channel = {
  proxy: { shared_poll_refresh: { endpoint: "https://backend.example.com/poll" } },
};
const options = {
  subscription_type: "shared_poll",
  allow_subscribe_for_client: true,
  shared_poll: { max_keys_per_connection: 3 },
};
const subscribe = `{"channel":"room","type":4}`;
const endless: TrackVerdict = { outcome: "verified", expireAtSeconds: 0 };
const startSeconds = startMs / 1_000;
const until = (seconds: number): TrackVerdict => ({
  outcome: "verified",
  expireAtSeconds: startSeconds + seconds,
});

/** A command that tracks these batches of keys, each key with its version if there is one. */
function track(batches: readonly (readonly string[])[], more: object = {}): string {
  const request = batches.map((keys) => ({
    signature: "s",
    items: keys.map((each) => {
      const [key = "", version] = each.split("@");
      return version === undefined ? { key } : { key, version: Number(version) };
    }),
  }));
  return JSON.stringify({
    id: 3,
    sub_refresh: { channel: "room", type: 1, track: request, ...more },
  });
}

/** A fixture with a subscriber. */
function opened(sharedPoll: object = {}) {
  const fixture = new PolledChannelFixture({
    channel,
    options: { ...options, shared_poll: { ...options.shared_poll, ...sharedPoll } },
  });
  const connection = fixture.subscribed("42", subscribe);
  const ask = (frame: string, ...tracks: readonly TrackVerdict[]) =>
    fixture.ask(connection, frame, { tracks });
  return { fixture, connection, ask };
}

const push = (pub: string) => `{"push":{"channel":"room","pub":${pub}}}`;
const error = (code: number) => [expect.stringContaining(`{"id":3,"error":{"code":${code},`)];

function connected(fixture: PolledChannelFixture): TestConnection {
  return fixture.connected("42");
}

describe("a subscribe", () => {
  it("[SP8] to a shared poll is answered with the type and the epoch", () => {
    const fixture = new PolledChannelFixture({ channel, options });
    const connection = connected(fixture);
    expect(fixture.ask(connection, `{"id":2,"subscribe":${subscribe}}`)).toEqual([
      `{"id":2,"subscribe":{"epoch":"epoch1","type":4}}`,
    ]);
    expect(connection.saved.subscriptions).toMatchObject([{ pollEpoch: "epoch1" }]);
  });

  it.each([
    ["a stream", options, ""],
    ["a map", options, ',"type":1'],
    ["a shared poll", { allow_subscribe_for_client: true }, ',"type":4'],
  ])("[SP15] as if the channel were %s is refused with 103", (_, namespace, type) => {
    const fixture = new PolledChannelFixture({ channel, options: namespace });
    const connection = connected(fixture);
    const frame = `{"id":3,"subscribe":{"channel":"room"${type}}}`;
    expect(fixture.ask(connection, frame)).toEqual(error(103));
  });
});

describe("a client that tracks keys", () => {
  it("[SP2][SP6] gets what is known in the reply, and what the backend says as pushes", () => {
    const { fixture, connection, ask } = opened();
    expect(ask(track([["a", "b"]]), endless)).toEqual([`{"id":3,"sub_refresh":{}}`]);
    fixture.answerPolls({ a: "1", b: "1" });
    // Both share a frame.
    expect(connection.takeSent()).toEqual([
      `${push('{"data":1,"key":"a","version":1}')}\n${push('{"data":1,"key":"b","version":2}')}`,
    ]);
    const other = fixture.subscribed("43", subscribe);
    expect(fixture.ask(other, track([["b", "a@1"]]), { tracks: [endless] })).toEqual([
      `{"id":3,"sub_refresh":{"items":[{"data":1,"key":"b","version":2}]}}`,
    ]);
    fixture.pass(10_000);
    fixture.answerPolls({ a: "2", b: "1" });
    expect(connection.takeSent()).toEqual([push('{"data":2,"key":"a","version":3}')]);
    expect(other.takeSent()).toEqual([push('{"data":2,"key":"a","version":3}')]);
  });

  it("[SP17] gets what doesn't fit into the reply as pushes after it", () => {
    const { fixture, ask } = opened();
    ask(track([["a", "b"]]), endless);
    const large = `"${"x".repeat(limits.batchBytesMax / 2)}"`;
    fixture.answerPolls({ a: large, b: large });
    const other = fixture.subscribed("43", subscribe);
    const [reply = ""] = fixture.ask(other, track([["a", "b"]]), { tracks: [endless] });
    expect([reply.includes('"key":"a"'), reply.includes('"key":"b"')]).toEqual([true, false]);
    fixture.answerPolls({});
    expect(other.takeSent()).toEqual([push(`{"data":${large},"key":"b","version":2}`)]);
  });

  it("[SP2] gets nothing more of keys that it untracks, in the same request or in another", () => {
    const { fixture, connection, ask } = opened();
    ask(track([["a", "b", "c"]], { untrack: ["c"] }), endless);
    expect(ask(`{"id":4,"sub_refresh":{"channel":"room","type":2,"untrack":["b","x"]}}`)).toEqual([
      `{"id":4,"sub_refresh":{}}`,
    ]);
    fixture.answerPolls({ a: "1", b: "1", c: "1" });
    expect(connection.takeSent()).toEqual([push('{"data":1,"key":"a","version":1}')]);
    expect(ask(track([["a"]], { untrack: ["a"] }), endless)).toEqual([`{"id":3,"sub_refresh":{}}`]);
    fixture.end(connection);
    fixture.pass(1_000);
    fixture.answerPolls({});
    fixture.pass(1_000);
    fixture.answerPolls({});
    expect(fixture.poll?.active).toBe(false);
  });

  it("[SP1] is told the least time until one of the signatures expires", () => {
    const { ask } = opened();
    expect(ask(track([["a"], ["b"], ["c"]]), until(90), until(60), endless)).toEqual([
      `{"id":3,"sub_refresh":{"expires":true,"ttl":60}}`,
    ]);
    // One that has just expired is still taken, and to be renewed at once.
    expect(ask(track([["a"]]), until(-5))).toEqual([
      `{"id":3,"sub_refresh":{"expires":true,"ttl":1}}`,
    ]);
  });

  it("[SP2] gets nothing after its signature has expired for longer than the delay", () => {
    const { fixture, connection, ask } = opened({
      refresh_interval: "1s",
      track_expired_extra_delay: "5s",
    });
    ask(track([["a"]]), { outcome: "verified", expireAtSeconds: startSeconds + 10 });
    ask(track([["b"]]), endless);
    fixture.answerPolls({ a: "1", b: "1" });
    connection.takeSent();
    fixture.pass(14_999);
    fixture.answerPolls({ a: "2", b: "1" });
    expect(connection.takeSent()).toEqual([push('{"data":2,"key":"a","version":3}')]);
    fixture.pass(1_000);
    fixture.answerPolls({ a: "3", b: "2" });
    expect(connection.takeSent()).toEqual([push('{"data":2,"key":"b","version":5}')]);
    fixture.pass(1_000);
    fixture.answerPolls({});
    fixture.pass(1_000);
    fixture.answerPolls({});
    expect(fixture.poll?.size).toBe(1);
  });

  it("[SP17][F4] gets the values when it asks again after they were too large for the reply", () => {
    const { fixture, connection, ask } = opened();
    ask(track([["a"]]), endless);
    const large = `"${"x".repeat(limits.smallReplyBytes)}"`;
    fixture.answerPolls({ a: large });
    connection.takeSent();
    const other = fixture.subscribed("43", subscribe);
    const slow = fixture.subscribed("44", subscribe);
    slow.backlog = limits.backlogBytesMax;
    fixture.pass(1_000);
    const asked = () => fixture.ask(other, track([["a", "b"]]), { tracks: [endless] });
    expect(asked()).toEqual(error(111));
    slow.backlog = 0;
    fixture.pass(1_000);
    fixture.answerPolls({});
    expect(other.takeSent()).toEqual([]);
    fixture.pass(10_000);
    fixture.answerPolls({ a: "2", b: "1" });
    // Nothing of the request is tracked.
    expect(other.takeSent()).toEqual([]);
    expect(asked()).toEqual([
      expect.stringContaining(`{"id":3,"sub_refresh":{"items":[{"data":2,"key":"a"`),
    ]);
  });

  it.each<[string, string, readonly TrackVerdict[], number]>([
    ["no signature that is valid", track([["a"]]), [{ outcome: "invalid" }], 103],
    ["one that isn't among others", track([["a"], ["b"]]), [endless, { outcome: "invalid" }], 103],
    ["no verdict", track([["a"], ["b"]]), [endless], 103],
    ["an expired one", track([["a"], ["b"]]), [endless, { outcome: "expired" }], 109],
    ["a user who isn't known yet", track([["a"]]), [{ outcome: "unavailable" }], 100],
    ["no keys", track([]), [], 107],
    ["an empty key", track([["a", ""]]), [endless], 107],
    ["a key with a lone surrogate", track([["\ud800"]]), [endless], 107],
    ["a key that is too long", track([["x".repeat(limits.mapKeyBytesMax + 1)]]), [endless], 107],
    ["more keys than a connection may track", track([["a", "b", "c", "d"]]), [endless], 106],
  ])("[SP1][SP9] with %s is refused, with all its keys", (_, frame, tracks, code) => {
    const { fixture, ask } = opened();
    expect(ask(frame, ...tracks)).toEqual(error(code));
    expect(fixture.poll?.active).toBe(false);
  });

  it("[SP9] may track as many keys as the configuration says, the longest there are, in all requests together", () => {
    const { ask } = opened();
    const longest = "x".repeat(limits.mapKeyBytesMax);
    expect(ask(track([["a", longest]]), endless)).toEqual([`{"id":3,"sub_refresh":{}}`]);
    expect(ask(track([["a", "b"]]), endless)).toEqual([`{"id":3,"sub_refresh":{}}`]);
    expect(ask(track([["a", "c"]]), endless)).toEqual(error(106));
  });

  it("[SP1] without a subscription, or on a channel that is no shared poll, is refused", () => {
    const fixture = new PolledChannelFixture({ channel, options });
    const none = connected(fixture);
    expect(fixture.ask(none, track([["a"]]), { tracks: [endless] })).toEqual(error(103));
    const stream = new PolledChannelFixture({ options: { allow_subscribe_for_client: true } });
    const subscriber = stream.subscribed();
    expect(stream.ask(subscriber, track([["a"]]), { tracks: [endless] })).toEqual(error(107));
    const { ask } = opened();
    expect(ask(`{"id":3,"sub_refresh":{"channel":"room","type":3}}`)).toEqual(error(107));
  });
});

describe("what was tracked", () => {
  it("[SP8] with an object that is gone is lost, and the client is told", () => {
    const { fixture, connection, ask } = opened();
    const other = fixture.subscribed("43", subscribe);
    ask(track([["a"]]), endless);
    fixture.hibernate();
    const lost = `{"push":{"channel":"room","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`;
    expect(connection.takeSent()).toEqual([lost]);
    expect(connection.saved.subscriptions).toEqual([]);
    // A client that tracked nothing learns it once it does, because the versions are others now.
    expect(other.takeSent()).toEqual([]);
    expect(fixture.ask(other, track([["a"]]), { tracks: [endless] })).toEqual([
      lost,
      ...error(112),
    ]);
    fixture.answerPolls({ a: "1" });
    expect(other.takeSent()).toEqual([]);
  });

  it("[SP8] in an epoch that the backend ends is lost, and the clients are told before anything else", () => {
    const { fixture, connection, ask } = opened({ mode: "versioned" });
    ask(track([["a"]]), endless);
    fixture.answerPolls({}, "one");
    expect(connection.takeSent()).toEqual([
      `{"push":{"channel":"room","unsubscribe":{"code":2500,"reason":"insufficient state"}}}`,
    ]);
    expect(fixture.ask(connection, `{"id":4,"subscribe":${subscribe}}`)).toEqual([
      `{"id":4,"subscribe":{"epoch":"one","type":4}}`,
    ]);
  });
});

it("[SP11] a client can't publish to a shared poll, whatever the namespace allows", () => {
  const fixture = new PolledChannelFixture({
    channel,
    options: { ...options, allow_publish_for_subscriber: true },
  });
  const connection = fixture.subscribed("42", subscribe);
  const frame = `{"id":3,"publish":{"channel":"room","data":1}}`;
  expect(fixture.ask(connection, frame)).toEqual(error(107));
});

it("[F4] a client that doesn't take its values is disconnected as slow", () => {
  const { fixture, connection, ask } = opened();
  ask(track([["a"]]), endless);
  connection.backlog = fixture.config.client.queueMaxSizeBytes + 1;
  fixture.answerPolls({ a: "1" });
  expect(connection.takeSent()).toEqual(["close 3008 slow"]);
  fixture.answerPolls({});
  fixture.pass(1_000);
  fixture.answerPolls({});
  expect(fixture.poll?.active).toBe(false);
});

describe("[SP13] a client that asks for deltas", () => {
  const withDeltas = {
    ...options,
    allowed_delta_types: ["fossil"],
    shared_poll: { refresh_interval: "200ms" },
  };
  const asking = `{"channel":"room","type":4,"delta":"fossil"}`;

  function openedWithDeltas() {
    const fixture = new PolledChannelFixture({ channel, options: withDeltas });
    const connection = fixture.subscribed("42", asking);
    return { fixture, connection };
  }

  it("is told in the reply whether it gets them", () => {
    const fixture = new PolledChannelFixture({ channel, options: withDeltas });
    const connection = fixture.connected("42");
    expect(fixture.ask(connection, `{"id":2,"subscribe":${asking}}`)).toEqual([
      `{"id":2,"subscribe":{"epoch":"epoch1","delta":true,"type":4}}`,
    ]);
    const without = new PolledChannelFixture({ channel, options });
    expect(without.ask(without.connected("42"), `{"id":2,"subscribe":${asking}}`)).toEqual([
      `{"id":2,"subscribe":{"epoch":"epoch1","type":4}}`,
    ]);
  });

  it("gets the difference from what it was sent last of the key, and others the value", () => {
    const { fixture, connection } = openedWithDeltas();
    const plain = fixture.subscribed("43", subscribe);
    for (const each of [connection, plain])
      fixture.ask(each, track([["a", "b"]]), { tracks: [endless] });
    const decoders = new Map(["a", "b"].map((key) => [key, new SdkDecoder("text")]));
    const values = [
      { a: longValue(1), b: longValue(11) },
      { a: longValue(2), b: longValue(11) },
      { a: longValue(3), b: longValue(12) },
    ];
    const received: string[] = [];
    for (const each of values) {
      fixture.answerPolls(each);
      for (const { key, data, delta = false } of pubsOf(connection.takeSent()))
        received.push(
          `${key} ${delta} ${JSON.stringify(decoders.get(key)?.receive({ data: String(data), delta }))}`,
        );
      fixture.pass(200);
    }
    expect(received).toEqual([
      `a false ${longValue(1)}`,
      `b false ${longValue(11)}`,
      `a true ${longValue(2)}`,
      `a true ${longValue(3)}`,
      `b true ${longValue(12)}`,
    ]);
    expect(
      pubsOf(plain.takeSent()).map(({ delta, data }) => [delta, JSON.stringify(data)]),
    ).toEqual(
      [values[0]?.a, values[0]?.b, values[1]?.a, values[2]?.a, values[2]?.b].map((data) => [
        undefined,
        data,
      ]),
    );
  });

  it("gets what is known in full, in the form of deltas, and the next value as a delta of it", () => {
    const { fixture, connection } = openedWithDeltas();
    fixture.ask(connection, track([["a"]]), { tracks: [endless] });
    fixture.answerPolls({ a: longValue(1) });
    const late = fixture.subscribed("43", asking);
    expect(fixture.ask(late, track([["a"]]), { tracks: [endless] })).toEqual([
      `{"id":3,"sub_refresh":{"items":[{"data":${JSON.stringify(longValue(1))},"key":"a","version":1}]}}`,
    ]);
    fixture.pass(200);
    fixture.answerPolls({ a: longValue(2) });
    expect(pubsOf(late.takeSent())).toMatchObject([{ delta: true }]);
    // What the client has from elsewhere, it wasn't sent.
    const other = fixture.subscribed("44", asking);
    fixture.ask(other, track([["a@2"]]), { tracks: [endless] });
    fixture.pass(200);
    fixture.answerPolls({ a: longValue(3) });
    expect(pubsOf(other.takeSent())).toMatchObject([{ data: longValue(3) }]);
  });

  it.each([
    ["untracks the key and tracks it again", [untrackA, track([["a@2"]])]],
    ["says that it has a later version from elsewhere", [track([["a@4"]])]],
  ])("and then %s gets the next value in full", (_, frames) => {
    const { fixture, connection } = openedWithDeltas();
    const other = fixture.subscribed("43", asking);
    for (const each of [connection, other])
      fixture.ask(each, track([["a"]]), { tracks: [endless] });
    const answer = (value: number): void => {
      fixture.answerPolls({ a: longValue(value) });
      fixture.pass(200);
    };
    for (const value of [1, 2]) answer(value);
    for (const each of [connection, other]) each.takeSent();
    for (const frame of frames) fixture.ask(connection, frame, { tracks: [endless] });
    fixture.end(other);
    for (const value of [3, 4, 5]) answer(value);
    const [first, ...rest] = pubsOf(connection.takeSent());
    expect(first?.delta).toBeUndefined();
    expect(rest.every(({ delta }) => delta === true)).toBe(true);
  });
});

interface Pub {
  readonly key: string;
  readonly data: unknown;
  readonly delta?: boolean;
  readonly version?: number;
}

/** The publications of all frames. */
function pubsOf(frames: readonly string[]): readonly Pub[] {
  return frames.flatMap((frame) =>
    frame.split("\n").map((line) => {
      const pushed: { push: { pub: Pub } } = JSON.parse(line);
      return pushed.push.pub;
    }),
  );
}

const untrackA = `{"id":4,"sub_refresh":{"channel":"room","type":2,"untrack":["a"]}}`;
