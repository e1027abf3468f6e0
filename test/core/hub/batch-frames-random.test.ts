import { sendAll } from "../../support/send-all.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Codec } from "../../../src/protocol/codec.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import { json } from "../api/channel-config.ts";
import { asReceived } from "./client-decoder.ts";
import { codecs, document, mixedHub, tagged } from "./mixed-hub.ts";

describe("random publications to changing subscribers of all kinds", () => {
  it("[F1] [F5] [D1] reach each subscriber in its form, encoded once for each kind", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const alone = played(steps, 1);
        const full = played(steps, 3);
        for (const one of [...alone.everybody, ...full.everybody]) {
          expect(one.received()).toEqual(one.wanted);
        }
        expect(full.counts).toEqual(alone.counts);
      }),
      { seed: 20_261_121, numRuns: 150 },
    );
  });
});

type Step =
  | {
      readonly type: "join";
      readonly codec: Codec;
      readonly wants: "all" | "deltas" | "a" | "b";
      readonly had: Payload | undefined;
    }
  | { readonly type: "leave"; readonly who: number }
  | {
      readonly type: "publish";
      readonly data: Payload;
      readonly tag: "a" | "b" | "c";
      readonly mayBePatch: boolean;
    }
  | { readonly type: "flush" };

const payload: fc.Arbitrary<Payload> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(30).map((number) => document(number)) },
  fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => json(JSON.stringify(text))),
  fc.nat(3).map((number) => Uint8Array.from([255, ...Array<number>(60).fill(number), 254])),
  fc.constant(json(`"${"y".repeat(40_000)}"`)),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("join" as const),
      codec: fc.constantFrom(...codecs),
      wants: fc.constantFrom("all" as const, "deltas" as const, "a" as const, "b" as const),
      had: fc.option(payload, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("leave" as const), who: fc.nat(9) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("publish" as const),
      data: payload,
      tag: fc.constantFrom("a" as const, "b" as const, "c" as const),
      mayBePatch: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("flush" as const) }) },
);

/** Applies the steps, with so many of each kind of subscriber, and records the expected publications of each. */
function played(steps: readonly Step[], copies: number) {
  const { join, hub, counts } = mixedHub();
  const everybody: (ReturnType<typeof join> & { wanted: string[] })[] = [];
  const groups: { readonly wants: string; readonly members: typeof everybody }[] = [];
  for (const one of steps) {
    switch (one.type) {
      case "join": {
        const { codec, wants, had } = one;
        const traits =
          wants === "all"
            ? {}
            : wants === "deltas"
              ? { delta: true, had }
              : { filter: tagged(wants) };
        const members = Array.from({ length: copies }, () => ({
          ...join(codec, traits),
          wanted: [],
        }));
        everybody.push(...members);
        groups.push({ wants, members });
        break;
      }
      case "leave": {
        const [gone] = groups.splice(one.who, 1);
        for (const { subscriber } of gone?.members ?? []) hub.remove(subscriber);
        break;
      }
      case "publish": {
        const { data, tag, mayBePatch } = one;
        hub.publish({ data, offset: 1, tags: { t: tag }, mayBePatch });
        for (const { wants, members } of groups) {
          if (wants !== "all" && wants !== "deltas" && wants !== tag) continue;
          for (const { wanted, codec } of members) wanted.push(asReceived(data, codec));
        }
        break;
      }
      case "flush":
        sendAll(hub);
    }
  }
  sendAll(hub);
  return { everybody, counts };
}
