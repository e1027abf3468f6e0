import {
  type DecodedFrame,
  type Message,
  malformed,
  malformedFrame,
  readFrame,
  type DecodedCommand,
  readCommand,
} from "../codec.ts";
import { utf8Text } from "../bytes.ts";
import { limits } from "../../limits.ts";
import type {
  Command,
  CommandMethod,
  ConnectRequest,
  HistoryRequest,
  ServerSubscriptionRequest,
  SubscribeRequest,
  FilterNode,
} from "../command.ts";
import { JsonFields } from "./fields.ts";
import { type JsonValue, isWireObject, type WireValue } from "../wire-value.ts";
import { memberText } from "./text.ts";
import type { Payload } from "../payload.ts";

/** Decodes a frame: one command a line, one line break allowed after the last (docs/protocol.md 1.1). */
export function decodeFrame(message: Message): DecodedFrame {
  const frame = frameText(message);
  if (frame === undefined) return malformedFrame("the frame is not valid UTF-8");
  const end = frame.endsWith("\n") ? frame.length - 1 : frame.length;
  if (end === 0) return malformedFrame("the frame is empty");
  let start = 0;
  return readFrame(
    () => start <= end,
    () => {
      const lineStart = start;
      const lineBreak = frame.indexOf("\n", lineStart);
      const lineEnd = lineBreak < 0 ? end : lineBreak;
      start = lineEnd + 1;
      return lineEnd === lineStart
        ? malformed("the frame has an empty line")
        : decodeCommand(frame.slice(lineStart, lineEnd));
    },
  );
}

/** A frame as text; undefined when it is not UTF-8. Centrifugo reads JSON from binary messages too. */
export function frameText(message: Message): string | undefined {
  return typeof message === "string" ? message : utf8Text(message);
}

/**
 * Decodes one command (docs/protocol.md 1.2 and 1.3). Fields that we don't know are ignored, as are those that we know but
 * don't use: newer clients send them.
 */
export function decodeCommand(line: string): DecodedCommand {
  const root = parseLine(line);
  if (root === undefined) return malformed("the command is not valid JSON");
  // Unlike elsewhere null is not absence here: it is a payload like any other.
  return decodeRoot(root, () => memberText(line, "publish", "data"));
}

/**
 * Decodes one command of any format whose commands are objects with these names.
 *
 * @param root the command, parsed
 * @param publishData finds a publish request's payload, undefined when there is none; complaints go into the fields
 */
export function decodeRoot(root: WireValue, publishData: PublishData): DecodedCommand {
  if (!isWireObject(root)) return malformed("the command is not an object");
  const complaints: string[] = [];
  const fields = new JsonFields(root, "", complaints);
  const id = fields.unsigned("id", uint32Max);
  const [method, another] = methods.filter((candidate) => fields.has(candidate));
  if (another !== undefined) return malformed("the command has more than one method");
  const request = method === undefined ? undefined : fields.object(method);
  const command: Command =
    method === undefined || request === undefined
      ? { method: "pong" }
      : decodeRequest(method, id, request, publishData);
  return readCommand(command, id, complaints);
}

function decodeRequest(
  method: RequestMethod,
  id: number,
  request: JsonFields,
  publishData: PublishData,
): Command {
  switch (method) {
    case "connect":
      return { method, id, request: decodeConnect(request) };
    case "subscribe":
      return { method, id, request: decodeSubscribe(request) };
    case "unsubscribe":
    case "presence":
    case "presence_stats":
      return { method, id, request: { channel: request.text("channel") } };
    case "publish": {
      const channel = request.text("channel");
      const type = decodeType(request);
      const data = publishData(request);
      return {
        method,
        id,
        request: data === undefined ? { channel, type } : { channel, data, type },
      };
    }
    case "history":
      return { method, id, request: decodeHistory(request) };
    case "refresh":
      return { method, id, request: { token: request.text("token") } };
    case "sub_refresh": {
      const channel = request.text("channel");
      const token = request.text("token");
      return { method, id, request: { channel, token, type: decodeType(request) } };
    }
    case "rpc":
      return { method, id, request: { method: request.text("method") } };
    case "send":
    case "ping":
      break;
  }
  // Both are refused whatever they carry, so the rest of them isn't read.
  return { method, id };
}

function decodeConnect(request: JsonFields): ConnectRequest {
  const token = request.text("token");
  const name = request.text("name");
  const subscriptions = new Map<string, ServerSubscriptionRequest>();
  // More subscriptions than anybody may have can't be recovered either.
  for (const [channel, fields] of request.objects("subs", limits.channelLimitMax)) {
    subscriptions.set(channel, {
      recover: fields.flag("recover"),
      epoch: fields.text("epoch"),
      offset: fields.unsigned("offset", Number.MAX_SAFE_INTEGER),
    });
  }
  return { token, name, subscriptions };
}

function decodeSubscribe(request: JsonFields): SubscribeRequest {
  const filter = decodeFilter(request);
  return {
    channel: request.text("channel"),
    token: request.text("token"),
    recover: request.flag("recover"),
    epoch: request.text("epoch"),
    offset: request.unsigned("offset", Number.MAX_SAFE_INTEGER),
    positioned: request.flag("positioned"),
    recoverable: request.flag("recoverable"),
    joinLeave: request.flag("join_leave"),
    delta: request.text("delta"),
    ...(filter === undefined ? {} : { filter }),
    flag: request.integer("flag", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    type: decodeType(request),
  };
}

function decodeHistory(request: JsonFields): HistoryRequest {
  const channel = request.text("channel");
  const limit = request.integer("limit", int32Min, int32Max);
  const reverse = request.flag("reverse");
  const since = request.object("since");
  if (since === undefined) return { channel, limit, reverse };
  const offset = since.unsigned("offset", Number.MAX_SAFE_INTEGER);
  return { channel, limit, reverse, since: { offset, epoch: since.text("epoch") } };
}

function decodeType(request: JsonFields): number {
  return request.integer("type", int32Min, int32Max);
}

function parseLine(line: string): JsonValue | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

type PublishData = (request: JsonFields) => Payload | undefined;

type RequestMethod = Exclude<CommandMethod, "pong">;

const methods = [
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
] as const satisfies readonly RequestMethod[];

const uint32Max = 0xffff_ffff;
const int32Min = -0x8000_0000;
const int32Max = 0x7fff_ffff;

/**
 * Decodes a subscription's tags filter (docs/protocol.md 1.3, FilterNode), of JSON and of MessagePack alike; undefined when none
 * came along. A larger or deeper tree than `limits` allows is a complaint, and what is beyond isn't read.
 */
export function decodeFilter(subscribe: JsonFields): FilterNode | undefined {
  const root = subscribe.object("tf");
  if (root === undefined) return undefined;
  let count = 0;

  function decodeNode(fields: JsonFields, depth: number): FilterNode {
    count++;
    const nodes: FilterNode[] = [];
    for (const inner of fields.list("nodes")) {
      if (depth === limits.filterDepthMax) {
        subscribe.complain("tf", `is over ${limits.filterDepthMax} deep`);
        break;
      }
      if (count === limits.filterNodesMax) {
        subscribe.complain("tf", `has over ${limits.filterNodesMax} nodes`);
        break;
      }
      nodes.push(decodeNode(inner, depth + 1));
    }
    return {
      op: fields.text("op"),
      key: fields.text("key"),
      cmp: fields.text("cmp"),
      val: fields.text("val"),
      vals: fields.texts("vals"),
      nodes,
    };
  }

  return decodeNode(root, 1);
}
