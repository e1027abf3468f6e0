import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { disconnectCodes, unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { encodePush as encodeJson } from "../../../../src/protocol/json/encode.ts";
import { protobufCodec } from "../../../../src/protocol/protobuf/codec.ts";
import type { Push } from "../../../../src/protocol/reply.ts";
import { bytes, hex, proto, readFrame, contentOf, sdkCodec, writeFrame } from "./peers.ts";
import { textOf } from "../../../support/text-of.ts";
import { removal } from "../map-messages.ts";
import { valid } from "../valid-json-text.ts";

const replyType = proto.lookupType("Reply");
const info = { user: "42", client: "c1", chanInfo: valid('{"role":"host"}') };

const goldens: [string, Push][] = [
  [
    "152213120178220e22077b2261223a317d3001720165",
    {
      type: "publication",
      channel: "x",
      publication: { data: valid('{"a":1}'), offset: 1, epoch: "e" },
    },
  ],
  [
    "3a22381202c3a922322208223c623e26c3a9222a190a02343212026331220f7b22726f6c65223a22686f7374227d30ac023a060a01741201764001",
    {
      type: "publication",
      channel: "é",
      publication: { data: valid('"<b>&é"'), info, offset: 300, tags: { t: "v" }, delta: true },
    },
  ],
  [
    "0a22081201782203220131",
    { type: "publication", channel: "x", publication: { data: valid("1"), offset: 0, tags: {} } },
  ],
  [
    "df0122dc0112017822d60122ca012261616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161612230ffffffffffffff0f",
    {
      type: "publication",
      channel: "x",
      publication: { data: valid(`"${"a".repeat(200)}"`), offset: Number.MAX_SAFE_INTEGER },
    },
  ],
  [
    "2722251201782a200a1e0a023432120263311a035b315d220f7b22726f6c65223a22686f7374227d",
    { type: "join", channel: "x", info: { ...info, connInfo: valid("[1]") } },
  ],
  [
    "0d220b12017832060a0412026332",
    { type: "leave", channel: "x", info: { user: "", client: "c2" } },
  ],
  [
    "1e221c1201783a1710c4131a12696e73756666696369656e74207374617465",
    { type: "unsubscribe", channel: "x", code: unsubscribeCodes.insufficientState },
  ],
  [
    "1322111201784a0c0801220165280730013a0131",
    {
      type: "subscribe",
      channel: "x",
      result: {
        recoverable: true,
        positioned: true,
        position: { epoch: "e", offset: 7 },
        data: valid("1"),
      },
    },
  ],
  [
    "47224512017822402201312a190a02343212026331220f7b22726f6c65223a22686f7374227d30073a060a01741201765a016b68057a077b2261223a317d8001ffffffffffffff0f",
    {
      type: "publication",
      channel: "x",
      publication: {
        data: valid("1"),
        info,
        offset: 7,
        tags: { t: "v" },
        key: "k",
        score: -3,
        prevData: valid('{"a":1}'),
        version: 9_007_199_254_740_991n,
      },
    },
  ],
  ["192217120178221230013a060a01741201765a016b6001720165", removal],
  ["08220662040801103c", { type: "refresh", expiry: { ttlSeconds: 60 } }],
  ["0d220b5a0908c0171204736c6f77", { type: "disconnect", code: disconnectCodes.slow }],
];

describe("encoding a push as Protobuf", () => {
  it.each(goldens)("[W5] writes %s", (golden, push) => {
    expect(hex(protobufCodec.encodePush(push))).toBe(golden);
  });

  it.each(goldens)("[W5] says in %s what the JSON codec says", (golden, push) => {
    const json = contentOf(JSON.parse(textOf(encodeJson(push))));
    const [ours] = readFrame(replyType, bytes(golden));
    expect(contentOf(ours)).toStrictEqual(json);
    expect(hex(writeFrame(replyType, [ours]))).toBe(golden);
    expect(sdkCodec.decodeReplies(bytes(golden)).map((theirs) => contentOf(theirs))).toStrictEqual([
      json,
    ]);
  });

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
