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
  publishing,
  unpositioned,
  withHistory,
} from "../../../contract/open-channel.ts";
import { configured } from "../../../support/configured.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";
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
