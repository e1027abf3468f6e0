import { sendAll } from "../../../support/send-all.ts";
import { describe, expect, it } from "vitest";
import type { Channel } from "../../../../src/channel/channel.ts";
import { shownSubscriptions } from "../../../../src/features/presence/feature.ts";
import { PresenceTeller } from "../../../../src/features/presence/presence-teller.ts";
import { SharedPresence } from "../../../../src/channel/shared-presence.ts";
import { SingleChannel } from "../../../../src/session/single-channel.ts";
import type { ChannelOptions } from "../../../../src/config/config.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import type { Connection } from "../../../../src/session/ports.ts";
import type { SubscriptionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { type SubscriptionSession, Subscription } from "../../../../src/session/subscription.ts";
import {
  openChannel,
  positioned,
  positionOf,
  publishing,
  publishNumbers,
  unpositioned,
  withHistory,
} from "../../../contract/open-channel.ts";
import { configured } from "../../../support/configured.ts";
import { NodeSql } from "../../../support/node-sql.ts";
import { recordingSubscribers, RecordingSubscriber } from "../../hub/recording-subscriber.ts";
import { textOf } from "../../../support/text-of.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { unanswered } from "../test-connection.ts";

describe("finding a channel", () => {
  it("[C6] knows its own name, and why any other isn't known", () => {
    const { own } = opened();
    expect(own.resolve("room")).toMatchObject({ outcome: "resolved", private: false });
    expect(own.resolve("another").outcome).toBe("unknown-namespace");
    expect(own.resolve("nowhere:room").outcome).toBe("unknown-namespace");
    expect(own.resolve("").outcome).toBe("bad-name");
    expect(own.resolve("é").outcome).toBe("bad-name");
  });
});

describe("the presence maps of the channel", () => {
  it("[Z21] [Z35] [Z27] are told of subscriptions that have begun, and that end, unless they are hidden", () => {
    const maps = [{ kind: "clients", channel: "clients:room" }] as const;
    const teller = new PresenceTeller("room", maps);
    const { own } = opened({ teller });
    const told = (): readonly string[] =>
      teller.calls(0).flatMap((call) => {
        teller.answered(call, { outcome: "taken" }, 0);
        return call.told.changes.map(({ type }) => type);
      });
    const { subscription } = newSubscription();
    own.subscribe(subscription, unpositioned, 0, () => undefined);
    expect(told()).toEqual([]);
    subscription.begin();
    own.announce(subscription);
    expect(told()).toEqual(["here"]);
    own.unsubscribe(subscription);
    expect(told()).toEqual(["away"]);
    const { subscription: hidden } = newSubscription({ hidden: true });
    own.subscribe(hidden, unpositioned, 0, () => undefined);
    hidden.begin();
    own.announce(hidden);
    own.unsubscribe(hidden);
    expect(told()).toEqual([]);
  });
});

describe("subscribing", () => {
  it("[O3] is answered at once, and every publication after the reply's position is delivered", () => {
    const { own, channel } = opened();
    publishNumbers(channel, 1, 2);
    const { subscription, frames } = newSubscription();
    const since = { ...positionOf(channel), offset: 1 };
    const answers = answersOf((answer) => {
      own.subscribe(subscription, { ...positioned, since }, 0, answer);
    });
    const position = positionOf(channel);
    const publications = [{ data: "2", offset: 2 }];
    expect(answers).toEqual([{ outcome: "subscribed", position, recovered: true, publications }]);
    publishNumbers(channel, 3, 3);
    sendAll(channel.hub);
    expect(frames).toEqual(['{"push":{"channel":"room","pub":{"data":3,"offset":3}}}']);
  });

  it("[R5] is refused with 112 when that was wished, and there is no subscription", () => {
    const { own, channel } = opened();
    const since = { offset: 9, epoch: "" };
    const options = { ...positioned, since, orFail: true };
    const { subscription } = newSubscription();
    const answers = answersOf((answer) => own.subscribe(subscription, options, 0, answer));
    expect(answers).toEqual([failed(errorCodes.unrecoverablePosition)]);
    expect(channel.hub.size).toBe(0);
  });

  it("[S2] continues after hibernation, and its leave is announced", () => {
    const { own, channel } = opened();
    const { subscription } = newSubscription({ announced: true });
    const observer = recordingSubscription(channel, "observer");
    own.restore(subscription);
    expect(channel.hub.subscribers).toContain(subscription);
    own.unsubscribe(subscription);
    sendAll(channel.hub);
    expect(observer.received).toEqual(["leave 42"]);
  });
});

describe("joins and leaves", () => {
  it("[O5] are announced once each, to local subscribers and gateways", () => {
    const { own, channel } = opened();
    channel.relay.follow("eu/1", 0);
    const observer = recordingSubscription(channel, "observer");
    const { subscription } = newSubscription({ announced: true });
    own.subscribe(subscription, unpositioned, 0, nothing);
    expect(observer.frames).toEqual([]);
    own.announce(subscription);
    own.unsubscribe(subscription);
    own.unsubscribe(subscription);
    sendAll(channel.hub);
    expect(observer.received).toEqual(["join 42", "leave 42"]);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    expect(delivery?.batch.entries.map(({ type }) => type)).toEqual(["join", "leave"]);
  });

  it("[O5] include no leave without an announced join", () => {
    const { own, channel } = opened();
    const observer = recordingSubscription(channel, "observer");
    const { subscription } = newSubscription({ announced: true, sole: true });
    own.subscribe(subscription, unpositioned, 0, nothing);
    own.unsubscribe(subscription);
    own.announce(subscription);
    expect([observer.frames, channel.hub.size]).toEqual([[], 1]);
  });

  it("[P2] aren't announced where that is off", () => {
    const { own, channel } = opened();
    const observer = recordingSubscription(channel, "observer");
    const { subscription } = newSubscription();
    own.subscribe(subscription, unpositioned, 0, nothing);
    own.announce(subscription);
    own.unsubscribe(subscription);
    expect(observer.frames).toEqual([]);
  });

  it("[C10] makes the user's other connections give way, wherever they are", () => {
    const { own, channel } = opened();
    channel.relay.follow("eu/1", 0);
    const older = recordingSubscription(channel, "42");
    const { subscription } = newSubscription({ sole: true });
    own.subscribe(subscription, unpositioned, 0, nothing);
    expect(older.replacements).toEqual([]);
    own.announce(subscription);
    expect(older.replacements).toEqual(["c1"]);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    expect(delivery?.batch.entries).toEqual([{ type: "sole", user: "42", client: "c1" }]);
  });
});

describe("publishing", () => {
  const info = { user: "42", client: "c1" };
  const publish = (data: number) =>
    ({ method: "publish", request: publishing(data), info }) as const;

  it("[O4] has reached the hub before it is answered", () => {
    const { own, channel } = opened();
    const { subscription, frames } = newSubscription();
    own.subscribe(subscription, unpositioned, 0, nothing);
    const answers = answersOf((answer) => {
      own.request("room", publish(1), subscription, 0, answer);
    });
    expect(answers).toMatchObject([{ outcome: "published" }]);
    expect(frames).toEqual([]);
    own.catchUp(subscription);
    sendAll(channel.hub);
    expect(frames).toHaveLength(1);
    expect(frames[0]).toContain('"info":{"user":"42","client":"c1"}');
  });

  it("[B3] is refused with 111 while the sockets are too far behind", () => {
    const { own, channel } = opened();
    for (const subscriber of recordingSubscribers(100)) {
      channel.hub.add(subscriber);
      subscriber.behindBytes = 1_048_576;
    }
    publishNumbers(channel, 1, 1);
    sendAll(channel.hub);
    const answers = answersOf((answer) => {
      own.request("room", publish(2), undefined, 0, answer);
    });
    expect(answers).toEqual([failed(errorCodes.tooManyRequests)]);
    expect(channel.top?.offset).toBe(1);
  });

  it("[I4] is refused with 111 if a key would have to be retained beyond the limit", () => {
    const { own, channel } = opened();
    for (let index = 0; index < limits.idempotencyKeysMax + 5; index++) {
      const skipHistory = index >= 5;
      const request = publishing(0, { idempotencyKey: `key ${index}`, skipHistory });
      channel.publish(request, undefined, 0);
    }
    const answers = answersOf((answer) => {
      own.request("room", publish(1), undefined, 0, answer);
    });
    expect(answers).toEqual([failed(errorCodes.tooManyRequests)]);
  });
});

const history = (bytesMax: number, more = {}) =>
  ({ method: "history", request: { limit: -1, reverse: false, ...more }, bytesMax }) as const;

describe("reading the history", () => {
  it("[H2] is answered as the channel does, or with 106, 108 or 112", () => {
    const { own, channel } = opened();
    publishNumbers(channel, 1, 1);
    const asked = (bytesMax: number, more = {}) =>
      answersOf((answer) => own.request("room", history(bytesMax, more), undefined, 0, answer));
    const position = positionOf(channel);
    expect(asked(1_000)).toEqual([
      { outcome: "history", publications: [{ data: "1", offset: 1 }], position },
    ]);
    expect(asked(10)).toEqual([failed(errorCodes.limitExceeded)]);
    const since = { offset: 0, epoch: "other" };
    expect(asked(1_000, { since })).toEqual([failed(errorCodes.unrecoverablePosition)]);
    const without = opened({ options: {} }).own;
    expect(
      answersOf((answer) => without.request("room", history(1_000), undefined, 0, answer)),
    ).toEqual([failed(errorCodes.notAvailable)]);
  });
});

describe("presence", () => {
  it("[P3] is asked together with all who ask at the same time", () => {
    const turns: (() => void)[] = [];
    const { own, channel } = opened({ turns });
    const answers = answersOf((done) => {
      own.presence("room", { client: {}, codec: jsonCodec, done });
      own.presence("room", { client: {}, codec: undefined, done });
    });
    const alice = recordingSubscription(channel, "alice");
    expect([answers, turns.length]).toEqual([[], 1]);
    turns[0]?.();
    const result = { parts: [[alice.info]] };
    const present = { outcome: "present", result, stats: { clientCount: 1, userCount: 1 } };
    expect(answers).toEqual([present, present]);
  });
});

function opened({ options = withHistory, turns = [], teller }: Setup = {}) {
  const shown = teller && { presenceMaps: { clients: "clients:" } };
  const channel = openChannel(new NodeSql(), {
    options: { ...options, ...shown },
    ...(teller && { parts: [teller] }),
  });
  const presence = new SharedPresence({
    later: (_, work) => turns.push(work),
    gather: (done) => done({ clients: [], complete: true }),
    subscribers: () => channel.hub.subscribers,
  });
  const config = configured().channel;
  const parts = [shownSubscriptions];
  const own = new SingleChannel(channel, config, presence, () => 0, undefined, parts);
  return { channel, own };
}

interface Setup {
  readonly options?: Partial<ChannelOptions>;
  readonly turns?: (() => void)[];
  readonly teller?: PresenceTeller;
}

/** A session's subscription, and the frames of its socket. */
function newSubscription(more: Partial<SubscriptionSnapshot> = {}) {
  const frames: string[] = [];
  const connection: Connection = {
    send: (frame) => frames.push(textOf(frame)),
    close: nothing,
    hold: nothing,
    release: nothing,
    save: nothing,
    backlogBytes: () => 0,
    answeredAtMs: () => undefined,
    lastHeardMs: () => undefined,
  };
  const session: SubscriptionSession = {
    disconnect: nothing,
    insufficientState: nothing,
    ...unanswered,
    hasRoomForCursor: () => true,
    save: nothing,
    subscriptionChanged: nothing,
  };
  const granted: SubscriptionSnapshot = {
    channel: "room",
    expireAtSeconds: 0,
    present: true,
    announced: false,
    hearsJoinLeave: false,
    ...more,
  };
  const info = { user: "42", client: "c1" };
  const subscription = new Subscription(info, granted, jsonCodec, connection, session);
  return { subscription, frames };
}

function recordingSubscription(channel: Channel, user: string): RecordingSubscriber {
  const subscriber = new RecordingSubscriber(user, { hearsJoinLeave: true });
  channel.subscribe(subscriber, unpositioned, 0);
  return subscriber;
}

/** Every answer that comes, now or later. */
function answersOf<Answer>(asks: (answer: (given: Answer) => void) => void): readonly Answer[] {
  const answers: Answer[] = [];
  asks((answer) => answers.push(answer));
  return answers;
}

function failed(error: object) {
  return { outcome: "failed", error };
}

function nothing(): void {
  // This test asks nothing else of it.
}
