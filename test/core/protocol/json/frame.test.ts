import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { decodeFrame } from "../../../../src/protocol/json/decode.ts";

const ping = { method: "ping", id: 1 };
const pong = { method: "pong" };

describe("decoding a frame", () => {
  it("[W1] reads one command a line, in order", () => {
    expect(decodeFrame('{"id":1,"ping":{}}\n{}\n{"send":{}}')).toStrictEqual({
      commands: [ping, pong, { method: "send", id: 0, request: {} }],
    });
  });

  it("[W1] accepts one line break after the last command", () => {
    expect(decodeFrame("{}\n")).toStrictEqual({ commands: [pong] });
    expect(decodeFrame("{}\n{}\n")).toStrictEqual({ commands: [pong, pong] });
  });

  it.each(["", "\n"])("[W1] refuses %j as empty", (frame) => {
    expect(decodeFrame(frame)).toStrictEqual({ commands: [], malformed: "the frame is empty" });
  });

  it.each([
    ["\n{}", 0],
    ["\n\n", 0],
    ["{}\n\n", 1],
    ["{}\n\n{}", 1],
    ["{}\n{}\n\n", 2],
  ])("[C8] refuses the empty line in %j after %i commands", (frame, count) => {
    expect(decodeFrame(frame)).toStrictEqual({
      commands: Array.from({ length: count }, () => pong),
      malformed: "the frame has an empty line",
    });
  });

  it("[W1] refuses an object that spreads over lines", () => {
    expect(decodeFrame('{"id":1,\n"ping":{}}')).toStrictEqual({
      commands: [],
      malformed: "the command is not valid JSON",
    });
  });

  it("[C8] returns the commands before the malformed one, and none after it", () => {
    expect(decodeFrame('{"id":1,"ping":{}}\n{"id":2}\n{}')).toStrictEqual({
      commands: [ping],
      malformed: "the command has an id but no method",
    });
  });

  it("[B1] takes as many commands as the limit says", () => {
    const frame = Array.from({ length: limits.frameCommandsMax }, () => "{}").join("\n");
    for (const text of [frame, `${frame}\n`]) {
      const decoded = decodeFrame(text);
      expect(decoded.commands).toHaveLength(limits.frameCommandsMax);
      expect(decoded.malformed).toBeUndefined();
    }
  });

  it("[B1] refuses the command beyond the limit and returns those before", () => {
    const frame = Array.from({ length: limits.frameCommandsMax + 1 }, () => "{}").join("\n");
    const decoded = decodeFrame(frame);
    expect(decoded.commands).toHaveLength(limits.frameCommandsMax);
    expect(decoded.malformed).toBe(`the frame has over ${limits.frameCommandsMax} commands`);
  });

  it("[W2] takes a payload nested to any depth", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const { commands, malformed } = decodeFrame(`{"id":1,"publish":{"data":${deep}}}`);
    expect(malformed).toBeUndefined();
    expect(commands).toStrictEqual([
      {
        method: "publish",
        id: 1,
        request: { channel: "", data: deep, type: 0, key: "", removed: false },
      },
    ]);
  });
});
