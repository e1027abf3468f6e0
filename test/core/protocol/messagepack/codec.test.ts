import * as fc from "fast-check";
import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../../src/protocol/messagepack/codec.ts";
import { depthMax } from "../../../../src/protocol/messagepack/value.ts";
import { fromHex, toHex } from "./hex.ts";
import { sentCommand, withBytes } from "../random-command.ts";

describe("the MessagePack codec", () => {
  it("[W6] pings with the empty map, which reads as a pong", () => {
    expect(messagePackCodec.ping).toStrictEqual(fromHex("80"));
    expect(messagePackCodec.decodeFrame(messagePackCodec.ping)).toStrictEqual({
      commands: [{ method: "pong" }],
    });
  });

  it("[W6] joins messages with nothing between them", () => {
    const [one, other] = [fromHex("81 a26964 01"), fromHex("80")];
    expect(messagePackCodec.joinFrame([one])).toStrictEqual(one);
    expect(messagePackCodec.joinFrame([one, other, one])).toStrictEqual(
      fromHex("81a2696401 80 81a2696401"),
    );
  });

  it("[W6] refuses text and empty frames", () => {
    for (const [frame, malformed] of [
      ["", "the frame is not binary"],
      ["{}", "the frame is not binary"],
      [new Uint8Array(), "the frame is empty"],
    ] as const) {
      expect(messagePackCodec.decodeFrame(frame)).toStrictEqual({ commands: [], malformed });
    }
  });

  it("[W6] reads any command as it is read in JSON", () => {
    const commands = fc.array(
      sentCommand.map(({ wire }) => withoutProto(wire)),
      {
        minLength: 1,
        maxLength: 5,
      },
    );
    fc.assert(
      fc.property(commands, (sent) => {
        const json = sent.map((wire) => JSON.stringify(wire)).join("\n");
        const frame = messagePackCodec.joinFrame(sent.map(encodeAsClient));
        expect(messagePackCodec.decodeFrame(frame)).toStrictEqual(jsonCodec.decodeFrame(json));
      }),
      { seed: 61, numRuns: 500 },
    );
  });

  it("[W2] passes any payload on byte for byte", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        const frame = encode({ id: 1, publish: { channel: "x", data } });
        const [command] = messagePackCodec.decodeFrame(frame).commands;
        if (command?.method !== "publish" || command.request.data === undefined) {
          throw new Error("no payload came");
        }
        const publication = { data: command.request.data, offset: 0 };
        const push = messagePackCodec.encodePush({
          type: "publication",
          channel: "x",
          publication,
        });
        expect(toHex(push)).toBe(toHex(encode({ push: { channel: "x", pub: { data } } })));
      }),
      { seed: 62, numRuns: 500 },
    );
  });
});

describe("hostile MessagePack", () => {
  it("[W6] never throws, whatever bytes come", () => {
    const head = fc.constantFrom(0x80, 0x81, 0x91, 0xa1, 0xc0, 0xc4, 0xc7, 0xcf, 0xd9, 0xdc, 0xdf);
    const frames = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .array(fc.oneof(head, fc.nat(255)), { maxLength: 200 })
        .map((bytes) => Uint8Array.from(bytes)),
    );
    fc.assert(
      fc.property(frames, (frame) => {
        const { commands, malformed } = messagePackCodec.decodeFrame(frame);
        expect(commands.length > 0 || malformed !== undefined).toBe(true);
      }),
      { seed: 63, numRuns: 3_000 },
    );
  });

  it("[W6] never throws over a frame that lost or changed some bytes", () => {
    const mutation = fc.record({ at: fc.nat(), byte: fc.nat(255), isCut: fc.boolean() });
    fc.assert(
      fc.property(sentCommand, fc.array(mutation, { maxLength: 3 }), ({ wire }, mutations) => {
        let frame = encodeAsClient(wire);
        for (const { at, byte, isCut } of mutations) {
          if (isCut) frame = frame.slice(0, at % (frame.length + 1));
          else if (frame.length > 0) frame[at % frame.length] = byte;
        }
        const { commands, malformed } = messagePackCodec.decodeFrame(frame);
        expect(commands.length > 0 || malformed !== undefined).toBe(true);
      }),
      { seed: 64, numRuns: 2_000 },
    );
  });

  // What builds as it reads takes half a megabyte for each of the third kind's levels, of which a frame holds 21,845.
  it.each([
    ["arrays", "91"],
    ["maps", "81 a0"],
    ["arrays that state 65,535 elements", "dc ffff"],
    ["arrays that state 4 billion elements", "dd ffffffff"],
    ["maps that state 4 billion entries", "df ffffffff a0"],
  ])("[W6] refuses %s in each other as deep as a frame allows", (_, hex) => {
    const level = fromHex(hex);
    const levels = Math.floor(limits.frameBytesMax / level.length);
    const frame = fromHex(toHex(level).repeat(levels));
    expect(messagePackCodec.decodeFrame(frame)).toStrictEqual({
      commands: [],
      malformed: "the command is not valid MessagePack",
    });
  });

  it("[W6] reads what is as deep as the limit, and nothing deeper", () => {
    expect(complaint(depthMax - 1)).toBeUndefined();
    expect(complaint(depthMax)).toBe("the command is not valid MessagePack");
  });
});

/** What is wrong with a command that has so many arrays in each other. */
function complaint(arrays: number): string | undefined {
  return messagePackCodec.decodeFrame(fromHex(`81a161${"91".repeat(arrays - 1)}90`)).malformed;
}

/** The library refuses the key that names an object's prototype; JSON has it for a name like any other. */
function withoutProto(wire: object): object {
  const text = JSON.stringify(wire).replaceAll('"__proto__":', '"proto":');
  return JSON.parse(text);
}

function encodeAsClient(wire: object): Uint8Array {
  return encode(withBytes(wire), { ignoreUndefined: true });
}
