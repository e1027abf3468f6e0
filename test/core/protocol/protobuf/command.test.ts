import { Writer } from "protobufjs";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { decodeCommand, decodeFrame } from "../../../../src/protocol/protobuf/codec.ts";
import { bytes, proto } from "./peers.ts";

const commandType = proto.lookupType("Command");

/** A command of client.proto as bytes, without its length. */
function written(command: object): Uint8Array {
  return commandType.encode(commandType.create(command)).finish();
}

describe("decoding a command from Protobuf", () => {
  it("[W5] takes bytes that aren't JSON as they are, and doesn't keep the frame for them", () => {
    const frame = bytes("0b 0804 3a07 0a0178 1202 ff00");
    const [command] = decodeFrame(frame).commands;
    expect(command).toStrictEqual({
      method: "publish",
      id: 4,
      request: { channel: "x", data: bytes("ff00"), type: 0, key: "", removed: false },
    });
    if (command?.method !== "publish" || typeof command.request.data !== "object") return;
    expect(command.request.data.buffer.byteLength).toBe(2);
  });

  it.each([
    ["0804 3a05 0a0178 1200", "empty"],
    ["0804 3a03 0a0178", "absent"],
  ])("[W5] takes %s for a publish request whose data is %s", (command) => {
    expect(decodeCommand(bytes(command))).toStrictEqual({
      outcome: "command",
      command: {
        method: "publish",
        id: 4,
        request: { channel: "x", type: 0, key: "", removed: false },
      },
    });
  });

  it.each([
    ["the last of two texts", "0801 7206 0a0161 0a0162", { token: "b" }],
    ["the last of two ids", "0807 0801 7203 0a0162", { token: "b" }],
    [
      "unknown fields of every kind",
      "0801 9803 05 9a03 0161 9d03 00000000 9903 0000000000000000 9b03 0805 9c03 7203 0a0162",
      { token: "b" },
    ],
    ["an id with needless bytes", "08 8180808000 7203 0a0162", { token: "b" }],
  ])("[W5] takes %s", (_, command, request) => {
    expect(decodeCommand(bytes(command))).toStrictEqual({
      outcome: "command",
      command: { method: "refresh", id: 1, request },
    });
  });

  it("[W5] merges the parts of a message that comes twice", () => {
    expect(decodeCommand(bytes("0801 7a06 0a0161 120174 7a03 0a0162"))).toStrictEqual({
      outcome: "command",
      command: {
        method: "sub_refresh",
        id: 1,
        request: { channel: "b", token: "t", type: 0, track: [], untrack: [] },
      },
    });
  });

  it("[W5] takes the last of two subscriptions of the same channel", () => {
    const command = "0801 2212 1a07 0a0178 1202 1801 1a07 0a0178 1202 3805";
    expect(decodeCommand(bytes(command))).toMatchObject({
      command: {
        request: { subscriptions: new Map([["x", { recover: false, epoch: "", offset: 5 }]]) },
      },
    });
  });

  it.each([
    ["08", "the command is not valid Protobuf"],
    ["0801 72", "the command is not valid Protobuf"],
    ["0801 7201", "the command is not valid Protobuf"],
    ["0801 72 ffffffff0f 00", "the command is not valid Protobuf"],
    ["0801 72 808080801000", "the command is not valid Protobuf"],
    ["08 ffffffffffffffffffff01", "the command is not valid Protobuf"],
    ["00", "the command is not valid Protobuf"],
    ["0801 74", "the command is not valid Protobuf"],
    ["0801 73", "the command is not valid Protobuf"],
    ["0801 7f", "the command is not valid Protobuf"],
    ["0801 9d03 0000", "the command is not valid Protobuf"],
    ["0801 7202 0a05", "refresh is not valid Protobuf"],
    ["0a00 7200", "id is not an unsigned integer"],
    ["08 8080808010 7200", "id is out of range"],
    ["08 ffffffffffffffffff01 7200", "id is out of range"],
    ["0801", "the command has an id but no method"],
    ["0801 b20600", "the command has an id but no method"],
    ["2200", "connect has no id"],
    ["0800 2a00", "subscribe has no id"],
    ["5a00", "ping has no id"],
    ["6a00", "rpc has no id"],
    ["0801 2200 2a00", "the command has more than one method"],
    ["6200 5a00", "the command has more than one method"],
    ["0801 7202 0801", "refresh.token is not a string"],
    ["0801 7204 0a02 c328", "refresh.token is not valid UTF-8"],
    ["0801 2a04 0a02 c328", "subscribe.channel is not valid UTF-8"],
    ["0801 2a05 0a03 eda080", "subscribe.channel is not valid UTF-8"],
    ["0801 2a02 1a00", "subscribe.recover is not a boolean"],
    ["0801 2a09 38 8080808080808010", "subscribe.offset is out of range"],
    ["0801 2a0b 38 ffffffffffffffffff01", "subscribe.offset is out of range"],
    ["0801 2a05 3d 00000000", "subscribe.offset is not an unsigned integer"],
    ["0801 2a09 70 8080808080808010", "subscribe.flag is out of range"],
    ["0801 2a06 78 8080808008", "subscribe.type is out of range"],
    ["0801 2a02 6801", "subscribe.tf is not a message"],
    ["0801 2a04 6a02 3001", "subscribe.tf.nodes is not a message"],
    ["0801 2a06 6a04 3202 0a05", "subscribe.tf.nodes is not valid Protobuf"],
    ["0801 2a05 6a03 2a01 ff", "subscribe.tf.vals is not valid UTF-8"],
    ["0801 3a02 1001", "publish.data is not bytes"],
    ["0801 5204 4202 0a00", "history.since.offset is not an unsigned integer"],
    ["0801 2206 1a04 1202 1a00", "connect.subs.recover is not a boolean"],
    ["0801 2205 1a03 0a01ff", "connect.subs is not valid UTF-8"],
    ["0801 2204 1a02 1001", "connect.subs.value is not a message"],
    ["0801 2202 1801", "connect.subs is not a map"],
  ])("[W5] calls %s malformed: %s", (command, reason) => {
    expect(decodeCommand(bytes(command))).toStrictEqual({ outcome: "malformed", reason });
  });

  it("[W5] refuses unknown groups that are nested beyond any reason", () => {
    for (const depth of [200, 20_000]) {
      const groups = `0801 ${"9b03".repeat(depth)} ${"9c03".repeat(depth)}`;
      expect(decodeCommand(bytes(groups))).toStrictEqual({
        outcome: "malformed",
        reason: "the command is not valid Protobuf",
      });
    }
  });

  it.each([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])(
    "[W5] refuses a number where request %i should be",
    (number) => {
      const { name } = commandType.fieldsById[number] ?? { name: "" };
      const command = bytes(`0801 ${(number * 8).toString(16).padStart(2, "0")}05`);
      expect(decodeCommand(command)).toStrictEqual({
        outcome: "malformed",
        reason: `${name} is not a message`,
      });
    },
  );

  it("[B1] takes as many subscriptions in a connect command as anybody may have, and no more", () => {
    const channels = Array.from({ length: limits.channelLimitMax + 1 }, (_, index) => `c${index}`);
    const subs = Object.fromEntries(channels.slice(1).map((channel) => [channel, {}]));
    expect(decodeCommand(written({ id: 1, connect: { subs } }))).toMatchObject({
      outcome: "command",
    });
    subs["c0"] = {};
    expect(decodeCommand(written({ id: 1, connect: { subs } }))).toStrictEqual({
      outcome: "malformed",
      reason: `connect.subs has over ${limits.channelLimitMax} entries`,
    });
  });
});

describe("decoding a tags filter from Protobuf", () => {
  it("[B1] takes as many nodes as the limit says, and no more", () => {
    const nodes = Array.from({ length: limits.filterNodesMax - 1 }, () => ({ cmp: "ex" }));
    expect(subscribed({ op: "or", nodes })).toMatchObject({ outcome: "command" });
    expect(subscribed({ op: "or", nodes: [...nodes, {}] })).toStrictEqual({
      outcome: "malformed",
      reason: `subscribe.tf has over ${limits.filterNodesMax} nodes`,
    });
  });

  it("[B1] counts the nodes of the whole tree", () => {
    const inner = Array.from({ length: 20 }, () => ({ cmp: "ex" }));
    const nodes = Array.from({ length: 20 }, () => ({ op: "or", nodes: inner }));
    expect(subscribed({ op: "or", nodes })).toStrictEqual({
      outcome: "malformed",
      reason: `subscribe.tf has over ${limits.filterNodesMax} nodes`,
    });
  });

  it("[B1] takes a tree as deep as the limit says, and no deeper", () => {
    expect(decodeCommand(nested(limits.filterDepthMax))).toMatchObject({ outcome: "command" });
    for (const depth of [limits.filterDepthMax + 1, 15_000]) {
      expect(decodeCommand(nested(depth))).toStrictEqual({
        outcome: "malformed",
        reason: `subscribe.tf is over ${limits.filterDepthMax} deep`,
      });
    }
  });
});

function subscribed(tf: object): unknown {
  return decodeCommand(written({ id: 1, subscribe: { tf } }));
}

/** Nodes within each other, without anything else in them. */
function nested(depth: number): Uint8Array {
  let node = Buffer.alloc(0);
  while (--depth > 0) node = Buffer.concat([delimited(6), lengthOf(node), node]);
  const subscribe = Buffer.concat([delimited(13), lengthOf(node), node]);
  return Buffer.concat([bytes("0801 2a"), lengthOf(subscribe), subscribe]);
}

function delimited(number: number): Uint8Array {
  return Uint8Array.of(number * 8 + 2);
}

function lengthOf(message: Uint8Array): Uint8Array {
  return Writer.create().uint32(message.length).finish();
}
