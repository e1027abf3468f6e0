import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import type { DecodedFrame } from "../../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { protobufCodec } from "../../../../src/protocol/protobuf/codec.ts";
import { bytes, hex, proto, sdkCodec, writeFrame } from "./peers.ts";
import { sentCommand, withBytes } from "../random-command.ts";

const commandType = proto.lookupType("Command");
const sentFrame = fc.array(sentCommand, { minLength: 1, maxLength: 5 }).map((sent) => ({
  json: sent.map(({ wire }) => JSON.stringify(wire)).join("\n"),
  protobuf: writeFrame(
    commandType,
    sent.map(({ wire }) => withBytes(wire)),
  ),
  commands: sent.map(({ command }) => command),
}));

describe("the Protobuf codec", () => {
  it("[W5] pings with one zero byte, which reads as a pong", () => {
    expect(protobufCodec.ping).toStrictEqual(bytes("00"));
    expect(protobufCodec.decodeFrame(protobufCodec.ping)).toStrictEqual({
      commands: [{ method: "pong" }],
    });
    expect(JSON.parse(JSON.stringify(sdkCodec.decodeReplies(bytes("00"))))).toStrictEqual([{}]);
  });

  it("[W5] reads from any commands what the JSON codec reads from them", () => {
    fc.assert(
      fc.property(sentFrame, ({ json, protobuf, commands }) => {
        const decoded = protobufCodec.decodeFrame(protobuf);
        expect(decoded).toStrictEqual({ commands });
        expect(decoded).toStrictEqual(jsonCodec.decodeFrame(json));
      }),
      { seed: 6, numRuns: 500 },
    );
  });

  it("[W5] reads what the official SDK writes", () => {
    fc.assert(
      fc.property(fc.array(sentCommand, { minLength: 1, maxLength: 5 }), (sent) => {
        const frame = sdkCodec.encodeCommands(sent.map(({ wire }) => withBytes(wire)));
        expect(protobufCodec.decodeFrame(frame)).toStrictEqual({
          commands: sent.map(({ command }) => command),
        });
      }),
      { seed: 10, numRuns: 500 },
    );
  });

  it("[W5] lets the official SDK read the frames it joins", () => {
    const frame = protobufCodec.joinFrame([
      protobufCodec.encodeReply({ id: 1, method: "publish" }),
      protobufCodec.ping,
      protobufCodec.encodeReply({ id: 2, method: "rpc" }),
    ]);
    const replies = sdkCodec.decodeReplies(bytes(hex(frame)));
    expect(JSON.parse(JSON.stringify(replies))).toStrictEqual([
      { id: 1, publish: {} },
      {},
      { id: 2, rpc: {} },
    ]);
  });

  it("[W5] never throws, whatever bytes come", () => {
    const pieces = fc.constantFrom(
      "08",
      "01",
      "0a",
      "2a",
      "3a",
      "6a",
      "32",
      "00",
      "ff",
      "80",
      "9b",
      "03",
    );
    const frames = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(pieces, { maxLength: 60 }).map((some) => bytes(some.join(""))),
    );
    fc.assert(
      fc.property(frames, (frame) => {
        expect(objection(protobufCodec.decodeFrame(frame))).toBeUndefined();
      }),
      { seed: 7, numRuns: 5_000 },
    );
  });

  it("[W5] never throws when valid frames come with bytes changed, lost or doubled", () => {
    const change = fc.record({
      at: fc.nat(),
      removed: fc.nat({ max: 3 }),
      added: fc.uint8Array({ maxLength: 3 }),
    });
    fc.assert(
      fc.property(sentFrame, fc.array(change, { maxLength: 4 }), ({ protobuf }, changes) => {
        let frame = protobuf;
        for (const { at, removed, added } of changes) {
          const start = at % (frame.length + 1);
          frame = Buffer.concat([frame.subarray(0, start), added, frame.subarray(start + removed)]);
        }
        expect(objection(protobufCodec.decodeFrame(frame))).toBeUndefined();
      }),
      { seed: 11, numRuns: 3_000 },
    );
  });

  it("[W5] reads of a frame that is cut off the commands that came whole, and calls the rest malformed", () => {
    fc.assert(
      fc.property(sentFrame, fc.nat(), ({ protobuf, commands }, at) => {
        const decoded = protobufCodec.decodeFrame(protobuf.subarray(0, at % protobuf.length));
        expect(decoded.commands).toStrictEqual(commands.slice(0, decoded.commands.length));
        expect(decoded.commands.length).toBeLessThan(commands.length);
        expect(objection(decoded)).toBeUndefined();
      }),
      { seed: 12, numRuns: 1_000 },
    );
  });

  it.each([
    ["fields that we don't know", "b80601"],
    ["the same id", "0801"],
    ["empty connects", "2200"],
    ["empty fields in one refresh", "0a00"],
    ["groups", "9b039c03"],
  ])("[W5] gets through a frame full of %s", (_, piece) => {
    const command = bytes(piece.repeat(Math.floor(65_000 / (piece.length / 2))));
    const length = Buffer.from([
      (command.length & 0x7f) | 0x80,
      ((command.length >> 7) & 0x7f) | 0x80,
      command.length >> 14,
    ]);
    expect(objection(protobufCodec.decodeFrame(Buffer.concat([length, command])))).toBeUndefined();
  });
});

/** Undefined when something came of a frame, within bounds, and what is malformed is said in words of ours. */
function objection({ commands, malformed }: DecodedFrame): string | undefined {
  if (commands.length === 0 && malformed === undefined) return "nothing came of it";
  if (commands.length > limits.frameCommandsMax) return `${commands.length} commands came of it`;
  if (malformed === undefined || /^[a-z_.]+( [A-Za-z0-9_,'-]+)*$/u.test(malformed))
    return undefined;
  return `it was called ${malformed}`;
}
