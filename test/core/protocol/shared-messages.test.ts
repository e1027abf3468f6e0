import { describe, expect, it } from "vitest";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import type { Reply } from "../../../src/protocol/reply.ts";
import { bareSubscribeResult as nothing } from "../../../src/protocol/reply.ts";
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

/** The reply with a page; its phase is as different as its number. */
function page(id: number, state: readonly Publication[]): Reply {
  return { id, method: "subscribe", result: { ...nothing, state, phase: id } };
}

describe.each([jsonCodec, protobufCodec, messagePackCodec])(
  "[Z3] entries of a map in $name",
  (codec) => {
    it("are encoded once for all replies with the same list, and the rest of each reply is its own", () => {
      const { state, looks } = entries();
      const one = codec.encodeReply(page(1, state));
      const seen = looks();
      const other = codec.encodeReply(page(2, state));
      expect(looks()).toBe(seen);
      expect(one).toEqual(codec.encodeReply(page(1, entries().state)));
      expect(other).toEqual(codec.encodeReply(page(2, entries().state)));
    });
  },
);

it.each([jsonCodec, protobufCodec, messagePackCodec])(
  "[R7] recovered publications are encoded once in $name for all who share the list",
  (codec) => {
    const { state: publications, looks } = entries();
    const recovered = (id: number): Reply => {
      const result = { ...nothing, recovered: true, publications };
      return { id, method: "subscribe", result };
    };
    const one = codec.encodeReply(recovered(1));
    const seen = looks();
    expect(codec.encodeReply(recovered(2))).not.toEqual(one);
    expect(looks()).toBe(seen);
    expect(codec.encodeReply(recovered(1))).toEqual(one);
  },
);
