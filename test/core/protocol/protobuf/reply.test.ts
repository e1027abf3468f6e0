import { describe, expect, it } from "vitest";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { encodeReply as encodeJson } from "../../../../src/protocol/json/encode.ts";
import { protobufCodec } from "../../../../src/protocol/protobuf/codec.ts";
import type { Reply, SubscribeResult } from "../../../../src/protocol/reply.ts";
import { bytes, hex, proto, readFrame, contentOf, sdkCodec, writeFrame } from "./peers.ts";
import { textOf } from "../../../support/text-of.ts";
import { valid } from "../valid-json-text.ts";
import { nothing } from "../bare-subscribe-result.ts";
import { statePage } from "../map-messages.ts";

const replyType = proto.lookupType("Reply");

const everything: SubscribeResult = {
  ttlSeconds: 60,
  recoverable: true,
  positioned: true,
  wasRecovering: true,
  recovered: true,
  publications: [
    { data: valid("1"), offset: 6 },
    { data: valid('"2"'), offset: 4_294_967_296, tags: { t: "v", "": "" }, delta: true },
  ],
  position: { offset: 9_007_199_254_740_991, epoch: "abcd" },
  delta: true,
  data: valid('{"d":1}'),
};

const connected = { client: "c1", version: "1.0.0", ttlSeconds: 0, pingSeconds: 25, pong: true };
const host = { user: "42", client: "c1", connInfo: valid('{"n":1}'), chanInfo: valid("2") };

const goldens: [string, Reply][] = [
  [
    "1908031215086712117065726d697373696f6e2064656e696564",
    { id: 3, error: errorCodes.permissionDenied },
  ],
  [
    "2308ffffffff0f121b08641215696e7465726e616c20736572766572206572726f721801",
    { id: 4_294_967_295, error: errorCodes.internal },
  ],
  ["1308012a0f0a0263311205312e302e3038194001", { id: 1, method: "connect", result: connected }],
  [
    "0f08012a0b0a0263311205312e302e30",
    { id: 1, method: "connect", result: { ...connected, pingSeconds: 0, pong: false } },
  ],
  [
    "880108012a83010a0263311205312e302e301801203c32070a032334321200324f0a0178124a0801103c18013204616263643a0522013130063a1b22032232223080808080103a060a01741201763a040a0012004001400148ffffffffffffff0f50015a077b2264223a317d6001680132070a0012035a0131381940014a017352016e58fbd095ffbc31",
    {
      id: 1,
      method: "connect",
      result: {
        ...connected,
        ttlSeconds: 60,
        subscriptions: new Map([
          ["#42", nothing],
          ["x", everything],
          ["", { ...nothing, data: valid("1") }],
        ]),
        session: "s",
        node: "n",
        timeMs: 1_700_000_000_123,
      },
    },
  ],
  ["0408023200", { id: 2, method: "subscribe", result: nothing }],
  [
    "4e0802324a0801103c18013204616263643a0522013130063a1b22032232223080808080103a060a01741201763a040a0012004001400148ffffffffffffff0f50015a077b2264223a317d60016801",
    { id: 2, method: "subscribe", result: everything },
  ],
  [
    "0708023203320165",
    { id: 2, method: "subscribe", result: { ...nothing, position: { offset: 0, epoch: "e" } } },
  ],
  ["0408023a00", { id: 2, method: "unsubscribe" }],
  ["0408024200", { id: 2, method: "publish" }],
  ["0408026a00", { id: 2, method: "rpc" }],
  ["0408024a00", { id: 2, method: "presence", result: { parts: [] } }],
  [
    "2c08024a280a1a0a02633112140a023432120263311a077b226e223a317d2201320a0a0a026332120412026332",
    { id: 2, method: "presence", result: { parts: [[host, { user: "", client: "c2" }]] } },
  ],
  ["0708024a03c03e01", { id: 2, method: "presence", result: { parts: [], incomplete: true } }],
  ["0408025200", { id: 2, method: "presence_stats", result: { clientCount: 0, userCount: 0 } }],
  [
    "090802520508ac021002",
    { id: 2, method: "presence_stats", result: { clientCount: 300, userCount: 2 } },
  ],
  [
    "0b0802520708031002c03e01",
    {
      id: 2,
      method: "presence_stats",
      result: { clientCount: 3, userCount: 2, incomplete: true },
    },
  ],
  [
    "0408025a00",
    {
      id: 2,
      method: "history",
      result: { publications: [], position: { offset: 0, epoch: "" } },
    },
  ],
  [
    "3008025a2c0a1e2201312a140a023432120263311a077b226e223a317d22013230017201650a0522013230021201651802",
    {
      id: 2,
      method: "history",
      result: {
        publications: [
          { data: valid("1"), offset: 1, epoch: "e", info: host },
          { data: valid("2"), offset: 2 },
        ],
        position: { offset: 2, epoch: "e" },
      },
    },
  ],
  ["0408027200", { id: 2, method: "refresh", result: { ttlSeconds: 0 } }],
  ["08080272041801203c", { id: 2, method: "refresh", result: { ttlSeconds: 60 } }],
  ["0408027a00", { id: 2, method: "sub_refresh", result: { ttlSeconds: 0 } }],
  [
    "0c08027a08080110ffffffff0f",
    { id: 2, method: "sub_refresh", result: { ttlSeconds: 4_294_967_295 } },
  ],
  [
    "1308027a0f080110091a092201315a016b800103",
    {
      id: 2,
      method: "sub_refresh",
      result: { ttlSeconds: 9, items: [{ data: valid("1"), offset: 0, key: "k", version: 3n }] },
    },
  ],
  [
    "2b08023227320165480578018001028a01016b92010822013130035a016a92010822013230045a016b980132",
    {
      id: 2,
      method: "subscribe",
      result: {
        ...statePage,
        publishDebounceMs: 50,
      },
    },
  ],
];

describe("encoding a reply as Protobuf", () => {
  it.each(goldens)("[W5] writes %s", (golden, reply) => {
    expect(hex(protobufCodec.encodeReply(reply))).toBe(golden);
  });

  it.each(goldens)("[W5] says in %s what the JSON codec says", (golden, reply) => {
    const json = contentOf(JSON.parse(textOf(encodeJson(reply))));
    const [ours] = readFrame(replyType, bytes(golden));
    expect(contentOf(ours)).toStrictEqual(json);
    expect(hex(writeFrame(replyType, [ours]))).toBe(golden);
  });

  it.each(goldens.filter(([, reply]) => !isIncomplete(reply)))(
    "[W5] lets the official SDK read %s",
    (golden, reply) => {
      const json = contentOf(JSON.parse(textOf(encodeJson(reply))));
      expect(
        sdkCodec.decodeReplies(bytes(golden)).map((theirs) => contentOf(theirs)),
      ).toStrictEqual([json]);
    },
  );

  it("[W5] tells an SDK that an answer is incomplete in a field that it skips", () => {
    const result = { clientCount: 3, userCount: 2, incomplete: true };
    const reply = protobufCodec.encodeReply({ id: 2, method: "presence_stats", result });
    expect(
      sdkCodec.decodeReplies(bytes(hex(reply))).map((theirs) => contentOf(theirs)),
    ).toStrictEqual([{ id: 2, presence_stats: { num_clients: 3, num_users: 2 } }]);
  });

  it("[W5] rounds a ping interval up to whole seconds, which is all a reply can say", () => {
    const result = { ...connected, pingSeconds: 0.5 };
    const [reply] = readFrame(
      replyType,
      bytes(hex(protobufCodec.encodeReply({ id: 1, method: "connect", result }))),
    );
    expect(contentOf(reply)).toMatchObject({ connect: { ping: 1 } });
  });

  it("[W5] names the largest lifetime it can when it is asked for a larger one", () => {
    const result = { ttlSeconds: 1e300 };
    const [reply] = readFrame(
      replyType,
      bytes(hex(protobufCodec.encodeReply({ id: 1, method: "refresh", result }))),
    );
    expect(contentOf(reply)).toStrictEqual({
      id: 1,
      refresh: { expires: true, ttl: 4_294_967_295 },
    });
  });
});

function isIncomplete(reply: Reply): boolean {
  return "result" in reply && "incomplete" in reply.result;
}
