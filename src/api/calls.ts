/**
 * The calls to channels' objects and users' homes that one request of the HTTP API makes: planned here, and made by
 * `workers/http/api.ts`. One call carries all commands of the request for one channel (rule W3), and both the plan
 * and the queue are bounded (rules B1 and B4).
 */
import { operationOf } from "./operations.ts";
import { limits } from "../limits.ts";
import { type Entry, type Question, type Refused, refusedRequest } from "./command.ts";
import { type ChannelOperation, operationBytes } from "../contract/channel-call.ts";
import { isHolderOrder, type OrderTarget, type UserOrder } from "../contract/user-order.ts";

/** A call to one object, sent in one RPC; or a question, for which several objects may be called. */
export type ObjectCall = ChannelCall | UserCall | QuestionCall;

/** One question of a request. */
interface QuestionCall {
  readonly question: Question;
  /** The index of its entry in the request, which is the index of its answer. */
  readonly entryIndexes: readonly number[];
}

/** All orders of one request for one user, in the request's order. */
export interface UserCall {
  /** The key of the user, or of a token; "" for an anonymous connection. */
  readonly user: string;
  readonly orders: readonly UserOrder[];
  /** For each order the index of its entry in the request, which is the index of its answer. */
  readonly entryIndexes: readonly number[];
}

/** All commands of one request for one channel, in the request's order. */
export interface ChannelCall {
  readonly channel: string;
  readonly commands: readonly ChannelOperation[];
  /** For each command the index of its entry in the request, which is the index of its answer. */
  readonly entryIndexes: readonly number[];
}

type CallPlan = { readonly outcome: "plan"; readonly calls: readonly ObjectCall[] } | Refused;

/**
 * Groups the entries of a request by channel, in the order in which the channels are first named, and then by user. Refuses the whole
 * request if it is too large. A short request can expand into a large one, because a broadcast repeats its data for
 * each channel.
 */
export function planCalls(entries: readonly Entry[]): CallPlan {
  if (entries.length > limits.requestCommandsMax) return tooManyCommands;
  const calls = new Map<
    string,
    { commands: ChannelOperation[]; entryIndexes: number[]; bytes: number }
  >();
  for (const [index, entry] of entries.entries()) {
    if (entry.outcome !== "call") continue;
    const call = calls.get(entry.channel) ?? { commands: [], entryIndexes: [], bytes: 0 };
    calls.set(entry.channel, call);
    call.commands.push(entry.command);
    call.entryIndexes.push(index);
    call.bytes += operationBytes(entry.command);
    // One RPC carries at most 32 MiB, and a character takes at most two bytes in it.
    if (call.bytes > limits.requestBytesMax) {
      return refusedRequest(`the data for one channel exceeds ${limits.requestBytesMax} bytes`);
    }
  }
  const userCalls = planUserCalls(entries);
  const questions = planQuestions(entries);
  const questionCalls = questions.reduce((sum, { question }) => sum + callsFor(question), 0);
  if (calls.size + userCalls.length + questionCalls > limits.requestChannelsMax) {
    return refusedRequest(`the request names more than ${limits.requestChannelsMax} channels`);
  }
  const planned = [...calls].map(([channel, { commands, entryIndexes }]) => ({
    channel,
    commands,
    entryIndexes,
  }));
  return { outcome: "plan", calls: [...planned, ...userCalls, ...questions] };
}

/** How many objects the edge calls at most to answer a question: homes, or all shards of the directory twice. */
function callsFor(question: Question): number {
  if ("users" in question) return Math.min(question.users.length, limits.homes);
  if ("page" in question) return 2 * limits.directoryShards;
  return operationOf(question.method).asksMax ?? 1;
}

function planQuestions(entries: readonly Entry[]): readonly QuestionCall[] {
  return entries.flatMap((entry, index) =>
    entry.outcome === "question" ? [{ question: entry.question, entryIndexes: [index] }] : [],
  );
}

/** The orders of one user share a call, because their order counts. Anonymous connections have a call each. */
function planUserCalls(entries: readonly Entry[]): readonly UserCall[] {
  const calls = new Map<string, { orders: UserOrder[]; entryIndexes: number[]; user: string }>();
  for (const [index, entry] of entries.entries()) {
    if (entry.outcome !== "order") continue;
    const { user, order } = entry;
    const { client = "", session = "" }: OrderTarget = isHolderOrder(order) ? order : {};
    const key = JSON.stringify(user === "" ? [user, client, session] : [user]);
    const call = calls.get(key) ?? { orders: [], entryIndexes: [], user };
    calls.set(key, call);
    call.orders.push(order);
    call.entryIndexes.push(index);
  }
  return [...calls.values()];
}

/** The refusal of a request with too many commands; each channel of a broadcast counts as one. */
export const tooManyCommands: Refused = refusedRequest(
  `the request has more than ${limits.requestCommandsMax} commands`,
);

/**
 * The calls of one request, with a bound on how many are in flight. At most `limits.callsInFlightMax` calls are in
 * flight, because the platform may let only a few connections wait at a time, and the time of a call runs from its
 * start. Their data is at most `limits.requestBytesMax` together, because all of it is in memory, of which an isolate
 * has 128 MB.
 */
export class CallQueue {
  readonly #calls: readonly ObjectCall[];
  #begun = 0;
  #inFlight = 0;
  #bytesInFlight = 0;

  constructor(calls: readonly ObjectCall[]) {
    this.#calls = calls;
  }

  /** The calls to make now, in order; none if the calls in flight leave no room or all calls have begun. */
  begin(): readonly ObjectCall[] {
    const beginning: ObjectCall[] = [];
    for (const call of this.#calls.slice(this.#begun, this.#begun + limits.callsInFlightMax)) {
      if (!this.#hasRoom(call)) break;
      beginning.push(call);
      this.#begun++;
      this.#inFlight++;
      this.#bytesInFlight += callBytes(call);
    }
    return beginning;
  }

  /** Releases the room of a call. Must be called once for each call that has begun. */
  ended(call: ObjectCall): void {
    this.#inFlight--;
    this.#bytesInFlight -= callBytes(call);
  }

  /** A call that is too large to share the room is made alone. */
  #hasRoom(call: ObjectCall): boolean {
    if (this.#inFlight === 0) return true;
    return (
      this.#inFlight < limits.callsInFlightMax &&
      this.#bytesInFlight + callBytes(call) <= limits.requestBytesMax
    );
  }
}

function callBytes(call: ObjectCall): number {
  if ("question" in call) return readBytes;
  if ("orders" in call)
    return call.orders.reduce((sum, order) => sum + JSON.stringify(order).length, 0);
  return call.commands.reduce((sum, command) => sum + bytesBothWays(command), 0);
}

/** The larger of the size that a command sends and the size that its answer may have. */
function bytesBothWays(command: ChannelOperation): number {
  return operationOf(command.method).readsMuch === true ? readBytes : operationBytes(command);
}

/** Eight reading commands at a time may each return the largest answer that is allowed. */
const readBytes = limits.answerBytesMax / 8;
