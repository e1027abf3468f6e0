import { describe, expect, it } from "vitest";
import { parseLegacy } from "../../../src/api/legacy.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const backend = caller();
const parse = (body: string) => parseLegacy(body, backend);

describe("a legacy body", () => {
  it("[W3][W2] has a command on each line, with its id and its data byte for byte", () => {
    const body = `{"id":1,"method":"publish","params":{"channel":"a","data":{"n":1.00}}}
{"id":4294967295,"method":"broadcast","params":{"channels":["a","b"],"data":2}}`;
    expect(parse(body)).toMatchObject({
      outcome: "lines",
      lines: [
        {
          id: 1,
          command: { method: "publish", entry: { command: { request: { data: `{"n":1.00}` } } } },
        },
        { id: 4294967295, command: { form: "broadcast", entries: [{}, {}] } },
      ],
    });
  });

  it.each([
    ["a trailing line break", `{"id":1,"method":"presence","params":{"channel":"a"}}\n`],
    [
      "line breaks of two characters",
      `\r\n{"id":1,"method":"presence","params":{"channel":"a"}}\r\n`,
    ],
  ])("[W1] may have %s", (_, body) => {
    expect(parse(body)).toStrictEqual({
      outcome: "lines",
      lines: [
        {
          id: 1,
          command: {
            form: "single",
            method: "presence",
            entry: { outcome: "call", channel: "a", command: { method: "presence" } },
          },
        },
      ],
    });
  });

  it.each([`{"method":"presence"}`, `{"id":null,"method":"presence","params":null}`])(
    "[W1] may lack id and params: %s",
    (body) => {
      expect(parse(body)).toMatchObject({
        outcome: "lines",
        lines: [{ id: 0, command: { entry: { outcome: "refused", error: { code: 107 } } } }],
      });
    },
  );

  it.each([
    ["", "the body contains no command"],
    [" \n\r\n", "the body contains no command"],
    [`{"id":1,"method":"presence"}\n{"id":`, "line 2: not valid JSON"],
    [`{"id":1,"method":"presence"}{"id":2,"method":"presence"}`, "line 1: not valid JSON"],
    ["[]", "line 1: the request must be an object"],
    [`{"id":1}`, "line 1: unknown method"],
    [
      `{"id":1,"method":"device_list"}`,
      "line 1: device_list is a method of Centrifugo that Dormouse doesn't have yet",
    ],
    [`{"id":1,"method":"batch"}`, "line 1: unknown method"],
    [`{"id":-1,"method":"presence"}`, "line 1: the field id must be an unsigned 32 bit integer"],
    [`{"id":1,"method":"presence","params":[]}`, "line 1: the field params must be an object"],
    [
      `{"method":"presence"}\n\n{"method":"presence","params":{"channel":1}}`,
      "line 3: params: the field channel must be a string",
    ],
  ])("[W4] is malformed as a whole: %j", (body, detail) => {
    expect(parse(body)).toStrictEqual({ outcome: "malformed", detail });
  });

  it("[W9] answers an rpc for itself", () => {
    const body = `{"id":1,"method":"rpc","params":{"method":"m"}}\n{"id":2,"method":"rpc"}`;
    expect(parse(body)).toMatchObject({
      lines: [
        { id: 1, command: { entry: { outcome: "refused", error: { code: 104 } } } },
        { id: 2, command: { entry: { outcome: "refused", error: { code: 107 } } } },
      ],
    });
  });

  it("[B1] takes as many lines as the limit says and no more", () => {
    const line = `{"method":"presence"}\n`;
    expect(parse(line.repeat(limits.requestCommandsMax)).outcome).toBe("lines");
    expect(parse(line.repeat(limits.requestCommandsMax + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
    });
  });
});
