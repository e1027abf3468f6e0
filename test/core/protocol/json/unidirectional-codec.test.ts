import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../../src/protocol/codec.ts";
import { codecNamed } from "../../../../src/protocol/codecs.ts";
import { disconnectCodes, unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { unidirectionalCodec } from "../../../../src/protocol/json/codec.ts";
import { jsonText } from "../random-json-text.ts";
import { valid } from "../valid-json-text.ts";

const nothingNamed = {
  token: "",
  name: "",
  version: "",
  headers: new Map(),
  subscriptions: new Map(),
};

/** The request of the only command in a frame. */
function requestOf(frame: Message): unknown {
  const { commands, malformed } = unidirectionalCodec.decodeFrame(frame);
  expect(malformed).toBeUndefined();
  const [command] = commands;
  expect(commands).toHaveLength(1);
  expect(command).toMatchObject({ method: "connect", id: 1 });
  return command !== undefined && "request" in command ? command.request : undefined;
}

describe("the frame of a unidirectional client", () => {
  it.each([
    ["nothing", ""],
    ["white space", " \r\n\t"],
    ["an empty object", "{}"],
  ])("[C11] may say nothing: %s", (_, frame) => {
    expect(requestOf(frame)).toStrictEqual(nothingNamed);
  });

  it("[C11] is a connect's request, on any number of lines, as text or bytes", () => {
    const frame = `{\r\n"token": "t",\n"name":"n","version":"9","data":{"a":1},"headers":{"a":"b"},
      "subs":{"news":{"recover":true,"epoch":"e","offset":7},"room":{}}}`;
    const request = {
      token: "t",
      data: '{"a":1}',
      name: "n",
      version: "9",
      headers: new Map([["a", "b"]]),
      subscriptions: new Map([
        ["news", { recover: true, epoch: "e", offset: 7 }],
        ["room", { recover: false, epoch: "", offset: 0 }],
      ]),
    };
    expect(requestOf(frame)).toStrictEqual(request);
    expect(requestOf(Buffer.from(frame))).toStrictEqual(request);
  });

  it.each([
    `{}}`,
    `{}},"subscribe":{"channel":"a"}`,
    `{},"subscribe":{"channel":"a"}`,
    `{}}\n{"id":2,"subscribe":{"channel":"a"}}`,
    `{}\n{"id":2,"subscribe":{"channel":"a"}}`,
    `{"id":2,"publish":{"channel":"a","data":1}}, {`,
    `null,"publish":{}`,
    `/**/{}`,
    `{"token":"a"`,
    `{"token":"\u0000"}`,
    `\uFEFF{}`,
  ])("[C11] can't get out of the connect: %s", (frame) => {
    expect(unidirectionalCodec.decodeFrame(frame)).toStrictEqual({
      commands: [],
      malformed: "the request is not valid JSON",
    });
  });

  it("[C11] names no other method, whatever it is called like", () => {
    const frame = `{"id":7,"subscribe":{"channel":"a"},"publish":{},"connect":{"token":"x"},"__proto__":{"token":"y"}}`;
    expect(requestOf(frame)).toStrictEqual(nothingNamed);
    expect(requestOf(`{"token":"a","token":"b"}`)).toStrictEqual({ ...nothingNamed, token: "b" });
  });

  it.each([`null`, `[]`, `"{}"`, `7`, `true`, `[{"token":"a"}]`])(
    "[C8] is malformed when it is no object: %s",
    (frame) => {
      expect(unidirectionalCodec.decodeFrame(frame)).toStrictEqual({
        commands: [],
        malformed: "the request is not an object",
      });
    },
  );

  it("[C8] is malformed when a field is of another type, and doesn't quote it", () => {
    for (const frame of [
      `{"token":["secret"]}`,
      `{"subs":{"secret":7}}`,
      `{"subs":["secret"]}`,
      `{"subs":{"secret":{"offset":-1}}}`,
    ]) {
      const { commands, malformed } = unidirectionalCodec.decodeFrame(frame);
      expect(commands).toStrictEqual([]);
      expect(malformed).toMatch(/^connect\./);
      expect(malformed).not.toContain("secret");
    }
    expect(unidirectionalCodec.decodeFrame(Uint8Array.of(0x7b, 0xff, 0x7d)).malformed).toBe(
      "the frame is not valid UTF-8",
    );
  });

  it("[C8] is a connect or malformed, and nothing else, whatever stands in it", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "{",
        "}",
        "{}",
        `"id":2`,
        `"subscribe":`,
        `"channel":"a"`,
        ",",
        ":",
        "\n",
        "\r",
      ),
      fc.constantFrom("\u2028", "\uFEFF", "\\", `"`, "//", "null", `"subs":`, `"token":"x"`),
      jsonText,
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { commands, malformed } = unidirectionalCodec.decodeFrame(pieces.join(""));
        expect(commands).toHaveLength(malformed === undefined ? 1 : 0);
        for (const command of commands) expect(command.method).toBe("connect");
      }),
      { seed: 20_261_121, numRuns: 1_000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (frame) => {
        const { commands, malformed } = unidirectionalCodec.decodeFrame(frame);
        expect(commands).toHaveLength(malformed === undefined ? 1 : 0);
      }),
    );
  });
});

describe("a message to a unidirectional client", () => {
  const position = { epoch: "e", offset: 3 };
  const subscription = {
    ttlSeconds: 0,
    recoverable: true,
    positioned: true,
    wasRecovering: true,
    recovered: true,
    publications: [{ data: valid(`{"a":1.0}`), offset: 4 }],
    position,
  };

  it("[W1] of its connect is a push", () => {
    const result = {
      client: "c1",
      version: "9",
      ttlSeconds: 60,
      pingSeconds: 25,
      pong: false,
      timeMs: 5,
      session: "s",
      subscriptions: new Map([["news", subscription]]),
    };
    for (const id of [1, 4_294_967_295]) {
      expect(unidirectionalCodec.encodeReply({ id, method: "connect", result })).toBe(
        `{"connect":{"client":"c1","version":"9","expires":true,"ttl":60,"subs":{"news":{"recoverable":true,"epoch":"e","publications":[{"data":{"a":1.0},"offset":4}],"recovered":true,"offset":3,"positioned":true,"was_recovering":true}},"ping":25,"session":"s","time":5}}`,
      );
    }
  });

  it("[W1] of a channel has no wrapper", () => {
    const info = { user: "42", client: "c" };
    const publication = { data: valid(`[1.0]`), offset: 2, info, tags: { a: "b" } };
    expect(
      unidirectionalCodec.encodePush({ type: "publication", channel: `"x`, publication }),
    ).toBe(
      `{"channel":"\\"x","pub":{"data":[1.0],"info":{"user":"42","client":"c"},"offset":2,"tags":{"a":"b"}}}`,
    );
    const bytes = { data: Uint8Array.of(0, 255), offset: 0 };
    expect(
      unidirectionalCodec.encodePush({ type: "publication", channel: "x", publication: bytes }),
    ).toBe(`{"channel":"x","pub":{"data":"AP8="}}`);
    for (const type of ["join", "leave"] as const) {
      expect(unidirectionalCodec.encodePush({ type, channel: "x", info })).toBe(
        `{"channel":"x","${type}":{"info":{"user":"42","client":"c"}}}`,
      );
    }
    const code = unsubscribeCodes.insufficientState;
    expect(unidirectionalCodec.encodePush({ type: "unsubscribe", channel: "x", code })).toBe(
      `{"channel":"x","unsubscribe":{"code":2500,"reason":"insufficient state"}}`,
    );
  });

  it("[W1] of the connection itself has none either", () => {
    const code = disconnectCodes.invalidToken;
    expect(unidirectionalCodec.encodePush({ type: "disconnect", code })).toBe(
      `{"disconnect":{"code":3500,"reason":"invalid token"}}`,
    );
    expect(unidirectionalCodec.ping).toBe("{}");
    expect(unidirectionalCodec.joinFrame([`{"a":1}`])).toBe(`{"a":1}`);
    expect(unidirectionalCodec.joinFrame([`{"a":1}`, `{"b":2}`])).toBe(`{"a":1}\n{"b":2}`);
  });

  it("[V1] is this codec by its name", () => {
    expect(codecNamed("one_way")).toBe(unidirectionalCodec);
    expect(codecNamed().name).toBe("json");
    for (const name of ["json", "protobuf", "msgpack"] as const) {
      expect(codecNamed(name).name).toBe(name);
    }
  });
});
