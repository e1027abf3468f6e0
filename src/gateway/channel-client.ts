import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import {
  relayRequestBytes,
  type RelayReply,
  type RelayReplies,
  type RelayRequest,
} from "../contract/relay-request.ts";

/** How a gateway calls a channel's object. */
export interface ChannelClientPort {
  /**
   * Makes one call.
   *
   * @param done called once, later or at once; undefined when the call failed and nobody knows whether it was carried
   *                 out. A port gives up waiting by itself (rule B4)
   */
  call(
    channel: string,
    requests: readonly RelayRequest[],
    done: (replies: RelayReplies | undefined) => void,
  ): void;
}

/** A question, and who waits for the answer. */
export interface PendingRequest {
  readonly request: RelayRequest;
  readonly done: (reply: RelayReply) => void;
}

/**
 * What one gateway asks one channel: in the order in which it was asked, and answered in that order (rule O6). One call is
 * under way at a time, and what is asked meanwhile shares the next one. An overloaded channel is left alone for a while, and
 * then asked again what can't be lost.
 */
export class ChannelClient {
  readonly #channel: string;
  readonly #port: ChannelClientPort;
  readonly #onIdle: () => void;
  readonly #onBackoff: () => void;
  readonly #queue = new RequestQueue();
  readonly #backoff = new Backoff();
  /** From a call out until its last answer was given: what an answer makes somebody ask shares the next call, too. */
  #inFlight = false;

  /**
   * @param onIdle    called whenever nothing is asked any more
   * @param onBackoff called whenever {@link settle} has to be called, now and when it says
   */
  constructor(
    channel: string,
    port: ChannelClientPort,
    onIdle: () => void,
    onBackoff: () => void = () => undefined,
  ) {
    this.#channel = channel;
    this.#port = port;
    this.#onIdle = onIdle;
    this.#onBackoff = onBackoff;
  }

  /** Whether nothing is asked. */
  get idle(): boolean {
    return !this.#inFlight && this.#queue.size === 0;
  }

  /** Asks several questions in one go, or refuses those for which there is no room any more. */
  ask(requests: readonly PendingRequest[]): void {
    const refused: PendingRequest[] = [];
    for (const pending of requests) {
      const { request } = pending;
      const bytes = relayRequestBytes(request);
      const queued = { ...pending, bytes, attempts: attemptsOf(request), tries: triesOf(request) };
      if (!this.#queue.add(queued)) refused.push(pending);
    }
    for (const { done } of refused) done(failure(errorCodes.tooManyRequests));
    this.#send();
  }

  /**
   * Goes on once an overloaded channel was left alone for long enough.
   *
   * @returns in how many ms this must be called again; undefined when there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    if (this.#backoff.endIfElapsed(nowMs)) this.#send();
    return this.#backoff.leftMs(nowMs);
  }

  #send(): void {
    if (this.#inFlight || this.#backoff.active || this.#queue.size === 0) return;
    this.#inFlight = true;
    const sent = this.#queue.nextCall();
    // A port that answers at once and again later must not answer for the next call.
    let isDone = false;
    this.#port.call(
      this.#channel,
      sent.filter(({ givenUp }) => givenUp === undefined).map(({ request }) => request),
      (replies) => {
        if (isDone) return;
        isDone = true;
        this.#replied(sent, replies);
      },
    );
  }

  #replied(sent: readonly QueuedRequest[], replies: RelayReplies | undefined): void {
    try {
      if (replies === undefined) this.#putBack(sent.map(failedOnce));
      else if (replies.outcome === "overloaded") this.#overloaded(sent);
      else {
        this.#backoff.reset();
        giveReplies(sent, replies.answers);
      }
    } finally {
      this.#inFlight = false;
    }
    this.#send();
    if (this.idle) this.#onIdle();
  }

  /** Nothing of it was done. */
  #overloaded(sent: readonly QueuedRequest[]): void {
    this.#backoff.begin();
    this.#putBack(sent.map(refusedOnce));
    // What waits was asked meanwhile, and comes with the next call.
    if (this.#queue.size === 0) this.#backoff.cancel();
    else this.#onBackoff();
  }

  /** These are asked again, before everything else; what was given up is told only after what was asked earlier. */
  #putBack(sent: readonly QueuedRequest[]): void {
    // For the answer to a join or a leave nobody waits.
    const first = sent.findIndex(
      ({ givenUp, request }) => givenUp === undefined && request.method !== "announce",
    );
    const before = first < 0 ? sent : sent.slice(0, first);
    const kept = before.filter(({ givenUp }) => givenUp === undefined);
    // They wait again before any answer is given: that may ask something new, which comes after them.
    this.#queue.putBack([...kept, ...sent.slice(before.length)]);
    for (const { givenUp, done } of before) if (givenUp !== undefined) done(givenUp);
  }
}

/** Nobody knows what became of it: what does no harm when it is done twice is asked again. */
function failedOnce(queued: QueuedRequest): QueuedRequest {
  const attempts = queued.attempts - 1;
  if (queued.givenUp !== undefined || attempts > 0) return { ...queued, attempts };
  return { ...queued, attempts, givenUp: failure(errorCodes.internal) };
}

/** It was refused, and does no harm if it is asked again. */
function refusedOnce(queued: QueuedRequest): QueuedRequest {
  const tries = queued.tries - 1;
  if (queued.givenUp !== undefined || tries > 0) return { ...queued, tries };
  return { ...queued, tries, givenUp: failure(errorCodes.tooManyRequests) };
}

function giveReplies(sent: readonly QueuedRequest[], replies: readonly RelayReply[]): void {
  let next = 0;
  for (const { givenUp, done } of sent) {
    if (givenUp !== undefined) done(givenUp);
    // Fewer answers than questions: another release, or a fault. Nobody must wait for ever.
    else done(replies[next++] ?? failure(errorCodes.internal));
  }
}

function failure(error: ErrorCode): RelayReply {
  return { outcome: "error", error };
}

/** How often a question may be sent: a publish done twice would be two publications, and a lost leave is told by nobody. */
function attemptsOf({ method }: RelayRequest): number {
  switch (method) {
    case "publish":
      return 1;
    case "follow":
    case "recover":
    case "newest":
    case "history":
      return 2;
    case "announce":
      return 3;
  }
}

/** How often an overloaded channel may be asked: a client repeats what it asked for itself, and nobody the rest. */
function triesOf({ method }: RelayRequest): number {
  switch (method) {
    case "publish":
    case "history":
      return 1;
    case "follow":
    case "recover":
    case "newest":
      return limits.overloadTriesMax;
    case "announce":
      return limits.announceTriesMax;
  }
}

/** A question that was asked, and may be asked again. */
interface QueuedRequest {
  readonly request: RelayRequest;
  readonly done: (reply: RelayReply) => void;
  readonly bytes: number;
  /** How often it may still be sent without anybody knowing what became of it. */
  readonly attempts: number;
  /** How often it may still be refused by an overloaded channel. */
  readonly tries: number;
  /** It was given up, and is answered so in its turn. */
  readonly givenUp?: RelayReply;
}

/**
 * The questions that wait for the call under way, in order. Joins and leaves have room of their own: a client can be told
 * that its question was refused, and nobody repeats these.
 */
class RequestQueue {
  #all: QueuedRequest[] = [];
  readonly #requests = { count: 0, bytes: 0 };
  readonly #announces = { count: 0, bytes: 0 };

  get size(): number {
    return this.#all.length;
  }

  /** @returns false when there is no room for it */
  add(queued: QueuedRequest): boolean {
    const announces = queued.request.method === "announce";
    const { count, bytes } = this.#roomOf(queued);
    const countMax = announces ? limits.announcesWaitingMax : limits.requestsWaitingMax;
    const bytesMax = announces ? limits.announcesWaitingBytesMax : limits.requestsWaitingBytesMax;
    if (count >= countMax || bytes + queued.bytes > bytesMax) return false;
    this.#all.push(queued);
    this.#count(queued, 1);
    return true;
  }

  /** Puts questions that had been taken before all others, whether or not there is room. */
  putBack(taken: readonly QueuedRequest[]): void {
    this.#all = [...taken, ...this.#all];
    for (const queued of taken) this.#count(queued, 1);
  }

  /** Takes as many of the first ones as one call may have. */
  nextCall(): readonly QueuedRequest[] {
    let count = 0;
    let bytes = 0;
    for (const queued of this.#all) {
      bytes += queued.bytes;
      if (count >= limits.requestsPerCallMax) break;
      if (count > 0 && bytes > limits.requestsPerCallBytesMax) break;
      count++;
    }
    const next = this.#all.splice(0, count);
    for (const queued of next) this.#count(queued, -1);
    return next;
  }

  #count(queued: QueuedRequest, sign: 1 | -1): void {
    const room = this.#roomOf(queued);
    room.count += sign;
    room.bytes += sign * queued.bytes;
  }

  #roomOf({ request }: QueuedRequest): { count: number; bytes: number } {
    return request.method === "announce" ? this.#announces : this.#requests;
  }
}

/** How long an overloaded channel is left alone: twice as long each time in a row, within limits. */
class Backoff {
  /** How long; undefined while the channel may be asked. */
  #ms: number | undefined;
  /** When it began; undefined until somebody says what time it is. */
  #sinceMs: number | undefined;
  /** In a row. */
  #count = 0;

  get active(): boolean {
    return this.#ms !== undefined;
  }

  begin(): void {
    this.#ms = Math.min(limits.overloadRetryMs * 2 ** this.#count, limits.overloadRetryMsMax);
    this.#sinceMs = undefined;
    this.#count++;
  }

  /** Nobody has anything to wait for. */
  cancel(): void {
    this.#ms = undefined;
  }

  /** The channel isn't overloaded any more. */
  reset(): void {
    this.#ms = undefined;
    this.#count = 0;
  }

  /** @returns whether it has ended just now */
  endIfElapsed(nowMs: number): boolean {
    const leftMs = this.leftMs(nowMs);
    if (leftMs === undefined || leftMs > 0) return false;
    this.#ms = undefined;
    return true;
  }

  /** @returns undefined when there is none */
  leftMs(nowMs: number): number | undefined {
    if (this.#ms === undefined) return undefined;
    // A clock that was set back must not make it longer.
    if (this.#sinceMs === undefined || nowMs < this.#sinceMs) this.#sinceMs = nowMs;
    return Math.max(0, this.#sinceMs + this.#ms - nowMs);
  }
}
