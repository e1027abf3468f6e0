import { limits } from "../../limits.ts";
import { utf8Text } from "../bytes.ts";
import {
  type DecodedCommand,
  type DecodedFrame,
  type Message,
  malformed,
  malformedFrame,
  readFrame,
} from "../codec.ts";
import { filterTexts, readCommand, subscribeRequest } from "../command-fields.ts";
import type { FilterNode, SubscribeRequest } from "../command.ts";
import type { FieldReader } from "../fields.ts";
import { isWireObject, type JsonValue, type WireValue, type JsonObject } from "../wire-value.ts";
import { JsonFields } from "./fields.ts";
import { tagsFilter } from "../tags-filter.ts";

/**
 * Decodes a frame: one command on each line, with or without a line break after the last one (docs/protocol.md 1.1).
 */
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

/** A frame as text; undefined if it isn't UTF-8. Binary frames are read too, as Centrifugo does. */
export function frameText(message: Message): string | undefined {
  return typeof message === "string" ? message : utf8Text(message);
}

/** Decodes one command, which stands on one line. */
export function decodeCommand(line: string): DecodedCommand {
  const root = parseLine(line);
  if (root === undefined) return malformed("the command is not valid JSON");
  return decodeObject(root, line);
}

/**
 * Decodes one command of a format whose commands are objects with the names of JSON.
 *
 * @param root the command, parsed
 * @param json its text; undefined in MessagePack
 */
export function decodeObject(root: WireValue, json: string | undefined): DecodedCommand {
  if (!isWireObject(root)) return malformed("the command is not an object");
  const complaints: string[] = [];
  return readCommand(new JsonFields(root, [], complaints, json), complaints, decodeSubscribe);
}

function decodeSubscribe(request: FieldReader): SubscribeRequest {
  const filter = decodeFilter(request);
  const subscribe = subscribeRequest(request);
  return filter === undefined ? subscribe : { ...subscribe, filter };
}

/**
 * Decodes the tags filter of a subscribe request (docs/protocol.md 1.3, FilterNode); undefined if it is absent. A
 * larger or deeper tree than `limits` allows is a complaint, and the rest of it isn't read. Protobuf has its own
 * function, because it reads a node's texts before the inner nodes, and may have inner nodes that can't be read.
 *
 * @param name of the field
 */
export function decodeFilter(subscribe: FieldReader, name = "tf"): FilterNode | undefined {
  const root = subscribe.message(13, name);
  if (root === undefined) return undefined;
  let count = 0;

  function decodeNode(node: FieldReader, depth: number): FilterNode {
    count++;
    const nodes: FilterNode[] = [];
    for (const inner of node.messages(6, "nodes")) {
      if (depth === limits.filterDepthMax) {
        subscribe.complain(name, `is over ${limits.filterDepthMax} deep`);
        break;
      }
      if (count === limits.filterNodesMax) {
        subscribe.complain(name, `has over ${limits.filterNodesMax} nodes`);
        break;
      }
      nodes.push(decodeNode(inner, depth + 1));
    }
    return { ...filterTexts(node), nodes };
  }

  return decodeNode(root, 1);
}

function parseLine(line: string): JsonValue | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

type ParsedServerFilter =
  | { readonly outcome: "read"; readonly serverFilter?: FilterNode }
  | { readonly outcome: "invalid"; readonly reason: string };

/**
 * Parses the tags filter that a backend sets for a subscription: the field `server_tags_filter` of an object
 * (docs/protocol.md 3.2).
 *
 * @returns the filter, which is valid; none if the field is absent
 */
export function parseServerFilter(object: JsonObject): ParsedServerFilter {
  const complaints: string[] = [];
  const serverFilter = decodeFilter(new JsonFields(object, [], complaints, undefined), name);
  const [complaint] = complaints;
  if (complaint !== undefined) return { outcome: "invalid", reason: complaint };
  if (serverFilter === undefined) return { outcome: "read" };
  return tagsFilter(serverFilter) === undefined
    ? { outcome: "invalid", reason: `${name} is no valid filter` }
    : { outcome: "read", serverFilter };
}

const name = "server_tags_filter";
