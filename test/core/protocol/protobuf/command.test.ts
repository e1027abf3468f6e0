import { Writer } from "protobufjs";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { decodeCommand, decodeFrame } from "../../../../src/protocol/protobuf/codec.ts";
import { bytes, hex, proto, readFrame, contentOf, sdkCodec, writeFrame } from "./peers.ts";

const commandType = proto.lookupType("Command");

/** A command of client.proto as bytes, without its length. */
function written(command: object): Uint8Array {
  return commandType.encode(commandType.create(command)).finish();
}

describe("decoding a command from Protobuf", () => {
  it.each<[string, string]>([
    ["00", "{}"],
    ["0408012200", '{"id":1,"connect":{}}'],
    [
      "4908ffffffff0f22410a017412097b2261223a5b315d7d1a160a017812110a0179180132016538ffffffffffffff0f1a040a00120022026a732a05352e382e3032060a01681201763801",
      '{"id":4294967295,"connect":{"token":"t","data":{"a":[1]},"subs":{"x":{"channel":"y","recover":true,"epoch":"e","offset":9007199254740991},"":{}},"name":"js","version":"5.8.0","headers":{"h":"v"},"flag":1}}',
    ],
    ["0408012a00", '{"id":1,"subscribe":{}}'],
    [
      "5d08022a590a0178120174180132016538ac0242027b7d4801500158016206666f7373696c6a260a03616e64320a12016b1a02657122017632130a036e6f74320c12016b1a02696e2a01612a00700378018001028a01016390010a980101",
      '{"id":2,"subscribe":{"channel":"x","token":"t","recover":true,"epoch":"e","offset":300,"data":{},"positioned":true,"recoverable":true,"join_leave":true,"delta":"fossil","tf":{"op":"and","nodes":[{"key":"k","cmp":"eq","val":"v"},{"op":"not","nodes":[{"key":"k","cmp":"in","vals":["a",""]}]}]},"flag":3,"type":1,"phase":2,"cursor":"c","limit":10,"asc":true}}',
    ],
    [
      "1d08022a190a01787081808080808080f0ff0178ffffffffffffffffff01",
      '{"id":2,"subscribe":{"channel":"x","flag":-9007199254740991,"type":-1}}',
    ],
    ["07080332030a0178", '{"id":3,"unsubscribe":{"channel":"x"}}'],
    [
      "1908043a150a017812097b2261223a312e307d180122016b2801",
      '{"id":4,"publish":{"channel":"x","data":{"a":1.0},"type":1,"key":"k","removed":true}}',
    ],
    ["0408043a00", '{"id":4,"publish":{}}'],
    ["0c080542080a06c3a9f09f9880", '{"id":5,"presence":{"channel":"é😀"}}'],
    ["0708064a030a0178", '{"id":6,"presence_stats":{"channel":"x"}}'],
    [
      "1b080752170a017838ffffffffffffffffff01420508051201654801",
      '{"id":7,"history":{"channel":"x","limit":-1,"since":{"offset":5,"epoch":"e"},"reverse":true}}',
    ],
    ["06080752024200", '{"id":7,"history":{"since":{}}}'],
    ["07080872030a0174", '{"id":8,"refresh":{"token":"t"}}'],
    [
      "1b08097a170a01781201741801220a0a017312050a016b10022a0175",
      '{"id":9,"sub_refresh":{"channel":"x","token":"t","type":1,"track":[{"signature":"s","items":[{"key":"k","version":2}]}],"untrack":["u"]}}',
    ],
    ["0b080a6a070a027b7d12016d", '{"id":10,"rpc":{"data":{},"method":"m"}}'],
    ["04080b5a00", '{"id":11,"ping":{}}'],
    ["07080c62030a0131", '{"id":12,"send":{"data":1}}'],
    ["026200", '{"send":{}}'],
  ])("[W5] reads %s as the JSON codec reads %s", (golden, line) => {
    const frame = bytes(golden);
    expect(decodeFrame(frame)).toStrictEqual(jsonCodec.decodeFrame(line));
    const [ours] = readFrame(commandType, frame);
    expect(contentOf(ours)).toStrictEqual(contentOf(JSON.parse(line)));
    expect(hex(writeFrame(commandType, [ours]))).toBe(golden);
    const theirs = sdkCodec.decodeCommands(frame);
    expect(theirs.map((command) => contentOf(command))).toStrictEqual([
      contentOf(JSON.parse(line)),
    ]);
    expect(hex(sdkCodec.encodeCommands(theirs))).toBe(golden);
  });

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
