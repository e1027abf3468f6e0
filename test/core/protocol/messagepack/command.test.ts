import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { messagePackCodec } from "../../../../src/protocol/messagepack/codec.ts";
import { fromHex, utf8 } from "./hex.ts";

const plain = { channel: "x", type: 0, key: "", removed: false };

const malformed: readonly [string, string, string][] = [
  ["a number", "01", "the command is not an object"],
  ["an array", "90", "the command is not an object"],
  ["bytes", "c4 01 00", "the command is not an object"],
  ["nil", "c0", "the command is not an object"],
  ["a map cut short", "81", notMessagePack()],
  ["a string cut short", "81 a2 69 64 a5 61", notMessagePack()],
  ["a map that states 4 billion entries", "df ff ff ff ff", notMessagePack()],
  ["bytes that state 4 GB", "81 a1 61 c6 ff ff ff ff", notMessagePack()],
  ["a byte without a meaning", "c1", notMessagePack()],
  ["an extension", "81 a1 61 d4 05 00", notMessagePack()],
  ["a timestamp", "81 a1 61 d6 ff 00 00 00 00", notMessagePack()],
  ["a key that is a number", "81 01 01", notMessagePack()],
  ["a key that is bytes", "81 c4 01 61 01", notMessagePack()],
  ["a string that isn't UTF-8", "81 a1 61 a1 ff", notMessagePack()],
  ["a key that isn't UTF-8", "81 a1 ff 01", notMessagePack()],
  ["the key __proto__", "81 a9 5f5f70726f746f5f5f 80", notMessagePack()],
  ["an id beyond 32 bits", "82 a26964 cf 00000001 00000000 a4 73656e64 80", "id is out of range"],
  ["an id that is NaN", "81 a26964 cb 7ff8000000000000", "id is not an unsigned integer"],
  ["a negative id", "81 a26964 ff", "id is not an unsigned integer"],
  ["an id that is a string", "81 a26964 a131", "id is not an unsigned integer"],
  ["an id without a method", "81 a26964 01", "the command has an id but no method"],
  ["a method without an id", "81 a4 70696e67 80", "ping has no id"],
  [
    "two methods",
    "83 a26964 01 a4 70696e67 80 a4 73656e64 80",
    "the command has more than one method",
  ],
];

function notMessagePack(): string {
  return "the command is not valid MessagePack";
}

describe("decoding a MessagePack command", () => {
  it.each(malformed)("[W6] refuses %s", (_, hex, complaint) => {
    expect(messagePackCodec.decodeFrame(fromHex(hex))).toStrictEqual({
      commands: [],
      malformed: complaint,
    });
  });

  it.each([
    [{ channel: 1 }, "publish.channel is not a string"],
    [{ channel: utf8("secret") }, "publish.channel is not a string"],
    [{ data: "secret" }, "publish.data is not bytes"],
    [{ data: { secret: 1 } }, "publish.data is not bytes"],
    [{ type: 0.5 }, "publish.type is not an integer"],
    [{ type: 2 ** 40 }, "publish.type is out of range"],
  ])("[W6] names the field and not its value in %j", (publish, complaint) => {
    expect(messagePackCodec.decodeFrame(encode({ id: 1, publish }))).toStrictEqual({
      commands: [],
      malformed: complaint,
    });
  });

  it("[W6] takes no integer beyond 2^53 for a smaller one", () => {
    expect(offsetComplaint(2n ** 53n - 1n)).toBeUndefined();
    for (const value of [2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n]) {
      expect(offsetComplaint(value)).toBe("subscribe.offset is out of range");
    }
    expect(offsetComplaint(-1n)).toBe("subscribe.offset is not an unsigned integer");
  });

  it("[W6] takes bytes for an object nowhere", () => {
    const publish = encode({ id: 1, publish: utf8("{}") });
    expect(messagePackCodec.decodeFrame(publish).malformed).toBe("publish is not an object");
    const connect = encode({ id: 1, connect: { subs: { x: utf8("{}") } } });
    expect(messagePackCodec.decodeFrame(connect).malformed).toBe(
      "connect.subs has an entry that is not an object",
    );
  });

  it("[W6] reads nil as absence", () => {
    const publish = { channel: null, data: null, type: null };
    expect(messagePackCodec.decodeFrame(encode({ id: 1, publish }))).toStrictEqual({
      commands: [{ method: "publish", id: 1, request: { ...plain, channel: "" } }],
    });
  });

  it("[W2] keeps a payload apart from the frame it came in", () => {
    const frame = encode({ id: 1, publish: { data: Uint8Array.of(1, 2, 3) } });
    const [command] = messagePackCodec.decodeFrame(frame).commands;
    frame.fill(0);
    expect(command).toMatchObject({ request: { data: Uint8Array.of(1, 2, 3) } });
  });
});

/** The complaint about a command that asks for the publications after an offset. */
function offsetComplaint(offset: bigint): string | undefined {
  const frame = encode({ id: 1, subscribe: { channel: "x", offset } }, { useBigInt64: true });
  return messagePackCodec.decodeFrame(frame).malformed;
}
