import { type ClientOperation, errorOf } from "../../contract/channel-call.ts";
import { type Config, everyOptions } from "../../config/config.ts";
import { limits } from "../../limits.ts";
import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import type { RpcRequest } from "../../protocol/command.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { parsePayloadObject, type Payload } from "../../protocol/payload.ts";
import { isCount, isJsonArray, type JsonObject } from "../../protocol/wire-value.ts";
import { failWith, refuse, type RefusedCommand, refuseWith } from "../../session/decision.ts";
import { callerOf } from "../../session/grant.ts";
import type { KnownChannel } from "../../channel/channel-name.ts";
import type {
  ClientMethod,
  ClientMethods,
  CommandSession,
  RunningCommand,
  TurnTo,
} from "../../session/ports.ts";
import { answerRpc, requestAsClient } from "../../session/commands.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { UserRequest } from "./calls.ts";
import { cursorLimits } from "./limits.ts";
import { mayMark, maySeeMarks, noCursors, nothingKept, noUser } from "./may.ts";

/** The methods by which clients mark what their user has read, and ask what is unread (rule CU7). */
const cursorMethods: ClientMethods = new Map<string, ClientMethod>([
  ["dormouse.read", { readsOf: () => 0, bySend: true, carryOut: markRead }],
  [
    "dormouse.unread",
    // A read for each channel that is asked.
    { readsOf: (data) => parseChannels(data)?.length ?? 0, bySend: true, carryOut: countUnread },
  ],
  ["dormouse.marks", { readsOf: () => 1, bySend: true, carryOut: countMarks }],
]);

/** The methods under a configuration: if no namespace has cursors, a backend may have methods of these names. */
export function cursorMethodsOf({ channel }: Config): ClientMethods | undefined {
  return everyOptions(channel).some(({ cursors }) => cursors !== undefined)
    ? cursorMethods
    : undefined;
}

/** `dormouse.read {channel, offset, epoch?}` */
function markRead(command: RunningCommand<RpcRequest>, turnTo: TurnTo): void {
  const { id, request, done } = command;
  const params = parsePayloadObject(request.data);
  const mark = params && parseMark(params);
  if (mark === undefined) {
    done(refuseWith(errorCodes.badRequest, "CU7", "data must be {channel, offset, epoch?}"));
    return;
  }
  const { channel, offset, epoch } = mark;
  const operation = (who: UserRequest, info: ClientInfo): CursorOperation => ({
    method: "mark_read",
    request: { ...who, offset, epoch },
    info,
  });
  ask(command, channel, turnTo, operation, (answer) => {
    if ("error" in answer) done(failWith(answer.error));
    else if ("refused" in answer) done(answer.refused);
    else done({ outcome: "reply", reply: { id, method: "rpc", data: answer.data } });
  });
}

/** `dormouse.unread {channels}`: each channel has its answer or its error. */
function countUnread(command: RunningCommand<RpcRequest>, turnTo: TurnTo): void {
  const { id, request, done } = command;
  const channels = parseChannels(request.data);
  if (channels === undefined) {
    const reason = `data must be {channels}, with 1 to ${cursorLimits.unreadChannelsMax} names`;
    done(refuseWith(errorCodes.badRequest, "CU7", reason));
    return;
  }
  const answers = new Map<string, UnreadAnswer>();
  const waiting = channels.values();
  // Each answer triggers the question to the next channel, so that no more are under way than rule B16 allows.
  const askNext = (): void => {
    const { done: none = false, value: channel } = waiting.next();
    // Nothing more is asked for a connection that has ended (rule B29).
    if (none || channel === undefined || command.session.closed) return;
    ask(command, channel, turnTo, unreadOf, (answer) => {
      answers.set(channel, "data" in answer ? { result: answer.data } : failed(answer));
      if (answers.size < channels.length) {
        askNext();
        return;
      }
      const data = encodeUnread(channels, answers);
      done({ outcome: "reply", reply: { id, method: "rpc", data } });
    });
  };
  const atOnce = Math.min(channels.length, limits.readsUnderWayMax);
  for (let started = 0; started < atOnce; started++) askNext();
}

/** `dormouse.marks {channel, offset, cursor?}`: how many have read up to an offset (rule CU40). */
function countMarks(command: RunningCommand<RpcRequest>, turnTo: TurnTo): void {
  const { session, request, done } = command;
  const params = parsePayloadObject(request.data);
  const asked = params && parseCount(params);
  if (asked === undefined) {
    done(refuseWith(errorCodes.badRequest, "CU40", "data must be {channel, offset, cursor?}"));
    return;
  }
  const { channel, offset, cursor } = asked;
  const found = findCursors(session, channel);
  if ("outcome" in found) {
    done(found);
    return;
  }
  const may = maySeeMarks(found.known, callerOf(session, channel));
  if (!may.allowed) done(refuse(may));
  else if (!turnTo(channel)) done(failWith(errorCodes.tooManyRequests));
  else {
    const marks = { method: "marks", request: { limit: 0, cursor, offset } } as const;
    const operation = (info: ClientInfo) => ({ ...marks, info });
    requestAsClient(command, channel, operation, (reply) => answerRpc(command, reply));
  }
}

/** A call to a channel ends with data, with an error of the channel, or with a refusal. */
type CalledChannel =
  | { readonly data: JsonText }
  | { readonly error: ErrorCode }
  | { readonly refused: RefusedCommand };

type CursorOperation = Extract<ClientOperation, { readonly method: "mark_read" | "unread" }>;

function unreadOf(request: UserRequest, info: ClientInfo): CursorOperation {
  return { method: "unread", request, info };
}

/** Lets a channel carry out an operation for a client, if the client may do it (rule CU7). */
function ask(
  command: RunningCommand<RpcRequest>,
  channel: string,
  turnTo: TurnTo,
  operationOf: (request: UserRequest, info: ClientInfo) => CursorOperation,
  done: (called: CalledChannel) => void,
): void {
  const { session } = command;
  if (session.user === "") {
    done({ refused: refuse(noUser) });
    return;
  }
  const found = findCursors(session, channel);
  if ("outcome" in found) done({ refused: found });
  else if (!turnTo(channel)) done({ error: errorCodes.tooManyRequests });
  else {
    const may = mayMark(found.known, callerOf(session, channel));
    if (may.allowed === false) {
      done({ refused: refuse(may) });
      return;
    }
    const { user } = session;
    const request: UserRequest = may.allowed === "if-kept" ? { user, ifKept: true } : { user };
    const operation = (info: ClientInfo) => operationOf(request, info);
    requestAsClient(command, channel, operation, (reply) =>
      done(reply.outcome === "answered" ? reply : failedWith(errorOf(reply))),
    );
  }
}

/** Finds a channel that keeps what its users have read, or else refuses the call. */
function findCursors(
  session: CommandSession,
  channel: string,
): { readonly known: KnownChannel } | RefusedCommand {
  const found = session.context.channels.resolve(channel);
  if (found.outcome !== "resolved") return failWith(errorCodes.unknownChannel);
  return found.options.cursors === undefined ? refuse(noCursors) : { known: found };
}

/** The refusal of a channel's object. */
function failedWith(error: ErrorCode): CalledChannel {
  return error.code === errorCodes.permissionDenied.code
    ? { refused: refuse({ ...nothingKept, error }) }
    : { error };
}

function failed(answer: Exclude<CalledChannel, { readonly data: unknown }>): UnreadAnswer {
  return { error: "error" in answer ? answer.error : errorOf(answer.refused) };
}

interface ParsedMark {
  readonly channel: string;
  readonly offset: number;
  readonly epoch: string;
}

function parseMark({ channel, offset, epoch = "" }: JsonObject): ParsedMark | undefined {
  if (typeof channel !== "string" || typeof epoch !== "string") return undefined;
  return isCount(offset) ? { channel, offset, epoch } : undefined;
}

function parseCount({
  channel,
  offset,
  cursor = "",
}: JsonObject): { channel: string; offset: number; cursor: string } | undefined {
  if (typeof channel !== "string" || typeof cursor !== "string") return undefined;
  return isCount(offset) && cursor.isWellFormed() ? { channel, offset, cursor } : undefined;
}

function parseChannels(data: Payload | undefined): readonly string[] | undefined {
  const channels = parsePayloadObject(data)?.["channels"] ?? null;
  if (!isJsonArray(channels)) return undefined;
  const names = channels.filter((name) => typeof name === "string");
  if (names.length !== channels.length || names.length === 0) return undefined;
  return names.length > cursorLimits.unreadChannelsMax ? undefined : [...new Set(names)];
}

/** The answer of one channel: the count as JSON text, or why it isn't known. */
export type UnreadAnswer =
  | { readonly result: string }
  | { readonly error: Pick<ErrorCode, "code" | "message"> };

/** Writes the answer to a question for unread publications of these channels (rule CU4): `{"channels":{…}}`. */
export function encodeUnread(
  channels: readonly string[],
  answers: ReadonlyMap<string, UnreadAnswer>,
): JsonText {
  const members = channels.map((one) => `${JSON.stringify(one)}:${encodeOne(answers.get(one))}`);
  return trustedJsonText(`{"channels":{${members.join(",")}}}`);
}

function encodeOne(answer: UnreadAnswer | undefined): string {
  if (answer === undefined) return "{}";
  if ("result" in answer) return answer.result;
  const { code, message } = answer.error;
  return JSON.stringify({ error: { code, message } });
}
