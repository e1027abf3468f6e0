import { describe, expect, it } from "vitest";
import type { PresenceQuestion } from "../../../src/channel/shared-presence.ts";
import type { GatheredPresence } from "../../../src/channel/presence.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { RelayReply } from "../../../src/contract/relay-request.ts";
import { json } from "../api/channel-config.ts";
import { at, entry, following, publication, said } from "./support/followed-channel.ts";
import { batch, GatewayFixture } from "./support/gateway-fixture.ts";
import type { RecordingSubscription } from "./support/recording-subscription.ts";

describe("frames to many", () => {
  it("[F6] of several channels take turns, slice by slice", () => {
    const fixture = new GatewayFixture();
    const [news, sport] = [crowd(fixture, "news"), crowd(fixture, "sport")];
    const counts = () =>
      [news, sport].map((all) => all.filter(({ received }) => received.length > 0).length);
    fixture.take("news", [said("1")]);
    fixture.take("sport", [said("1")]);
    const slice = limits.sliceSubscribersMax;
    expect([counts(), fixture.gateway.sending?.collecting]).toEqual([[slice, slice], false]);
    for (let sent = 2 * slice; sent <= 100; sent += slice) {
      fixture.gateway.sendSlice();
      expect(counts()).toEqual([sent, sent - slice]);
      fixture.gateway.sendSlice();
      expect(counts()).toEqual([sent, sent]);
    }
    expect(fixture.gateway.sending).toBeUndefined();
  });

  it("[F6] don't delay the channel of a few", () => {
    const fixture = new GatewayFixture();
    crowd(fixture, "news");
    const quiet = fixture.subscribed("quiet");
    fixture.take("news", [said("1")]);
    fixture.take("quiet", [said("2")]);
    expect([quiet.received, fixture.gateway.sending?.collecting]).toEqual([["2"], false]);
  });

  it("[F6] make the channel's object wait when too much is collected behind them", () => {
    const fixture = new GatewayFixture();
    const subscribers = crowd(fixture, "news");
    fixture.take("news", [said("0")]);
    // The frame is nearly sent.
    for (let slice = 2; slice <= 3; slice++) fixture.gateway.sendSlice();
    const half = said(JSON.stringify("x".repeat(limits.batchesWaitingBytesMax / 2)));
    fixture.gateway.receive(batch("news", [half], 2), fixture.nowMs);
    expect(fixture.gateway.full("news")).toBe(false);
    fixture.gateway.receive(batch("news", [half], 3), fixture.nowMs);
    expect([fixture.gateway.full("news"), fixture.gateway.full("other")]).toEqual([true, false]);
    sendAll(fixture);
    expect(fixture.gateway.full("news")).toBe(false);
    for (const { received } of subscribers) expect(received).toHaveLength(3);
  });

  it("[F8] make the channel's object wait until they are nearly sent when something waits behind them", () => {
    const fixture = new GatewayFixture();
    crowd(fixture, "news");
    fixture.take("news", [said("1")]);
    expect(fixture.gateway.full("news")).toBe(false);
    fixture.gateway.receive(batch("news", [said("2")], 2), fixture.nowMs);
    expect(fixture.gateway.full("news")).toBe(true);
    while (fixture.gateway.full("news")) fixture.gateway.sendSlice();
    expect(fixture.gateway.sending?.collecting).toBe(true);
  });

  it("[F6] let nothing be collected behind them when too many channels are busy", () => {
    const fixture = new GatewayFixture();
    for (let channel = 0; channel <= limits.busyChannelsMax; channel++) {
      crowd(fixture, `busy${channel}`);
      fixture.take(`busy${channel}`, [said("1")]);
      expect(fixture.gateway.full(`busy${channel}`)).toBe(false);
    }
    fixture.gateway.receive(batch("busy0", [said("2")], 2), fixture.nowMs);
    expect(fixture.gateway.full("busy0")).toBe(true);
    sendAll(fixture);
    expect(fixture.gateway.full("busy0")).toBe(false);
  });

  it("[S3] are forgotten when the last subscriber has gone", () => {
    const fixture = new GatewayFixture();
    const subscribers = crowd(fixture, "news");
    fixture.take("news", [said("1")]);
    for (const { subscription } of subscribers) fixture.gateway.unsubscribe(subscription);
    expect(fixture.gateway.sending).toBeUndefined();
    for (const { received } of subscribers) expect(received).toEqual(["1"]);
  });
});

describe("a gateway", () => {
  it("[L6] follows each channel once, and passes on to its own subscribers only", () => {
    const fixture = new GatewayFixture();
    const [news, more, sport] = [
      fixture.subscribed("news"),
      fixture.subscribed("news"),
      fixture.subscribed("sport"),
    ];
    expect(fixture.port.calls).toEqual(["follow", "follow"]);
    expect(fixture.gateway.channelCount).toBe(2);
    fixture.take("news", [said("1")]);
    fixture.take("sport", [said("2")]);
    expect([news.received, more.received, sport.received]).toEqual([["1"], ["1"], ["2"]]);
  });

  it("[L5] answers that it has no subscribers, and holds nothing of the channel", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news");
    fixture.gateway.unsubscribe(subscriber.subscription);
    expect(fixture.gateway.channelCount).toBe(0);
    expect(fixture.port.calls).toEqual(["follow"]);
    expect(fixture.take("news", [said("1")])).toEqual({ outcome: "left" });
    expect(subscriber.received).toEqual([]);
  });

  it("[L5] follows anew whom it has told that nobody is left", () => {
    const fixture = new GatewayFixture();
    fixture.gateway.unsubscribe(fixture.subscribed("news").subscription);
    expect(fixture.take("news", [said("1")])).toEqual({ outcome: "left" });
    const subscriber = fixture.subscribed("news");
    expect(fixture.port.calls).toEqual(["follow", "follow"]);
    fixture.take("news", [said("2")]);
    expect(subscriber.received).toEqual(["2"]);
  });

  it("[L9] goes on without a call where the channel's object still counts on it", () => {
    const fixture = new GatewayFixture();
    fixture.gateway.unsubscribe(fixture.subscribed("news").subscription);
    expect(fixture.gateway.channelCount).toBe(0);
    const subscriber = fixture.subscribe("news");
    expect(subscriber.answers).toHaveLength(1);
    expect(fixture.port.calls).toEqual(["follow"]);
    fixture.take("news", [said("1")]);
    expect(subscriber.received).toEqual(["1"]);
  });

  it("[L9][N26] follows anew for an onlooker and after one, because the channel's object has to know", () => {
    const fixture = new GatewayFixture();
    fixture.gateway.unsubscribe(fixture.subscribed("news").subscription);
    const looking = fixture.subscribe("news", { onlooker: true });
    expect(fixture.port.requests).toEqual([{ method: "follow", onlooks: true }]);
    fixture.port.answer(following());
    expect(looking.answers).toHaveLength(1);
    fixture.gateway.unsubscribe(looking.subscription);
    fixture.subscribe("news");
    expect(fixture.port.requests).toEqual([{ method: "follow" }]);
  });

  it("[L9] keeps a bounded number of channels that nobody is subscribed to", () => {
    const fixture = new GatewayFixture();
    for (let channel = 0; channel <= limits.restingChannelsMax; channel++)
      fixture.gateway.unsubscribe(fixture.subscribed(`news${channel}`).subscription);
    const before = fixture.port.calls.length;
    fixture.subscribe("news1");
    expect(fixture.port.calls).toHaveLength(before);
    fixture.subscribe("news0");
    expect(fixture.port.calls).toHaveLength(before + 1);
  });

  it("[O6] asks one channel one thing after the other, and doesn't let channels wait for each other", () => {
    const fixture = new GatewayFixture();
    const outcomes: string[] = [];
    fixture.publish("news", undefined, (outcome) => outcomes.push(`news ${outcome}`));
    fixture.publish("sport", undefined, (outcome) => outcomes.push(`sport ${outcome}`));
    fixture.publish("news", undefined, (outcome) => outcomes.push(`news again ${outcome}`));
    expect(fixture.port.calls).toEqual(["publish", "publish"]);
    fixture.port.fail();
    fixture.port.answer(published(1));
    fixture.port.answer(published(1));
    expect(outcomes).toEqual(["news failed", "sport published", "news again published"]);
  });

  it("[O4] answers a subscribed publisher once it can be sent its publication, and another one at once", () => {
    const fixture = new GatewayFixture();
    const [subscriber, another] = [fixture.subscribed("news"), fixture.subscribed("sport")];
    const outcomes: string[] = [];
    fixture.publish("news", subscriber, (outcome) => {
      fixture.gateway.catchUp(subscriber.subscription);
      outcomes.push(`${outcome}, ${subscriber.received.join()}`);
    });
    fixture.publish("news", another, (outcome) => outcomes.push(`${outcome} by another`));
    fixture.publish("news", undefined, (outcome) => outcomes.push(`${outcome} by nobody`));
    fixture.port.answer(published(1));
    fixture.port.answer(published(2), published(3));
    expect(outcomes).toEqual(["published by another", "published by nobody"]);
    fixture.take("news", [said("1")]);
    expect(outcomes.slice(2)).toEqual(["published, 1"]);
    expect(subscriber.received).toEqual(["1"]);
  });

  it("[PC6] answers a subscribed caller of a procedure once it can be sent what the call has published", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news");
    const outcomes: string[] = [];
    const request = { procedure: "bid", idempotencyKey: "" };
    const operation = { method: "call", request, info: { user: "42", client: "c1" } } as const;
    for (const by of [subscriber.subscription, undefined])
      fixture.gateway.request("news", operation, by, fixture.nowMs, ({ outcome }) => {
        fixture.gateway.catchUp(subscriber.subscription);
        outcomes.push(`${outcome} ${by === undefined ? "at once" : subscriber.received.join()}`);
      });
    const data = json("1");
    fixture.port.answer({ outcome: "answered", data, after: { instance: 1, sequence: 1 } });
    fixture.port.answer({ outcome: "answered", data, after: { instance: 1, sequence: 1 } });
    expect(outcomes).toEqual(["answered at once"]);
    fixture.take("news", [said("1")]);
    expect(outcomes).toEqual(["answered at once", "answered 1"]);
  });

  it("[O4] sends a publisher its own publication alone, while a frame is on its way to others", () => {
    const fixture = new GatewayFixture();
    const subscribers = crowd(fixture, "news");
    const [first, last] = [subscribers.at(0), subscribers.at(-1)];
    if (first === undefined || last === undefined) throw new Error("no crowd");
    fixture.gateway.receive(batch("news", [said("1")], 1), fixture.nowMs);
    fixture.settle();
    expect([first.received, last.received]).toEqual([["1"], []]);
    fixture.gateway.receive(batch("news", [said("2")], 2), fixture.nowMs);
    fixture.gateway.catchUp(last.subscription);
    expect([first.received, last.received]).toEqual([["1"], ["1", "2"]]);
    sendAll(fixture);
    for (const { received } of subscribers) expect(received).toEqual(["1", "2"]);
  });

  it("[B4] answers a publisher that waits too long, and gives the time", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news");
    let outcome = "none";
    fixture.publish("news", subscriber, (answered) => (outcome = answered));
    fixture.port.answer(published(1));
    expect([outcome, fixture.settle()]).toEqual(["none", limits.objectAnswerMs]);
    fixture.nowMs += limits.objectAnswerMs;
    expect([fixture.settle(), outcome]).toEqual([undefined, "published"]);
  });

  it("[O5] announces a subscriber after its reply, and its leave once", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news", { announced: true });
    fixture.gateway.announce(subscriber.subscription);
    const { info } = subscriber.subscription;
    expect(fixture.port.requests).toEqual([
      { method: "announce", entries: [{ type: "join", info }] },
    ]);
    fixture.port.answer({ outcome: "announced" });
    fixture.gateway.unsubscribe(subscriber.subscription);
    fixture.gateway.unsubscribe(subscriber.subscription);
    expect(fixture.port.requests).toEqual([
      { method: "announce", entries: [{ type: "leave", info }] },
    ]);
    fixture.port.answer({ outcome: "announced" });
    expect(fixture.port.open).toBe(0);
  });

  it("[O5] announces the leave of restored subscribers, and after insufficient state", () => {
    const fixture = new GatewayFixture();
    const slept = fixture.subscribed("news", { announced: true }, at(5));
    fixture.hibernate(slept);
    slept.onInsufficientState = () => fixture.gateway.unsubscribe(slept.subscription);
    fixture.take("news", [entry(1)], at(1, "f"), 2);
    expect(slept.received).toEqual(["lost"]);
    expect(fixture.port.requests).toMatchObject([{ entries: [{ type: "leave" }] }]);
  });

  it("[C10] announces an exclusive subscriber", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news", { sole: true, announced: true });
    fixture.gateway.announce(subscriber.subscription);
    const { info } = subscriber.subscription;
    const { user, client } = info;
    expect(fixture.port.requests).toEqual([
      {
        method: "announce",
        entries: [
          { type: "join", info },
          { type: "sole", user, client },
        ],
      },
    ]);
  });

  it("[C6] knows no channel but its own when a full channel's object spills to it", () => {
    const fixture = new GatewayFixture("news");
    expect(fixture.gateway.resolve("news").outcome).toBe("resolved");
    expect(fixture.gateway.resolve("sport")).toEqual({ outcome: "unknown-namespace" });
    expect(fixture.gateway.resolve("").outcome).toBe("bad-name");
    expect(fixture.gateway.resolve("é").outcome).toBe("bad-name");
    expect(new GatewayFixture().gateway.resolve("sport").outcome).toBe("resolved");
    expect(new GatewayFixture().gateway.resolve("").outcome).toBe("bad-name");
  });

  it("[H2] reads the history for a client, or gives the error", () => {
    const fixture = new GatewayFixture();
    const answers: unknown[] = [];
    const request = { limit: 10, reverse: false };
    const operation = { method: "history", request, bytesMax: 1_000 } as const;
    const ask = (): void => {
      fixture.gateway.request("news", operation, undefined, fixture.nowMs, (answer) =>
        answers.push(answer),
      );
    };
    ask();
    expect(fixture.port.requests).toEqual([operation]);
    const history = {
      outcome: "history",
      publications: [publication(1)],
      position: at(1),
    } as const;
    fixture.port.answer(history);
    ask();
    fixture.port.answer({ outcome: "failed", error: errorCodes.notAvailable });
    expect(answers).toEqual([history, { outcome: "failed", error: errorCodes.notAvailable }]);
  });

  it("[G6] gives the present clients, and whether the list may be incomplete", () => {
    const fixture = new GatewayFixture();
    const answers: unknown[] = [];
    const clients = [
      { user: "42", client: "a" },
      { user: "42", client: "b" },
    ];
    const ask = (gathered: typeof fixture.gathered): void => {
      fixture.gathered = gathered;
      fixture.gateway.presence(
        "news",
        question((answer) => answers.push(answer)),
      );
      fixture.turn();
    };
    ask({ clients, complete: false });
    ask({ clients, complete: true });
    ask({ error: errorCodes.internal });
    const counted = { clientCount: 2, userCount: 1 };
    expect(answers).toEqual([
      {
        outcome: "present",
        result: { parts: [clients], incomplete: true },
        stats: { ...counted, incomplete: true },
      },
      { outcome: "present", result: { parts: [clients] }, stats: counted },
      { outcome: "failed", error: errorCodes.internal },
    ]);
  });

  it("[G6] [P3] [P4] asks a channel once for all who ask before the next turn, and once for those who come meanwhile", () => {
    const fixture = new GatewayFixture();
    const asked: ((answer: GatheredPresence) => void)[] = [];
    fixture.onPresence = (_, answered) => asked.push(answered);
    const outcomes: string[] = [];
    const ask = (channel: string, who: string): void => {
      fixture.gateway.presence(
        channel,
        question(() => outcomes.push(who)),
      );
    };
    ask("news", "first");
    ask("news", "second");
    ask("sport", "another");
    expect(asked).toHaveLength(0);
    fixture.turn();
    expect(asked).toHaveLength(2);
    ask("news", "third");
    ask("news", "fourth");
    fixture.turn();
    expect(asked).toHaveLength(2);
    const none = { clients: [], complete: true };
    asked[0]?.(none);
    expect(outcomes).toEqual(["first", "second"]);
    fixture.turn();
    asked[2]?.(none);
    expect(outcomes.slice(2)).toEqual(["third", "fourth"]);
    ask("news", "last");
    fixture.turn();
    expect(asked).toHaveLength(4);
  });

  it("[B1] answers 111 to a presence question beyond the limit of waiting ones", () => {
    const fixture = new GatewayFixture();
    const answers: unknown[] = [];
    const ask = (): void =>
      fixture.gateway.presence(
        "news",
        question((answer) => answers.push(answer)),
      );
    for (let count = 0; count < limits.presenceWaitingMax; count++) ask();
    expect(answers).toEqual([]);
    ask();
    expect(answers).toEqual([{ outcome: "failed", error: errorCodes.tooManyRequests }]);
  });

  it("[P1] gives the present ones of its own clients", () => {
    const fixture = new GatewayFixture();
    const subscriber = fixture.subscribed("news");
    fixture.subscribed("news", { present: false });
    fixture.subscribe("sport");
    expect(fixture.gateway.present("news")).toEqual({ clients: [subscriber.subscription.info] });
    expect(fixture.gateway.present("sport")).toEqual({ clients: [] });
    expect(fixture.gateway.present("nothing")).toEqual({ clients: [] });
  });
});

/** A question of a client of its own. */
function question(done: PresenceQuestion["done"]): PresenceQuestion {
  return { client: {}, codec: undefined, done };
}

function published(sequence: number): RelayReply {
  return { outcome: "published", instance: 1, sequence };
}

/** So many subscribers that a frame to them takes several slices. */
function crowd(fixture: GatewayFixture, channel: string): readonly RecordingSubscription[] {
  return Array.from({ length: 100 }, () => fixture.subscribed(channel));
}

function sendAll({ gateway, nowMs }: GatewayFixture): void {
  for (gateway.settle(nowMs); gateway.sending !== undefined; gateway.settle(nowMs))
    gateway.sendSlice();
}
