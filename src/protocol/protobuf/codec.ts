import { joinBinaryFrame } from "../bytes.ts";
import {
  type Codec,
  type DecodedCommand,
  type DecodedFrame,
  type Message,
  malformed,
  malformedFrame,
  readFrame,
} from "../codec.ts";
import { pushReplyFields, replyFields } from "../reply-fields.ts";
import { protobufOf } from "./writer.ts";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { limits } from "../../limits.ts";
import { filterTexts, readCommand, subscribeRequest } from "../command-fields.ts";
import type { FilterNode, SubscribeRequest } from "../command.ts";
import type { FieldReader } from "../fields.ts";
import { takeDelimited, ProtobufFields } from "./fields.ts";

/** The Protobuf format: messages of `client.proto`, each after its length (docs/protocol.md 1.1, rule W5). */
export const protobufCodec: Codec = {
  name: "protobuf",
  deltaForm: "bytes",
  ping: new Uint8Array([0]),
  decodeFrame,
  encodeReply: (reply) => protobufOf(reply, replyFields),
  encodePush: (push) => protobufOf(push, pushReplyFields),
  joinFrame: joinBinaryFrame,
};

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

/** Decodes one command, without its length, to the same value as the JSON of the same command. */
export function decodeCommand(bytes: Uint8Array): DecodedCommand {
  const complaints: string[] = [];
  return readCommand(new ProtobufFields(bytes, "", complaints), complaints, decodeSubscribe);
}

function decodeSubscribe(request: FieldReader): SubscribeRequest {
  const subscribe = subscribeRequest(request);
  const filter = decodeFilter(request);
  return filter === undefined ? subscribe : { ...subscribe, filter };
}

/**
 * Decodes the tags filter of a subscribe request (docs/protocol.md 1.3, FilterNode); undefined if it is absent. A
 * larger or deeper tree than `limits` allows is a complaint, and the rest of it isn't read.
 */
function decodeFilter(subscribe: FieldReader): FilterNode | undefined {
  const root = subscribe.message(13, "tf");
  if (root === undefined) return undefined;
  let count = 0;

  function decodeNode(node: FieldReader, depth: number): FilterNode {
    const texts = filterTexts(node);
    const nodes: FilterNode[] = [];
    count++;
    if (depth === limits.filterDepthMax && node.has(6, "nodes")) {
      subscribe.complain("tf", `is over ${limits.filterDepthMax} deep`);
      return { ...texts, nodes };
    }
    for (const inner of node.messages(6, "nodes")) {
      if (count === limits.filterNodesMax) {
        subscribe.complain("tf", `has over ${limits.filterNodesMax} nodes`);
        break;
      }
      nodes.push(decodeNode(inner, depth + 1));
    }
    return { ...texts, nodes };
  }

  return decodeNode(root, 1);
}
