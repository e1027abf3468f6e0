import { describe, expect, it } from "vitest";
import { joinBinaryFrame as joinFrame } from "../../../../src/protocol/bytes.ts";
import { decodeFrame } from "../../../../src/protocol/protobuf/codec.ts";
import { bytes } from "./peers.ts";

const ping = { method: "ping", id: 1 };
const pong = { method: "pong" };

describe("decoding a Protobuf frame", () => {
  it("[W5] reads one command after the other, in order", () => {
    expect(decodeFrame(bytes("04 0801 5a00  00  02 6200"))).toStrictEqual({
      commands: [ping, pong, { method: "send", id: 0, request: {} }],
    });
  });

  it("[W5] reads a frame that is a part of a larger buffer", () => {
    const frame = bytes("ffff 04 0801 5a00 ffff").subarray(2, 7);
    expect(decodeFrame(frame)).toStrictEqual({ commands: [ping] });
  });

  it("[W5] refuses an empty frame", () => {
    expect(decodeFrame(new Uint8Array())).toStrictEqual({
      commands: [],
      malformed: "the frame is empty",
    });
  });

  it.each(["", "{}", '{"id":1,"connect":{}}'])("[W5] refuses the text %j", (frame) => {
    expect(decodeFrame(frame)).toStrictEqual({
      commands: [],
      malformed: "the frame is not binary",
    });
  });

  it.each([
    ["04 0801 5a", "one byte is missing"],
    ["80", "the length is cut off"],
    ["ffffffff0f 00", "the length is that of 4 GB"],
    ["848080801000 0801 5a00", "the length goes over 32 bits"],
    ["ffffffffffffffffff01 00", "the length is the largest there is"],
    ["8080808080808080808000", "the length takes more bytes than any may"],
  ])("[W5] refuses %s, in which %s, after the commands before", (frame) => {
    const malformed = "the frame is not as long as it says";
    expect(decodeFrame(bytes(frame))).toStrictEqual({ commands: [], malformed });
    expect(decodeFrame(bytes(`04 0801 5a00 ${frame}`))).toStrictEqual({
      commands: [ping],
      malformed,
    });
  });
});

describe("joining Protobuf messages", () => {
  it("[W5] puts them one after the other", () => {
    expect(joinFrame([bytes("026200")])).toStrictEqual(bytes("026200"));
    expect(joinFrame([bytes("026200"), bytes("00"), bytes("0408015a00")])).toStrictEqual(
      bytes("026200 00 0408015a00"),
    );
  });
});
