import { Decoder, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { parseMessagePack } from "../../../../src/protocol/messagepack/value.ts";

/** All that follow a first byte: the smallest, the largest, and ones with a sign. */
const fills = [0x00, 0x01, 0x7f, 0x80, 0xff];
const scalarHeads = [0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3];

describe("[W6] a MessagePack value", () => {
  it.each([true, false])("is read as the library reads it: big integers %s", (useBigInt64) => {
    const library = new Decoder({ useBigInt64, keyDecoder: null });
    const texts = ["", "a", "ä🌍", "x".repeat(31), "x".repeat(32), "é".repeat(200)];
    const lists = [0, 15, 16, 70_000].map((length) => Array.from({ length }, (_, nth) => nth));
    const maps = [0, 15, 16, 70_000].map((length) =>
      Object.fromEntries(Array.from({ length }, (_, nth) => [`key ${nth}`, nth])),
    );
    const bytes = [0, 255, 256, 65_536].map((length) => new Uint8Array(length).fill(7));
    const nested = { a: [{ b: [null, true, false, -1, 127, -32, -33, 1.5, texts] }, bytes] };
    const long = ["x".repeat(255), "x".repeat(256), "x".repeat(65_536)];
    const encoded = [...texts, ...long, ...lists, ...maps, ...bytes, nested].map((one) =>
      encode(one),
    );
    const heads = [0x00, 0x7f, 0xe0, 0xff, 0xc0, 0xc2, 0xc3].map((head) => Uint8Array.of(head));
    const scalars = scalarHeads.flatMap((head) =>
      fills.map((fill) => Uint8Array.of(head, ...new Uint8Array(8).fill(fill))),
    );
    for (const one of [...encoded, ...heads, ...scalars]) {
      const parsed = parseMessagePack(one, 0, useBigInt64);
      if (parsed.outcome === "malformed") throw new Error(`refused: ${one.slice(0, 9).join()}`);
      expect(parsed.value).toStrictEqual(library.decode(one.subarray(0, parsed.end)));
    }
  });

  it("begins where it is said to, and its bytes are a view of the input", () => {
    const input = Uint8Array.of(1, 0x92, 0xc4, 2, 8, 9, 0xa1, 0x61, 5);
    const parsed = parseMessagePack(input.subarray(1), 0, true);
    expect(parsed).toStrictEqual({
      outcome: "value",
      value: [Uint8Array.of(8, 9), "a"],
      end: 7,
    });
    expect(parseMessagePack(input, 1, true)).toMatchObject({ end: 8 });
  });

  it.each([0, 1, 197, 198, 70_000])(
    "keeps a byte order mark before %i characters, which is one itself, or is refused",
    (length) => {
      const text = `\uFEFF${"a".repeat(length)}`;
      const parsed = parseMessagePack(encode(text), 0, true);
      const kept = { outcome: "value", value: text, end: encode(text).length };
      expect(parsed).toEqual(length <= 197 ? kept : { outcome: "malformed" });
    },
  );

  it("is refused with the key __proto__, wherever it is", () => {
    const bytes = encode([{ a: 1 }, { xxproto__: 1 }]);
    const text = new TextEncoder().encode("xxproto__");
    const at = bytes.findIndex((_, nth) => text.every((byte, more) => bytes[nth + more] === byte));
    bytes.fill(0x5f, at, at + 2);
    expect(parseMessagePack(bytes, 0, true)).toStrictEqual({ outcome: "malformed" });
  });
});
