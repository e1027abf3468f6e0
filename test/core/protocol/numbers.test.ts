import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import type { FieldWriter } from "../../../src/protocol/fields.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import { messagePackOf } from "../../../src/protocol/messagepack/writer.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import type { Push } from "../../../src/protocol/reply.ts";
import { textOf } from "../../support/text-of.ts";
import { utf8 } from "./messagepack/hex.ts";
import { bytes, hex, proto } from "./protobuf/peers.ts";
import { valid } from "./valid-json-text.ts";

const replyType = proto.lookupType("Reply");

/** A publication of a map in each of the formats; of Protobuf, what protobufjs reads there. */
function written(fields: Partial<Publication>) {
  const publication = { data: valid("1"), offset: 0, key: "k", ...fields };
  const push: Push = { type: "publication", channel: "x", publication };
  const message = replyType.decodeDelimited(bytes(hex(protobufCodec.encodePush(push))));
  return {
    json: textOf(jsonCodec.encodePush(push)),
    protobuf: replyType.toObject(message, { longs: String }),
    messagePack: hex(messagePackCodec.encodePush(push)),
  };
}

const scores = [1, 127, -1, -32, -33, -128, -129, -32_768, -32_769];
const largeScores = [-(2 ** 31), -(2 ** 31) - 1, 2 ** 40];
const safeEnds = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

describe("a number", () => {
  it.each([...scores, ...largeScores, ...safeEnds])(
    "[W1] [W5] [W6] with a sign is written as it is: %i",
    (score) => {
      const { json, protobuf, messagePack } = written({ score });
      expect(JSON.parse(json)).toMatchObject({ push: { pub: { score } } });
      expect(protobuf).toMatchObject({ push: { pub: { score: `${score}` } } });
      const push = { channel: "x", pub: { data: utf8("1"), key: "k", score } };
      expect(messagePack).toBe(hex(encode({ push })));
    },
  );

  it.each([1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n])(
    "[W1] [W5] [W6] of 64 bits is written as it is: %i",
    (version) => {
      const { json, protobuf, messagePack } = written({ version });
      expect(json).toContain(`"version":${version}}`);
      expect(protobuf).toMatchObject({ push: { pub: { version: `${version}` } } });
      const isSafe = version < 2n ** 53n;
      const shortest = isSafe ? Number(version) : version;
      const push = { channel: "x", pub: { data: utf8("1"), key: "k", version: shortest } };
      expect(messagePack).toBe(hex(encode({ push }, { useBigInt64: !isSafe })));
    },
  );
});

it.each([15, 16, 40])("[W6] a message may have %i fields", (count) => {
  const texts = Array.from({ length: count }, (_, index) => [`f${index}`, "t".repeat(index + 1)]);
  function many(out: FieldWriter): void {
    out.message(1, "inner", texts, (inner) => {
      for (const [index, [name = "", text]] of texts.entries()) inner.text(index + 1, name, text);
    });
    out.text(2, "after", "a");
  }
  expect(decode(messagePackOf(texts, many, 0))).toStrictEqual({
    inner: Object.fromEntries(texts),
    after: "a",
  });
});

it("[W5] a tag without a name and a text is one", () => {
  const { protobuf } = written({ tags: { "": "" } });
  expect(protobuf).toMatchObject({ push: { pub: { tags: { "": "" } } } });
});
