import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Hub } from "../../../src/hub/hub.ts";
import type { Codec } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { type JsonText, trustedJsonText } from "../../../src/protocol/json/text.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { sendAll } from "../../support/send-all.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

/** Another codec, whose frames are the same. */
const otherCodec: Codec = { ...jsonCodec };

describe("the hub of an ephemeral map", () => {
  it("[Z14] sends the newest change of each key, in the order of these, without offset, and in full", () => {
    const { hub, subscriber } = opened();
    hub.publish({ ...change("a", 1, 1), epoch: "epoch" });
    hub.publish(change("b", 2, 2));
    hub.publish({ ...change("a", 3, 3), mayBePatch: true, before: trustedJsonText("1") });
    hub.publish(removal("c", 4));
    sendAll(hub);
    expect(pushesOf(subscriber)).toEqual([
      { key: "b", data: 2 },
      { key: "a", data: 3 },
      { key: "c", removed: true },
    ]);
    expect(subscriber.frames).toHaveLength(1);
  });

  it("[Z14] makes no delta from a value that was replaced before it was sent", () => {
    const { hub } = opened();
    const subscriber = new RecordingSubscriber("delta", { delta: true });
    hub.add(subscriber);
    hub.publish({ ...change("a", 1, 1), data: long("1") });
    hub.publish({ ...change("a", 2, 2), data: long("2"), mayBePatch: true, before: long("1") });
    hub.publish({ ...change("b", 3, 3), data: long("3"), mayBePatch: true, before: long("0") });
    sendAll(hub);
    expect(pushesOf(subscriber)).toMatchObject([
      { key: "a", data: long("2") },
      { key: "b", delta: true },
    ]);
    expect(pushesOf(subscriber)[0]).not.toHaveProperty("delta");
  });

  it("[Z14] keeps every change where the map has a stream", () => {
    const hub = new Hub("room", 1_000_000);
    const subscriber = new RecordingSubscriber("user");
    hub.add(subscriber);
    hub.publish(change("a", 1, 1));
    hub.publish(change("a", 2, 2));
    sendAll(hub);
    expect(pushesOf(subscriber)).toEqual([
      { key: "a", data: 1, offset: 1 },
      { key: "a", data: 2, offset: 2 },
    ]);
  });

  it("[Z2] [Z14] gives every subscriber the newest values, whenever it comes and however frames are sent", () => {
    const step = fc.oneof(
      fc.record({ key: fc.constantFrom("a", "b", "c", "d"), isRemoval: fc.boolean() }),
      fc.constantFrom("begin" as const, "slice" as const, "joins" as const, "catchUp" as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const fanOut = {
          immediateSubscribersMax: 0,
          frameEndSubscribers: 0,
          batchesWaitingMax: 4,
          batchesWaitingBytesMax: 1_000,
          longRestSubscribers: 250,
          batchesAheadMax: 3,
          relayAheadEntriesMax: 0,
          sliceSubscribersMax: 1,
          sliceBytesMax: 1_000,
        };
        const hub = new Hub("room", 1_000_000, { fanOut, hidesOffsets: true });
        const state = new Map<string, number>();
        const clients: { subscriber: RecordingSubscriber; base: Map<string, number> }[] = [];
        const join = (): void => {
          const codec = clients.length % 2 === 0 ? jsonCodec : otherCodec;
          const subscriber = new RecordingSubscriber(`${clients.length}`, { codec });
          clients.push({ subscriber, base: new Map(state) });
          hub.add(subscriber);
        };
        join();
        join();
        for (const [offset, one] of steps.entries()) {
          if (one === "begin") hub.begin();
          else if (one === "slice") hub.sendSlice();
          else if (one === "joins") join();
          else if (one === "catchUp")
            hub.catchUp(clients[0]?.subscriber ?? new RecordingSubscriber("none"));
          else if (one.isRemoval) {
            state.delete(one.key);
            hub.publish(removal(one.key, offset + 1));
          } else {
            state.set(one.key, offset);
            hub.publish(change(one.key, offset, offset + 1));
          }
        }
        sendAll(hub);
        for (const { subscriber, base } of clients) {
          for (const { key, data, removed } of pushesOf(subscriber)) {
            if (removed === true) base.delete(key);
            else base.set(key, data);
          }
          expect(base).toEqual(state);
        }
      }),
    );
  });
});

function long(end: string): JsonText {
  return trustedJsonText(`"${"x".repeat(200)}${end}"`);
}

function opened() {
  const hub = new Hub("room", 1_000_000, { hidesOffsets: true });
  const subscriber = new RecordingSubscriber("user");
  hub.add(subscriber);
  return { hub, subscriber };
}

function change(key: string, value: number, offset: number): Publication {
  return { key, data: trustedJsonText(String(value)), offset };
}

function removal(key: string, offset: number): Publication {
  return { key, data: trustedJsonText(""), removed: true, offset };
}

interface PushedChange {
  readonly key: string;
  readonly data: number;
  readonly removed?: boolean;
}

function pushesOf({ frames }: RecordingSubscriber): readonly PushedChange[] {
  return frames
    .flatMap((frame) => String(frame).split("\n"))
    .map((line) => {
      const { push }: { push: { pub: PushedChange } } = JSON.parse(line);
      return push.pub;
    });
}
