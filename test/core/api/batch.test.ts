import { describe, expect, it } from "vitest";
import { parseBatch } from "../../../src/api/batch.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const backend = caller();
const parse = (request: string) => parseBatch(request, backend);

function batchOf(commandCount: number): string {
  return JSON.stringify({
    commands: Array.from({ length: commandCount }, () => ({ presence: {} })),
  });
}

describe("a batch request", () => {
  it("[W3][W2] has its commands in order, with data taken over byte for byte", () => {
    const request = `{"parallel":true,"commands":[
      {"publish":{"channel":"a","data":{"n":1.00,"n":12345678901234567890},"version":18446744073709551615}},
      {"id":3,"history":{"channel":"a","limit":-1},"presence":null},
      {"broadcast":{"channels":["a","b"],"data":[1.0]}},
      {"presence_stats":{}}]}`;
    expect(parse(request)).toMatchObject({
      outcome: "batch",
      commands: [
        {
          method: "publish",
          entry: {
            command: {
              request: {
                data: `{"n":1.00,"n":12345678901234567890}`,
                version: 18446744073709551615n,
              },
            },
          },
        },
        { method: "history", entry: { channel: "a", command: { request: { limit: -1 } } } },
        {
          form: "broadcast",
          entries: [
            { channel: "a", command: { request: { data: "[1.0]" } } },
            { channel: "b", command: { request: { data: "[1.0]" } } },
          ],
        },
        { method: "presence_stats", entry: { outcome: "refused", error: { code: 107 } } },
      ],
    });
  });

  it.each(["{}", `{"commands":null}`, `{"commands":[]}`])("[W1] may be empty: %s", (request) => {
    expect(parse(request)).toStrictEqual({ outcome: "batch", commands: [] });
  });

  it.each([
    ["[]", "the request must be an object"],
    [`{"commands":{}}`, "the field commands must be an array"],
    [`{"parallel":1}`, "the field parallel must be a boolean"],
    [`{"commands":[1]}`, "commands[0]: the request must be an object"],
    [`{"commands":[{"rpc":{"method":1}}]}`, "commands[0]: rpc: the field method must be a string"],
    [`{"commands":[null]}`, "commands[0]: the request must be an object"],
    [
      `{"commands":[{"presence":{"channel":"a"}},{"publish":{},"presence":{}}]}`,
      "commands[1]: the command names more than one method",
    ],
    [
      `{"commands":[{"presence":{},"rpc":{}}]}`,
      "commands[0]: the command names more than one method",
    ],
    [
      `{"commands":[{"presence":{"channel":"a"}},{"publish":{"channel":1}}]}`,
      "commands[1]: publish: the field channel must be a string",
    ],
    [`{"commands":[{"publish":[]}]}`, "commands[0]: publish: the request must be an object"],
  ])("[W4] is malformed as a whole: %s", (request, detail) => {
    expect(parse(request)).toStrictEqual({ outcome: "malformed", detail });
  });

  it.each([
    ["{}", "unknown", 104, "unknown method"],
    [`{"publish":null}`, "unknown", 104, "unknown method"],
    [`{"invent":[]}`, "unknown", 104, "unknown method"],
    [`{"unknown":1}`, "unknown", 104, "unknown method"],
    [`{"batch":{}}`, "unknown", 104, "unknown method"],
    [`{"events":{"object":"home/1"}}`, "unknown", 104, "unknown method"],
    [
      `{"device_list":{}}`,
      "unknown",
      104,
      "device_list is a method of Centrifugo that Dormouse doesn't have yet",
    ],
    [
      `{"rpc":{"method":"m","params":[1]}}`,
      "rpc",
      104,
      "rpc is a method of Centrifugo that Dormouse doesn't have yet",
    ],
    [`{"rpc":{}}`, "rpc", 107, "method is required"],
  ])("[W9] answers a command without a method for itself: %s", (element, method, code, detail) => {
    const request = `{"commands":[{"presence":{"channel":"a"}},${element},{"presence":{"channel":"b"}}]}`;
    expect(parse(request)).toMatchObject({
      outcome: "batch",
      commands: [
        { entry: { outcome: "call", channel: "a" } },
        { method, entry: { outcome: "refused", error: { code }, detail } },
        { entry: { outcome: "call", channel: "b" } },
      ],
    });
  });

  it("[B1] takes as many commands as the limit says and no more", () => {
    expect(parse(batchOf(limits.requestCommandsMax)).outcome).toBe("batch");
    expect(parse(batchOf(limits.requestCommandsMax + 1))).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
      detail: "the request has more than 10000 commands",
    });
  });
});
