import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import type { Codec } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import type { Push, Reply } from "../../../src/protocol/reply.ts";
import { utf8 } from "./messagepack/hex.ts";
import { bytes, contentOf, hex, proto, sdkCodec, writeFrame } from "./protobuf/peers.ts";
import { sentMessages } from "./sent-messages.ts";

const replyType = proto.lookupType("Reply");

/** The fields that are bytes in the binary formats. */
const payloads: ReadonlySet<string> = new Set(["data", "conn_info", "chan_info", "prev_data"]);

function encoded(codec: Codec, message: Reply | Push): string | Uint8Array {
  return "type" in message ? codec.encodePush(message) : codec.encodeReply(message);
}

/** A message as it is in JSON, with its payloads as bytes. */
function withBytes(json: string): object {
  return JSON.parse(json, (name: string, value: unknown) =>
    payloads.has(name) ? utf8(JSON.stringify(value)) : value,
  );
}

/** A message as it is in JSON, without what Protobuf leaves out: what is zero, false or empty. */
function inProtobuf(json: string): object {
  return replyType.fromObject(
    JSON.parse(json, (name: string, value: unknown) => {
      if (payloads.has(name)) return utf8(JSON.stringify(value));
      return value === "" || value === 0 || value === false ? undefined : value;
    }),
  );
}

/** The field that isn't the official SDK's, and that it skips. */
function withoutIncomplete(json: string): unknown {
  return JSON.parse(json.replace(',"incomplete":true', ""));
}

describe("a message of the server", () => {
  it.each(sentMessages)("[W1] is written in JSON: %s", (json, message) => {
    expect(encoded(jsonCodec, message)).toBe(json);
  });

  it.each(sentMessages)(
    "[W5] is written in Protobuf as protobufjs writes it with client.proto: %s",
    (json, message) => {
      expect(hex(encoded(protobufCodec, message))).toBe(
        hex(writeFrame(replyType, [inProtobuf(json)])),
      );
    },
  );

  it.each(sentMessages)("[W5] is read from Protobuf by the official SDK: %s", (json, message) => {
    const frame = bytes(hex(encoded(protobufCodec, message)));
    expect(sdkCodec.decodeReplies(frame).map((theirs) => contentOf(theirs))).toStrictEqual([
      contentOf(withoutIncomplete(json)),
    ]);
  });

  it.each(sentMessages)(
    "[W6] is written in MessagePack as the library writes what stands in JSON: %s",
    (json, message) => {
      expect(Buffer.from(encoded(messagePackCodec, message)).toString("hex")).toBe(
        hex(encode(withBytes(json))),
      );
    },
  );
});

describe("seconds, which a reply has as a whole number of 32 bits,", () => {
  const result = { client: "c1", version: "1", ttlSeconds: 1e300, pingSeconds: 0.5, pong: true };
  const reply: Reply = { id: 1, method: "connect", result };

  it("[W5] are rounded up, and are the largest of those in Protobuf if there are more", () => {
    const type = proto.lookupType("Reply");
    const message = type.decodeDelimited(bytes(hex(protobufCodec.encodeReply(reply))));
    expect(contentOf(message)).toMatchObject({ connect: { ttl: 4_294_967_295, ping: 1 } });
  });
});
