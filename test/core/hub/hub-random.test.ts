import * as fc from "fast-check";
import { expect, it } from "vitest";
import { Hub } from "../../../src/hub/hub.ts";
import { json } from "../api/channel-config.ts";
import { sendAll } from "../../support/send-all.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

it("[F1] [F2] [F5] sends each subscriber all that happens while it is one, once and in order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.nat(2), (steps, immediateSubscribersMax) => {
      const fanOut = {
        immediateSubscribersMax,
        sliceSubscribersMax: 2,
        sliceBytesMax: 100,
        frameEndSubscribers: 0,
        batchesWaitingMax: 1,
        batchesWaitingBytesMax: 100,
        longRestSubscribers: 250,
        batchesAheadMax: 3,
        relayAheadEntriesMax: 0,
      };
      const world = new World(new Hub("room", 1_000, { fanOut }));
      for (const one of steps) world.carryOut(one);
      sendAll(world.hub);
      for (const { subscriber, wanted } of world.everybody)
        expect(subscriber.received).toEqual(wanted);
      for (const { received, wanted } of world.caughtUp) expect(received).toEqual(wanted);
      expect([world.hub.sending, world.hub.collecting]).toEqual([false, false]);
    }),
    { seed: 20_261_122, numRuns: 500 },
  );
});

type Step =
  | { readonly type: "join"; readonly hearsJoinLeave: boolean; readonly announced: boolean }
  | { readonly type: "leave" | "catch-up" | "slow"; readonly who: number }
  | { readonly type: "publish" | "begin" | "slice" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("join" as const),
      hearsJoinLeave: fc.boolean(),
      announced: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom("leave" as const, "catch-up" as const, "slow" as const),
      who: fc.nat(20),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom("publish" as const, "begin" as const, "slice" as const),
    }),
  },
);

/** A hub, and what each of its subscribers has to be sent. */
class World {
  readonly hub: Hub<RecordingSubscriber>;
  readonly everybody: { readonly subscriber: RecordingSubscriber; readonly wanted: string[] }[] =
    [];
  /** The publications that subscribers were sent until they were caught up, and those that they should have been. */
  readonly caughtUp: {
    readonly received: readonly string[];
    readonly wanted: readonly string[];
  }[] = [];
  #published = 0;

  constructor(hub: Hub<RecordingSubscriber>) {
    this.hub = hub;
  }

  carryOut(one: Step): void {
    const { hub } = this;
    switch (one.type) {
      case "join":
        this.#join(one);
        return;
      case "leave": {
        const subscriber = this.#pick(one.who);
        if (subscriber !== undefined) this.#leave(subscriber);
        return;
      }
      case "catch-up": {
        const subscriber = this.#pick(one.who);
        if (subscriber === undefined) return;
        hub.catchUp(subscriber);
        this.caughtUp.push({
          received: subscriber.received,
          wanted: [...this.#wantedBy(subscriber)],
        });
        return;
      }
      case "slow":
        this.#slowDown(this.#pick(one.who));
        return;
      case "publish": {
        const data = String(++this.#published);
        hub.publish({ data: json(data), offset: 0 });
        this.#want(data, () => true);
        return;
      }
      case "begin":
        hub.begin();
        return;
      case "slice":
        hub.sendSlice();
    }
  }

  #join(traits: { readonly hearsJoinLeave: boolean; readonly announced: boolean }): void {
    const subscriber = new RecordingSubscriber(`user${this.everybody.length}`, traits);
    this.hub.add(subscriber);
    this.everybody.push({ subscriber, wanted: [] });
    subscriber.onDisconnect = () => this.#leave(subscriber);
    if (subscriber.announced) this.#announce("join", subscriber);
  }

  #leave(subscriber: RecordingSubscriber): void {
    if (!this.hub.remove(subscriber)) return;
    if (subscriber.announced) this.#announce("leave", subscriber);
  }

  /** It gets nothing any more, and is cut when the hub finds that out. */
  #slowDown(subscriber: RecordingSubscriber | undefined): void {
    if (subscriber === undefined) return;
    this.hub.catchUp(subscriber);
    subscriber.behindBytes = 1_001;
    const wanted = this.#wantedBy(subscriber);
    Object.freeze(wanted);
  }

  #announce(type: "join" | "leave", { info }: RecordingSubscriber): void {
    this.hub.announce(type, info);
    this.#want(`${type} ${info.user}`, ({ hearsJoinLeave }) => hearsJoinLeave);
  }

  #want(what: string, hears: (subscriber: RecordingSubscriber) => boolean): void {
    for (const { subscriber, wanted } of this.everybody) {
      if (this.hub.has(subscriber) && !Object.isFrozen(wanted) && hears(subscriber))
        wanted.push(what);
    }
  }

  #wantedBy(subscriber: RecordingSubscriber): string[] {
    return this.everybody.find((one) => one.subscriber === subscriber)?.wanted ?? [];
  }

  #pick(who: number): RecordingSubscriber | undefined {
    const { subscribers } = this.hub;
    return subscribers[who % Math.max(1, subscribers.length)];
  }
}
