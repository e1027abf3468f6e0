import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  type DecodedFrame,
  type Message,
  malformed,
  malformedFrame,
  readFrame,
  type DecodedCommand,
  readCommand,
} from "../codec.ts";
import { takeDelimited, ProtobufFields } from "./fields.ts";
import { limits } from "../../limits.ts";
import type {
  Command,
  CommandMethod,
  ConnectRequest,
  HistoryRequest,
  PublishRequest,
  ServerSubscriptionRequest,
  SubscribeRequest,
  FilterNode,
} from "../command.ts";
import { payloadOf } from "../payload.ts";

/** Decodes a frame: commands, each after its length (docs/protocol.md 1.1). */
export function decodeFrame(message: Message): DecodedFrame {
  if (typeof message === "string") return malformedFrame("the frame is not binary");
  if (message.byteLength === 0) return malformedFrame("the frame is empty");
  const reader = new BinaryReader(message);
  return readFrame(
    () => reader.pos < message.byteLength,
    () => {
      const bytes = takeDelimited(reader, message);
      return bytes === undefined
        ? malformed("the frame is not as long as it says")
        : decodeCommand(bytes);
    },
  );
}

/**
 * Decodes one command, without its length (docs/protocol.md 1.2 and 1.3), to what the JSON of the same command is decoded to. Fields
 * that we don't know are ignored, as are those that we know but don't use: newer clients send them.
 */
export function decodeCommand(bytes: Uint8Array): DecodedCommand {
  const complaints: string[] = [];
  const fields = new ProtobufFields(bytes, "", complaints);
  const id = fields.unsigned(1, "id", uint32Max);
  const [known, another] = methods.filter(([number]) => fields.has(number));
  if (another !== undefined) return malformed("the command has more than one method");
  const command = known === undefined ? pong : decodeMethod(fields, known, id);
  return readCommand(command, id, complaints);
}

function decodeMethod(fields: ProtobufFields, [number, method]: Method, id: number): Command {
  const request = fields.message(number, method);
  // Undefined is only what isn't a message, which has left a complaint.
  return request === undefined ? pong : decodeRequest(method, id, request);
}

function decodeRequest(method: Method[1], id: number, request: ProtobufFields): Command {
  switch (method) {
    case "connect":
      return { method, id, request: decodeConnect(request) };
    case "subscribe":
      return { method, id, request: decodeSubscribe(request) };
    case "unsubscribe":
    case "presence":
    case "presence_stats":
      return { method, id, request: { channel: request.text(1, "channel") } };
    case "publish":
      return { method, id, request: decodePublish(request) };
    case "history":
      return { method, id, request: decodeHistory(request) };
    case "refresh":
      return { method, id, request: { token: request.text(1, "token") } };
    case "sub_refresh": {
      const channel = request.text(1, "channel");
      const token = request.text(2, "token");
      return { method, id, request: { channel, token, type: decodeType(request, 3) } };
    }
    case "rpc":
      return { method, id, request: { method: request.text(2, "method") } };
    case "send":
    case "ping":
      break;
  }
  // Both are refused whatever they carry, so the rest of them isn't read.
  return { method, id };
}

function decodeConnect(request: ProtobufFields): ConnectRequest {
  const token = request.text(1, "token");
  const name = request.text(4, "name");
  const subscriptions = new Map<string, ServerSubscriptionRequest>();
  // More subscriptions than anybody may have can't be recovered either.
  for (const [channel, fields] of request.map(3, "subs", limits.channelLimitMax)) {
    subscriptions.set(channel, {
      recover: fields.flag(3, "recover"),
      epoch: fields.text(6, "epoch"),
      offset: fields.unsigned(7, "offset", Number.MAX_SAFE_INTEGER),
    });
  }
  return { token, name, subscriptions };
}

function decodeSubscribe(request: ProtobufFields): SubscribeRequest {
  const subscribe = {
    channel: request.text(1, "channel"),
    token: request.text(2, "token"),
    recover: request.flag(3, "recover"),
    epoch: request.text(6, "epoch"),
    offset: request.unsigned(7, "offset", Number.MAX_SAFE_INTEGER),
    positioned: request.flag(9, "positioned"),
    recoverable: request.flag(10, "recoverable"),
    joinLeave: request.flag(11, "join_leave"),
    delta: request.text(12, "delta"),
    flag: request.integer(14, "flag", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    type: decodeType(request, 15),
  };
  const filter = decodeFilter(request);
  return filter === undefined ? subscribe : { ...subscribe, filter };
}

function decodePublish(request: ProtobufFields): PublishRequest {
  const channel = request.text(1, "channel");
  const type = decodeType(request, 3);
  const bytes = request.bytes(2, "data");
  if (bytes.byteLength === 0) return { channel, type };
  const data = payloadOf(bytes);
  // A copy, since what is kept for long must not keep the whole frame.
  return { channel, data: typeof data === "string" ? data : data.slice(), type };
}

function decodeHistory(request: ProtobufFields): HistoryRequest {
  const channel = request.text(1, "channel");
  const limit = request.integer(7, "limit", int32Min, int32Max);
  const reverse = request.flag(9, "reverse");
  const since = request.message(8, "since");
  if (since === undefined) return { channel, limit, reverse };
  const offset = since.unsigned(1, "offset", Number.MAX_SAFE_INTEGER);
  return { channel, limit, reverse, since: { offset, epoch: since.text(2, "epoch") } };
}

function decodeType(request: ProtobufFields, number: number): number {
  return request.integer(number, "type", int32Min, int32Max);
}

type Method = readonly [number: number, method: Exclude<CommandMethod, "pong">];

const methods = [
  [4, "connect"],
  [5, "subscribe"],
  [6, "unsubscribe"],
  [7, "publish"],
  [8, "presence"],
  [9, "presence_stats"],
  [10, "history"],
  [11, "ping"],
  [12, "send"],
  [13, "rpc"],
  [14, "refresh"],
  [15, "sub_refresh"],
] as const satisfies readonly Method[];

const pong = { method: "pong" } as const satisfies Command;
const uint32Max = 0xffff_ffff;
const int32Min = -0x8000_0000;
const int32Max = 0x7fff_ffff;

/**
 * Decodes a subscription's tags filter (docs/protocol.md 1.3, FilterNode); undefined when none came along. A larger or deeper tree
 * than `limits` allows is a complaint, and what is beyond isn't read.
 */
function decodeFilter(subscribe: ProtobufFields): FilterNode | undefined {
  const root = subscribe.message(13, "tf");
  if (root === undefined) return undefined;
  let count = 0;

  function decodeNode(fields: ProtobufFields, depth: number): FilterNode {
    const op = fields.text(1, "op");
    const key = fields.text(2, "key");
    const cmp = fields.text(3, "cmp");
    const val = fields.text(4, "val");
    const vals = fields.texts(5, "vals");
    const nodes: FilterNode[] = [];
    count++;
    if (depth === limits.filterDepthMax && fields.has(6)) {
      subscribe.complain("tf", `is over ${limits.filterDepthMax} deep`);
      return { op, key, cmp, val, vals, nodes };
    }
    for (const inner of fields.messages(6, "nodes")) {
      if (count === limits.filterNodesMax) {
        subscribe.complain("tf", `has over ${limits.filterNodesMax} nodes`);
        break;
      }
      nodes.push(decodeNode(inner, depth + 1));
    }
    return { op, key, cmp, val, vals, nodes };
  }

  return decodeNode(root, 1);
}
