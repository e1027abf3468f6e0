import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { protobufCodec } from "../../../../src/protocol/protobuf/codec.ts";
import { bytes, hex, proto, readFrame } from "./peers.ts";

const replyType = proto.lookupType("Reply");
describe("a payload in Protobuf", () => {
  it.each([
    ["0a 2208 120178 2203 2201 ff", "ff"],
    ["07 2205 120178 2200", ""],
  ])("[W5] writes %s for the payload %s, byte for byte", (golden, payload) => {
    const publication = { data: bytes(payload), offset: 0 };
    expect(hex(protobufCodec.encodePush({ type: "publication", channel: "x", publication }))).toBe(
      golden.replaceAll(" ", ""),
    );
  });

  it("[W5] passes payloads of every length on byte for byte", () => {
    const payloads = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 40_000 }).map((length) => new Uint8Array(length).fill(7)),
    );
    fc.assert(
      fc.property(payloads, fc.string({ maxLength: 200 }), (data, channel) => {
        const push = protobufCodec.encodePush({
          type: "publication",
          channel,
          publication: { data, offset: 9 },
        });
        expect(JSON.parse(JSON.stringify(readFrame(replyType, bytes(hex(push)))))).toStrictEqual([
          {
            push: {
              ...(channel === "" ? {} : { channel }),
              pub: { data: Buffer.from(data).toString("base64"), offset: "9" },
            },
          },
        ]);
      }),
      { seed: 8, numRuns: 300 },
    );
  });
});
