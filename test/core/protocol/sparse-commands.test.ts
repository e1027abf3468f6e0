import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import type { Command, FilterNode } from "../../../src/protocol/command.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import { sdkCodec } from "./protobuf/peers.ts";
import { withBytes } from "./random-command.ts";
import { valid } from "./valid-json-text.ts";

const node: FilterNode = { op: "", key: "", cmp: "", val: "", vals: [], nodes: [] };

const subscribe = {
  channel: "",
  token: "",
  recover: false,
  epoch: "",
  offset: 0,
  positioned: false,
  recoverable: false,
  joinLeave: false,
  delta: "",
  flag: 0,
  type: 0,
  phase: 0,
  cursor: "",
  limit: 0,
  asc: false,
};

const publish = { channel: "", type: 0, key: "", removed: false };

/** Commands whose requests have few of their fields. Random ones, elsewhere, have all of them. */
const commands: readonly (readonly [json: string, command: Command])[] = [
  ["{}", { method: "pong" }],
  [
    '{"id":1,"connect":{}}',
    {
      method: "connect",
      id: 1,
      request: { token: "", name: "", version: "", headers: new Map(), subscriptions: new Map() },
    },
  ],
  [
    '{"id":4294967295,"connect":{"subs":{"x":{"channel":"y"}},"flag":1}}',
    {
      method: "connect",
      id: 4_294_967_295,
      request: {
        token: "",
        name: "",
        version: "",
        headers: new Map(),
        subscriptions: new Map([["x", { recover: false, epoch: "", offset: 0 }]]),
      },
    },
  ],
  ['{"id":1,"subscribe":{}}', { method: "subscribe", id: 1, request: subscribe }],
  [
    '{"id":2,"subscribe":{"data":{"a":1},"tf":{"op":"and","nodes":[{"key":"k","cmp":"in","vals":["a"]}]}}}',
    {
      method: "subscribe",
      id: 2,
      request: {
        ...subscribe,
        data: valid('{"a":1}'),
        filter: { ...node, op: "and", nodes: [{ ...node, key: "k", cmp: "in", vals: ["a"] }] },
      },
    },
  ],
  [
    '{"id":2,"subscribe":{"channel":null,"token":null,"recover":null,"offset":null,"tf":null,"flag":null}}',
    { method: "subscribe", id: 2, request: subscribe },
  ],
  ['{"id":4,"publish":{}}', { method: "publish", id: 4, request: publish }],
  [
    '{"id":4,"publish":{"data":null}}',
    { method: "publish", id: 4, request: { ...publish, data: valid("null") } },
  ],
  [
    '{"id":7,"history":{}}',
    { method: "history", id: 7, request: { channel: "", limit: 0, reverse: false } },
  ],
  [
    '{"id":7,"history":{"since":{}}}',
    {
      method: "history",
      id: 7,
      request: { channel: "", limit: 0, since: { offset: 0, epoch: "" }, reverse: false },
    },
  ],
  [
    '{"id":9,"sub_refresh":{"channel":"x","track":[{"signature":"s","items":[{"key":"k","version":9223372036854775808},{}]},{}]}}',
    {
      method: "sub_refresh",
      id: 9,
      request: {
        channel: "x",
        token: "",
        type: 0,
        track: [
          {
            signature: "s",
            items: [
              { key: "k", version: 2n ** 63n },
              { key: "", version: 0n },
            ],
          },
          { signature: "", items: [] },
        ],
        untrack: [],
      },
    },
  ],
  ['{"id":10,"rpc":{}}', { method: "rpc", id: 10, request: { method: "" } }],
  ['{"id":11,"ping":{}}', { method: "ping", id: 11 }],
  ['{"send":{"data":1}}', { method: "send", id: 0, request: { data: valid("1") } }],
  ['{"id":12,"send":{}}', { method: "send", id: 12, request: {} }],
];

describe("a command", () => {
  it.each(commands)("[W1] is read from JSON: %s", (json, command) => {
    expect(jsonCodec.decodeFrame(json)).toStrictEqual({ commands: [command] });
  });

  it.each(commands)("[W5] is read as the official SDK writes it: %s", (json, command) => {
    const frame = sdkCodec.encodeCommands([withBytes(JSON.parse(json))]);
    expect(protobufCodec.decodeFrame(frame)).toStrictEqual({ commands: [command] });
  });

  it.each(commands)("[W6] is read as MessagePack's library writes it: %s", (json, command) => {
    const frame = encode(withBytes(JSON.parse(json)));
    expect(messagePackCodec.decodeFrame(frame)).toStrictEqual({ commands: [command] });
  });
});
