import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import type { Command, ConnectRequest } from "../../../../src/protocol/command.ts";
import { decodeCommand } from "../../../../src/protocol/json/decode.ts";

const absentConnect: ConnectRequest = {
  token: "",
  name: "",
  version: "",
  headers: new Map(),
  subscriptions: new Map(),
};
const absentServerSubscription = { recover: false, epoch: "", offset: 0 };

const absentPublish = { channel: "", type: 0, key: "", removed: false };

describe("decoding a command", () => {
  it.each<[string, Command]>([
    ['{"id":0}', { method: "pong" }],
    ['{"id":null,"connect":null}', { method: "pong" }],
    ['{"unknown":1}', { method: "pong" }],
    [' { "id" : 13 , "ping" : { } }\r', { method: "ping", id: 13 }],
    [
      String.raw`{"id":14,"ref\u0072esh":{}}`,
      { method: "refresh", id: 14, request: { token: "" } },
    ],
    ['{"id":1,"ping":{},"id":15}', { method: "ping", id: 15 }],
  ])("[W1] reads %s", (line, command) => {
    expect(decodeCommand(line)).toStrictEqual({ outcome: "command", command });
  });

  it.each([
    ["", "the command is not valid JSON"],
    [" ", "the command is not valid JSON"],
    ["{", "the command is not valid JSON"],
    ['{"id":1,"connect":{"data":{1}}}', "the command is not valid JSON"],
    ["{}{}", "the command is not valid JSON"],
    ["null", "the command is not an object"],
    ["[]", "the command is not an object"],
    ['"{}"', "the command is not an object"],
    ["1", "the command is not an object"],
    ['{"id":1}', "the command has an id but no method"],
    ['{"id":1,"unknown":{}}', "the command has an id but no method"],
    ['{"id":1,"connect":null}', "the command has an id but no method"],
    ['{"connect":{}}', "connect has no id"],
    ['{"id":0,"subscribe":{}}', "subscribe has no id"],
    ['{"ping":{}}', "ping has no id"],
    ['{"rpc":{}}', "rpc has no id"],
    ['{"id":1,"connect":{},"subscribe":{}}', "the command has more than one method"],
    ['{"send":{},"ping":{}}', "the command has more than one method"],
  ])("[W1] calls %s malformed: %s", (line, reason) => {
    expect(decodeCommand(line)).toStrictEqual({ outcome: "malformed", reason });
  });

  it.each(["-1", "1.5", '"1"', "true", "[]", "{}", "1e400"])("[W1] refuses the id %s", (id) => {
    expect(decodeCommand(`{"id":${id},"ping":{}}`)).toStrictEqual({
      outcome: "malformed",
      reason: "id is not an unsigned integer",
    });
  });

  it("[W1] refuses an id beyond 32 bits", () => {
    expect(decodeCommand('{"id":4294967296,"ping":{}}')).toStrictEqual({
      outcome: "malformed",
      reason: "id is out of range",
    });
  });

  it.each([
    "connect",
    "subscribe",
    "unsubscribe",
    "publish",
    "presence",
    "presence_stats",
    "history",
    "ping",
    "send",
    "rpc",
    "refresh",
    "sub_refresh",
  ])("[W1] refuses a %s request that is not an object", (method) => {
    for (const request of ['""', "1", "true", "false", "0", "[]"]) {
      expect(decodeCommand(`{"id":1,"${method}":${request}}`)).toStrictEqual({
        outcome: "malformed",
        reason: `${method} is not an object`,
      });
    }
  });

  // A field of each kind; random commands show of which kind each field is.
  it.each([
    ["connect.token", "is not a string", ["1", "true", "{}", "[]"]],
    ["connect.subs", "is not an object", ["1", '""', "[]", "true"]],
    ["subscribe.recover", "is not a boolean", ["0", "1", '"true"', "{}"]],
    ["subscribe.offset", "is not an unsigned integer", ["-1", "0.5", '"1"', "false", "1e400"]],
    ["subscribe.offset", "is out of range", ["9007199254740992", "18446744073709551615"]],
    ["subscribe.flag", "is not an integer", ["0.5", '"1"']],
    ["subscribe.flag", "is out of range", ["9007199254740992", "-9007199254740992"]],
    ["subscribe.type", "is not an integer", ["0.5", '"1"']],
    ["subscribe.type", "is out of range", ["2147483648", "-2147483649"]],
    [
      "subscribe.cursor",
      `exceeds ${limits.mapCursorBytesMax} bytes`,
      [JSON.stringify("é".repeat(limits.mapCursorBytesMax / 2 + 1))],
    ],
    ["history.since", "is not an object", ["1", '""', "[]", "false"]],
    ["sub_refresh.track", "is not an array", ["{}"]],
    ["sub_refresh.track", "has an entry that is not an object", ["[1]"]],
    ["sub_refresh.untrack", "has an entry that is not a string", ["[1]"]],
  ])("[W1] refuses %s that %s", (field, complaint, values) => {
    const [method, name] = field.split(".");
    for (const value of values) {
      expect(decodeCommand(`{"id":1,"${method}":{"${name}":${value}}}`)).toStrictEqual({
        outcome: "malformed",
        reason: `${field} ${complaint}`,
      });
    }
  });

  it.each([
    ['{"offset":-1}', "history.since.offset is not an unsigned integer"],
    ['{"offset":9007199254740992}', "history.since.offset is out of range"],
    ['{"epoch":1}', "history.since.epoch is not a string"],
  ])("[W1] refuses history since %s", (since, reason) => {
    expect(decodeCommand(`{"id":1,"history":{"since":${since}}}`)).toStrictEqual({
      outcome: "malformed",
      reason,
    });
  });

  it.each([
    ["1", "connect.headers is not an object"],
    ['{"a":1}', "connect.headers has an entry that is not a string"],
    [
      JSON.stringify(Object.fromEntries(manyNames(limits.hookHeadersMax + 1))),
      `connect.headers has over ${limits.hookHeadersMax} entries`,
    ],
  ])("[W1] refuses connect headers %.40s", (headers, reason) => {
    expect(decodeCommand(`{"id":1,"connect":{"headers":${headers}}}`)).toStrictEqual({
      outcome: "malformed",
      reason,
    });
  });

  it.each<[string, ConnectRequest["subscriptions"]]>([
    ["null", new Map()],
    ["{}", new Map()],
    ['{"x":{}}', new Map([["x", absentServerSubscription]])],
    ['{"x":null}', new Map()],
    [
      '{"x":{"recover":null,"epoch":null,"offset":null}}',
      new Map([["x", absentServerSubscription]]),
    ],
    [
      '{"a":{"recover":true,"epoch":"e","offset":7},"b":{"offset":1}}',
      new Map([
        ["a", { recover: true, epoch: "e", offset: 7 }],
        ["b", { recover: false, epoch: "", offset: 1 }],
      ]),
    ],
    [
      '{"x":{"recover":true},"x":{"epoch":"e"}}',
      new Map([["x", { ...absentServerSubscription, epoch: "e" }]]),
    ],
    [
      '{"__proto__":{"recover":true,"offset":3},"constructor":{"epoch":"e"},"":{}}',
      new Map([
        ["__proto__", { recover: true, epoch: "", offset: 3 }],
        ["constructor", { recover: false, epoch: "e", offset: 0 }],
        ["", absentServerSubscription],
      ]),
    ],
    [
      '{"x":{"__proto__":{"recover":true,"epoch":"e","offset":1}}}',
      new Map([["x", absentServerSubscription]]),
    ],
  ])("[W1] reads the subscriptions %s of a connect", (subs, subscriptions) => {
    expect(decodeCommand(`{"id":1,"connect":{"subs":${subs}}}`)).toStrictEqual({
      outcome: "command",
      command: { method: "connect", id: 1, request: { ...absentConnect, subscriptions } },
    });
    expect({}).not.toHaveProperty("recover");
  });

  it.each([
    ['{"secret":1}', "connect.subs has an entry that is not an object"],
    ['{"secret":[]}', "connect.subs has an entry that is not an object"],
    ['{"secret":{"recover":1}}', "connect.subs.recover is not a boolean"],
    ['{"a":{},"secret":{"epoch":{}}}', "connect.subs.epoch is not a string"],
    ['{"secret":{"offset":-1}}', "connect.subs.offset is not an unsigned integer"],
    ['{"secret":{"offset":9007199254740992}}', "connect.subs.offset is out of range"],
    ['{"__proto__":{"recover":1}}', "connect.subs.recover is not a boolean"],
  ])("[W1] refuses the subscriptions %s of a connect, and names no channel", (subs, reason) => {
    expect(decodeCommand(`{"id":1,"connect":{"subs":${subs}}}`)).toStrictEqual({
      outcome: "malformed",
      reason,
    });
  });

  it("[B1] takes as many subscriptions as a connection can have, and no more", () => {
    const most = decodeConnectWith(limits.channelLimitMax);
    if (most.outcome !== "command" || most.command.method !== "connect") {
      throw new Error("the connect was not read");
    }
    expect(most.command.request.subscriptions.size).toBe(limits.channelLimitMax);
    expect(decodeConnectWith(limits.channelLimitMax + 1)).toStrictEqual({
      outcome: "malformed",
      reason: `connect.subs has over ${limits.channelLimitMax} entries`,
    });
  });

  it("[W1] [A7] names the first of several bad fields and quotes no value", () => {
    const line = '{"id":1,"connect":{"token":["secret"],"name":7}}';
    expect(decodeCommand(line)).toStrictEqual({
      outcome: "malformed",
      reason: "connect.token is not a string",
    });
  });

  it("[W2] takes the data of the publish that JSON.parse takes", () => {
    const line = '{"publish":{"data":1},"id":1,"publish":{"channel":"x"}}';
    expect(decodeCommand(line)).toStrictEqual({
      outcome: "command",
      command: { method: "publish", id: 1, request: { ...absentPublish, channel: "x" } },
    });
  });

  it("[W1] reads no field that JavaScript objects inherit, nor one called __proto__", () => {
    const line = '{"__proto__":{"id":1,"ping":{}},"constructor":{}}';
    expect(decodeCommand(line)).toStrictEqual({ outcome: "command", command: { method: "pong" } });
  });
});

/** A connect with so many subscriptions, decoded. */
function decodeConnectWith(count: number) {
  const members = Array.from({ length: count }, (_, index) => `"c${index}":{}`);
  return decodeCommand(`{"id":1,"connect":{"subs":{${members.join(",")}}}}`);
}

function manyNames(count: number): readonly [string, string][] {
  return Array.from({ length: count }, (_, index) => [`x-${index}`, "v"]);
}
