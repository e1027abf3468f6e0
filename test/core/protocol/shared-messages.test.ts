import { describe, expect, it } from "vitest";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { nothing } from "./bare-subscribe-result.ts";
import { valid } from "./valid-json-text.ts";

/** Entries of a map that count how often they are looked at. */
function entries(): { readonly state: readonly Publication[]; readonly looks: () => number } {
  let looks = 0;
  const entry = {
    get key() {
      looks++;
      return "k";
    },
    data: valid("1"),
    offset: 3,
  };
  return { state: [entry, { ...entry, key: "l" }], looks: () => looks };
}

describe.each([jsonCodec, protobufCodec, messagePackCodec])(
  "[Z3] entries of a map in $name",
  (codec) => {
    it("are encoded once for all replies with the same list, and the rest of each reply is its own", () => {
      const { state, looks } = entries();
      const replyOf = (id: number, list: readonly Publication[], phase?: number) =>
        codec.encodeReply({
          id,
          method: "subscribe",
          result: { ...nothing, state: list, ...(phase === undefined ? {} : { phase }) },
        });
      const one = replyOf(1, state, 2);
      const seen = looks();
      const other = replyOf(2, state);
      expect(looks()).toBe(seen);
      expect(one).toEqual(replyOf(1, entries().state, 2));
      expect(other).toEqual(replyOf(2, entries().state));
    });
  },
);
