import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { messagePackCodec } from "../../../../src/protocol/messagepack/codec.ts";
import { toHex, utf8 } from "./hex.ts";
import { valid } from "../valid-json-text.ts";

describe("a length in MessagePack", () => {
  it.each([0, 1, 31, 32, 255, 256, 65_535, 65_536, 100_000])(
    "[W6] writes texts and payloads of %i bytes as the library does",
    (length) => {
      const text = "a".repeat(length);
      const data = new Uint8Array(length).fill(0xff);
      const publication = { data, offset: length, tags: { [text]: text } };
      const push = messagePackCodec.encodePush({ type: "publication", channel: text, publication });
      const offset = length > 0 ? { offset: length } : {};
      const pub = { data, ...offset, tags: { [text]: text } };
      expect(toHex(push)).toBe(toHex(encode({ push: { channel: text, pub } })));
    },
  );

  it.each([0, 15, 16, 65_535, 65_536])("[W6] writes %i entries as the library does", (count) => {
    const publications = Array.from({ length: count }, () => ({ data: valid("1"), offset: 0 }));
    const clients = Array.from({ length: count }, (_, index) => ({ user: "", client: `${index}` }));
    const history = messagePackCodec.encodeReply({
      id: 1,
      method: "history",
      result: { publications, position: { offset: 0, epoch: "" } },
    });
    const wire = {
      publications: publications.map(() => ({ data: utf8("1") })),
      epoch: "",
      offset: 0,
    };
    expect(toHex(history)).toBe(toHex(encode({ id: 1, history: wire })));
    const presence = messagePackCodec.encodeReply({
      id: 1,
      method: "presence",
      result: { parts: [clients] },
    });
    expect(decode(bytesOf(presence))).toStrictEqual({
      id: 1,
      presence: { presence: Object.fromEntries(clients.map((client) => [client.client, client])) },
    });
  });

  it.each([0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    "[W6] writes the integer %i as the library does",
    (offset) => {
      const result = { publications: [], position: { offset, epoch: "" } };
      const reply = messagePackCodec.encodeReply({ id: 1, method: "history", result });
      const history = { publications: [], epoch: "", offset };
      expect(toHex(reply)).toBe(toHex(encode({ id: 1, history })));
    },
  );
});

function bytesOf(message: string | Uint8Array): Uint8Array {
  return typeof message === "string" ? utf8(message) : message;
}
