import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { type JsonText, memberText } from "../../../../src/protocol/json/text.ts";
import { sentCommand } from "../random-command.ts";
import { jsonText } from "../random-json-text.ts";
import { textOf } from "../../../support/text-of.ts";

describe("the JSON codec", () => {
  it("[W1] pings with the empty message, which reads as a pong", () => {
    expect(jsonCodec.ping).toBe("{}");
    expect(jsonCodec.decodeFrame(jsonCodec.ping)).toStrictEqual({
      commands: [{ method: "pong" }],
    });
  });

  it("[W1] joins messages by single line breaks", () => {
    expect(jsonCodec.joinFrame(["{}"])).toBe("{}");
    expect(jsonCodec.joinFrame(['{"id":1}', "{}", '{"id":2}'])).toBe('{"id":1}\n{}\n{"id":2}');
  });

  it("[W2] passes any payload on byte for byte", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const data = text.replaceAll(/[\r\n]/g, "");
        expect(published(data)).toBe(data);
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it("[W1] reads back the fields of any command", () => {
    fc.assert(
      fc.property(fc.array(sentCommand, { minLength: 1, maxLength: 5 }), (sent) => {
        const frame = sent.map(({ wire }) => JSON.stringify(wire)).join("\n");
        expect(jsonCodec.decodeFrame(frame)).toStrictEqual({
          commands: sent.map(({ command }) => command),
        });
      }),
      { seed: 6, numRuns: 500 },
    );
  });

  it("[W1] never throws, whatever a frame says", () => {
    const fragments = fc.constantFrom(
      '{"id":1,',
      '"publish":',
      '{"data":',
      "{",
      "}",
      "[",
      '"',
      "\\",
      ",",
      ":",
      "\n",
      "null",
      "1",
      "{}",
    );
    const frames = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fragments }),
      jsonText,
    );
    fc.assert(
      fc.property(frames, (frame) => {
        const { commands, malformed } = jsonCodec.decodeFrame(frame);
        expect(commands.length > 0 || malformed !== undefined).toBe(true);
      }),
      { seed: 7, numRuns: 3_000 },
    );
  });
});

/** Takes a payload the whole way: a client's command in, a push out, and what an SDK finds in it. */
function published(data: string): JsonText | undefined {
  const frame = `{"id":1,"publish":{"channel":"x","data":${data}}}`;
  const [command] = jsonCodec.decodeFrame(frame).commands;
  if (command?.method !== "publish" || command.request.data === undefined) return undefined;
  const publication = { data: command.request.data, offset: 1, epoch: "e" };
  const push = jsonCodec.encodePush({ type: "publication", channel: "x", publication });
  return memberText(textOf(push), "push", "pub", "data");
}
