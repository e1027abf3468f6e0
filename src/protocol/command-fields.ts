/**
 * The fields of all that clients send (docs/protocol.md 1.2 and 1.3), for the three formats at once: a new field is one
 * line here. The numbers and names are those of client.proto, to which a test holds them. Fields that no line reads are
 * ignored, since newer clients send fields that Dormouse doesn't know. Of several complaints the first one counts, so
 * the order of the lines is observable.
 */
import { limits } from "../limits.ts";
import { utf8Fits } from "./bytes.ts";
import { type DecodedCommand, malformed } from "./codec.ts";
import type {
  Command,
  CommandMethod,
  ConnectRequest,
  FilterNode,
  HistoryRequest,
  KeyedItem,
  PublishRequest,
  ServerSubscriptionRequest,
  SubscribeRequest,
  SubRefreshRequest,
  TrackBatch,
} from "./command.ts";
import type { FieldReader } from "./fields.ts";
import type { Payload } from "./payload.ts";

/**
 * Reads a command.
 *
 * @param command       the command's own fields
 * @param complaints    where all readers of the command leave their complaints, oldest first
 * @param readSubscribe reads a subscribe request, by {@link subscribeRequest} and {@link filterTexts}. Each format
 *                      reads the tags filter in its own order, and stops at the limits in its own way
 */
export function readCommand(
  command: FieldReader,
  complaints: readonly string[],
  readSubscribe: ReadSubscribe,
): DecodedCommand {
  const id = command.uint32(1, "id");
  let known: Method | undefined;
  for (const method of methods) {
    if (!command.has(method[0], method[1])) continue;
    if (known !== undefined) return malformed("the command has more than one method");
    known = method;
  }
  const decoded = known === undefined ? pong : readMethod(command, known, id, readSubscribe);
  const [complaint] = complaints;
  if (complaint !== undefined) return malformed(complaint);
  if (decoded.method === "pong") {
    if (id !== 0) return malformed("the command has an id but no method");
  } else if (id === 0 && decoded.method !== "send") {
    // A reply without an id would refer to nothing. Only `send` has no reply.
    return malformed(`${decoded.method} has no id`);
  }
  return { outcome: "command", command: decoded };
}

function readMethod(
  command: FieldReader,
  [number, method]: Method,
  id: number,
  readSubscribe: ReadSubscribe,
): Command {
  const request = command.message(number, method);
  // A request that isn't a message has left a complaint, so the command is refused.
  if (request === undefined) return pong;
  switch (method) {
    case "connect":
      return { method, id, request: connectRequest(request) };
    case "subscribe":
      return { method, id, request: readSubscribe(request) };
    case "unsubscribe":
    case "presence":
    case "presence_stats":
      return { method, id, request: { channel: request.text(1, "channel") } };
    case "publish":
      return { method, id, request: publishRequest(request) };
    case "history":
      return { method, id, request: historyRequest(request) };
    case "refresh":
      return { method, id, request: { token: request.text(1, "token") } };
    case "sub_refresh":
      return { method, id, request: subRefreshRequest(request) };
    case "rpc":
      return { method, id, request: { method: request.text(2, "method"), ...dataOf(request, 1) } };
    case "send":
      return { method, id, request: dataOf(request, 1) };
    case "ping":
      // It is refused whatever its fields are.
      return { method, id };
  }
}

function connectRequest(request: FieldReader): ConnectRequest {
  const token = request.text(1, "token");
  const name = request.text(4, "name");
  const version = request.text(5, "version");
  const headers = request.textMap(6, "headers", limits.hookHeadersMax);
  const subscriptions = new Map<string, ServerSubscriptionRequest>();
  // A connection has no more subscriptions than that, so more couldn't be recovered either.
  for (const [channel, fields] of request.map(3, "subs", limits.channelLimitMax)) {
    subscriptions.set(channel, {
      recover: fields.flag(3, "recover"),
      epoch: fields.text(6, "epoch"),
      offset: fields.uint64(7, "offset"),
    });
  }
  return { token, ...dataOf(request, 2), name, version, headers, subscriptions };
}

/** The data of a request, which a backend gets; absent if the field is absent. */
function dataOf(request: FieldReader, number: number): { readonly data?: Payload } {
  const data = request.payload(number, "data");
  return data === undefined ? {} : { data };
}

/** Reads a subscribe request but for its tags filter (`tf`). */
export function subscribeRequest(request: FieldReader): SubscribeRequest {
  return {
    channel: request.text(1, "channel"),
    token: request.text(2, "token"),
    recover: request.flag(3, "recover"),
    epoch: request.text(6, "epoch"),
    offset: request.uint64(7, "offset"),
    positioned: request.flag(9, "positioned"),
    recoverable: request.flag(10, "recoverable"),
    joinLeave: request.flag(11, "join_leave"),
    delta: request.text(12, "delta"),
    ...dataOf(request, 8),
    flag: request.int64(14, "flag"),
    type: request.int32(15, "type"),
    phase: request.int32(16, "phase"),
    cursor: cursorOf(request),
    limit: request.int32(18, "limit"),
    asc: request.flag(19, "asc"),
  };
}

function cursorOf(request: FieldReader): string {
  const cursor = request.text(17, "cursor");
  if (utf8Fits(cursor, limits.mapCursorBytesMax)) return cursor;
  request.complain("cursor", `exceeds ${limits.mapCursorBytesMax} bytes`);
  return "";
}

/** Reads a node of a tags filter but for the nodes within it. */
export function filterTexts(node: FieldReader): Omit<FilterNode, "nodes"> {
  return {
    op: node.text(1, "op"),
    key: node.text(2, "key"),
    cmp: node.text(3, "cmp"),
    val: node.text(4, "val"),
    vals: node.texts(5, "vals"),
  };
}

function publishRequest(request: FieldReader): PublishRequest {
  const channel = request.text(1, "channel");
  const type = request.int32(3, "type");
  const key = request.text(4, "key");
  const removed = request.flag(5, "removed");
  return { channel, ...dataOf(request, 2), type, key, removed };
}

function historyRequest(request: FieldReader): HistoryRequest {
  const channel = request.text(1, "channel");
  const limit = request.int32(7, "limit");
  const reverse = request.flag(9, "reverse");
  const since = request.message(8, "since");
  if (since === undefined) return { channel, limit, reverse };
  const position = { offset: since.uint64(1, "offset"), epoch: since.text(2, "epoch") };
  return { channel, limit, reverse, since: position };
}

function subRefreshRequest(request: FieldReader): SubRefreshRequest {
  return {
    channel: request.text(1, "channel"),
    token: request.text(2, "token"),
    type: request.int32(3, "type"),
    track: trackBatches(request),
    untrack: untrackedKeys(request),
  };
}

/**
 * Reads the keys to track. More batches or keys than `limits` allow are a complaint, and the rest of them isn't read.
 */
function trackBatches(request: FieldReader): readonly TrackBatch[] {
  const batches: TrackBatch[] = [];
  let itemCount = 0;
  for (const batch of request.messages(4, "track")) {
    if (batches.length === limits.trackBatchesMax) {
      request.complain("track", `has over ${limits.trackBatchesMax} entries`);
      return batches;
    }
    const items: KeyedItem[] = [];
    batches.push({ signature: batch.text(1, "signature"), items });
    for (const item of batch.messages(2, "items")) {
      if (itemCount === limits.trackItemsMax) {
        request.complain("track", `has over ${limits.trackItemsMax} items`);
        return batches;
      }
      items.push({ key: item.text(1, "key"), version: item.wide(2, "version") });
      itemCount++;
    }
  }
  return batches;
}

function untrackedKeys(request: FieldReader): readonly string[] {
  const keys = request.texts(5, "untrack");
  if (keys.length <= limits.untrackKeysMax) return keys;
  request.complain("untrack", `has over ${limits.untrackKeysMax} entries`);
  return [];
}

type ReadSubscribe = (request: FieldReader) => SubscribeRequest;

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
