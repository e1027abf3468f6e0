import { isPublishing } from "../contract/channel-call.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import {
  relayRequestBytes,
  type RelayReply,
  type RelayReplies,
  type RelayRequest,
} from "../contract/relay-request.ts";

/**
 * A gateway's caller of one channel object: sends relay requests in the order in which they were made, and gives the
 * replies in that order (rule O6). One call is in flight at a time, and the requests that come meanwhile share the next
 * one. The caller leaves an overloaded channel object alone for a while, and then repeats the requests that may be
 * repeated. The gateway owns the port, and calls {@link settle} during the backoff.
 */
export class ChannelClient {
  readonly #channel: string;
  readonly #port: ChannelClientPort;
  readonly #onIdle: () => void;
  readonly #onBackoff: () => void;
  readonly #queue = new RequestQueue();
  readonly #backoff = new Backoff();
  /** True until the last reply of a call is given, so that requests to which a reply leads share the next call, too. */
  #inFlight = false;

  /**
   * @param onIdle    called whenever no request waits or is in flight any more
   * @param onBackoff called whenever {@link settle} has to be called, now and at the times that it returns
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

  /** Whether no request waits or is in flight. */
  get idle(): boolean {
    return !this.#inFlight && this.#queue.size === 0;
  }

  /**
   * Sends requests together. Those for which there is no room are answered 111. A page of a map that waits already is
   * read once, for all who ask for it (rule L6).
   */
  ask(requests: readonly PendingRequest[]): void {
    const refused: PendingRequest[] = [];
    for (const pending of requests) {
      const { request } = pending;
      if (pending.shares === true && this.#queue.share(request, pending.done)) continue;
      const bytes = relayRequestBytes(request);
      const queued = {
        ...pending,
        bytes,
        ...repeatsOf(request),
      };
      if (!this.#queue.enqueue(queued)) refused.push(pending);
    }
    for (const { done } of refused) done(failure(errorCodes.tooManyRequests));
    this.#send();
  }

  /**
   * Goes on once the backoff is over.
   *
   * @returns in how many ms this must be called again; undefined if there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    if (this.#backoff.endIfElapsed(nowMs)) this.#send();
    return this.#backoff.leftMs(nowMs);
  }

  #send(): void {
    if (this.#inFlight || this.#backoff.active || this.#queue.size === 0) return;
    this.#inFlight = true;
    const sent = this.#queue.nextCall();
    // A port that gives a result twice must not give it to the next call.
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

  /** The channel object has carried out none of the requests. */
  #overloaded(sent: readonly QueuedRequest[]): void {
    this.#backoff.begin();
    this.#putBack(sent.map(refusedOnce));
    // If the queue is empty, there is nothing to repeat; the next request is sent at once.
    if (this.#queue.size === 0) this.#backoff.cancel();
    else this.#onBackoff();
  }

  /**
   * Puts requests back before all others. A request that was given up is answered only after the requests before it.
   */
  #putBack(sent: readonly QueuedRequest[]): void {
    // No client waits for the reply to a join or a leave, so the replies after it needn't wait for it, either.
    const first = sent.findIndex(
      ({ givenUp, request }) => givenUp === undefined && request.method !== "announce",
    );
    const before = first < 0 ? sent : sent.slice(0, first);
    const kept = before.filter(({ givenUp }) => givenUp === undefined);
    // The requests are put back before any reply is given: a reply may lead to new requests, which come after them.
    this.#queue.putBack([...kept, ...sent.slice(before.length)]);
    for (const { givenUp, done } of before) if (givenUp !== undefined) done(givenUp);
  }
}

/** How a gateway calls a channel object. */
export interface ChannelClientPort {
  /**
   * Makes one call.
   *
   * @param done called once, later or at once; with undefined if the call failed, so that it is unknown whether it was
   *             carried out. The port itself bounds the time that a call may take (rule B4)
   */
  call(
    channel: string,
    requests: readonly RelayRequest[],
    done: (replies: RelayReplies | undefined) => void,
  ): void;
}

/** A relay request, and the continuation that takes its reply. */
export interface PendingRequest {
  readonly request: RelayRequest;
  readonly done: (reply: RelayReply) => void;
  /** Whether the same request, if it waits already, does for this one, too; absent: it doesn't. */
  readonly shares?: boolean;
}

/** It is unknown whether the request was carried out. It is repeated if a second execution does no harm. */
function failedOnce(queued: QueuedRequest): QueuedRequest {
  const attempts = queued.attempts - 1;
  if (queued.givenUp !== undefined || attempts > 0) return { ...queued, attempts };
  return { ...queued, attempts, givenUp: failure(errorCodes.internal) };
}

/** The request was refused, and can be repeated without harm. */
function refusedOnce(queued: QueuedRequest): QueuedRequest {
  const tries = queued.tries - 1;
  if (queued.givenUp !== undefined || tries > 0) return { ...queued, tries };
  return { ...queued, tries, givenUp: failure(errorCodes.tooManyRequests) };
}

function giveReplies(sent: readonly QueuedRequest[], replies: readonly RelayReply[]): void {
  let next = 0;
  for (const { givenUp, done } of sent) {
    if (givenUp !== undefined) done(givenUp);
    // There may be fewer replies than requests, from another release or because of a fault. No request may wait for
    // ever.
    else done(replies[next++] ?? failure(errorCodes.internal));
  }
}

function failure(error: ErrorCode): RelayReply {
  return { outcome: "failed", error };
}

/** How often a request may be repeated. */
interface Repeats {
  /** How often it may be sent. */
  readonly attempts: number;
  /** How often an overloaded channel object may be tried. */
  readonly tries: number;
}

/** What isn't lost: the gateway repeats it, as no client does. */
const repeated: Repeats = { attempts: 2, tries: limits.overloadTriesMax };

/** A publish that is carried out twice would be two publications, and clients repeat it themselves. */
const once: Repeats = { attempts: 1, tries: 1 };

/** Clients repeat it themselves. */
const asked: Repeats = { attempts: 2, tries: 1 };

/** A leave that is lost is never announced. */
const announced: Repeats = { attempts: 3, tries: limits.announceTriesMax };

function repeatsOf(request: RelayRequest): Repeats {
  if (isPublishing(request)) return once;
  if (request.method === "announce") return announced;
  return request.method === "history" ? asked : repeated;
}

/** A request that waits or is in flight, and may be repeated. */
interface QueuedRequest extends PendingRequest {
  readonly bytes: number;
  /** How often it may still be sent without a result. */
  readonly attempts: number;
  /** How often it may still be refused by an overloaded channel object. */
  readonly tries: number;
  /** The reply of a request that was given up. It is given in its turn. */
  readonly givenUp?: RelayReply;
}

/**
 * The requests that wait for the call in flight, in order. Joins and leaves have room of their own (rule B1): a client
 * whose request is refused gets an error and can repeat the request, but no client repeats a join or a leave.
 */
class RequestQueue {
  #all: QueuedRequest[] = [];
  /** The other callers that ask for a page that waits, by the page; undefined while no page waits. */
  #sharers: Map<string, PendingRequest["done"][]> | undefined;
  readonly #requests = { count: 0, bytes: 0 };
  readonly #announces = { count: 0, bytes: 0 };

  get size(): number {
    return this.#all.length;
  }

  /** @returns false if there is no room for the request */
  enqueue(queued: QueuedRequest): boolean {
    const announces = queued.request.method === "announce";
    const { count, bytes } = this.#roomOf(queued);
    if (!announces && count >= limits.requestsWaitingMax) return false;
    const bytesMax = announces ? limits.announcesWaitingBytesMax : limits.requestsWaitingBytesMax;
    if (bytes + queued.bytes > bytesMax) return false;
    this.#all.push(queued.shares === true ? this.#shared(queued) : queued);
    this.#count(queued, 1);
    return true;
  }

  /** @returns whether the same page waits already, so that its reply is given to `done`, too */
  share(request: RelayRequest, done: PendingRequest["done"]): boolean {
    const sharers = this.#sharers?.get(JSON.stringify(request));
    sharers?.push(done);
    return sharers !== undefined;
  }

  /** A request for a page that others may share for as long as it waits. */
  #shared(queued: QueuedRequest): QueuedRequest {
    const sharers = [queued.done];
    this.#sharers ??= new Map();
    this.#sharers.set(JSON.stringify(queued.request), sharers);
    return {
      ...queued,
      done: (reply) => {
        for (const done of sharers) done(reply);
      },
    };
  }

  /** Puts requests that were taken back before all others, whether or not there is room. */
  putBack(taken: readonly QueuedRequest[]): void {
    this.#all = [...taken, ...this.#all];
    for (const queued of taken) this.#count(queued, 1);
  }

  /** Takes as many of the first requests as one call may carry. */
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
    for (const queued of next) {
      this.#count(queued, -1);
      if (queued.shares === true) this.#sharers?.delete(JSON.stringify(queued.request));
    }
    if (this.#sharers?.size === 0) this.#sharers = undefined;
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

/**
 * The time during which an overloaded channel object isn't called: twice as long each time in a row, from
 * `limits.overloadRetryMs` to `limits.overloadRetryMsMax`.
 */
class Backoff {
  /** How long the backoff lasts; undefined while the channel object may be called. */
  #ms: number | undefined;
  /** When the backoff began, ms since 1970; undefined until a call brings the time. */
  #sinceMs: number | undefined;
  /** How often in a row the channel object was overloaded. */
  #count = 0;

  get active(): boolean {
    return this.#ms !== undefined;
  }

  begin(): void {
    this.#ms = Math.min(limits.overloadRetryMs * 2 ** this.#count, limits.overloadRetryMsMax);
    this.#sinceMs = undefined;
    this.#count++;
  }

  /** Ends the backoff, because no request waits. The next backoff is as long as if this one had lasted. */
  cancel(): void {
    this.#ms = undefined;
  }

  /** Ends the backoff, because the channel object isn't overloaded any more. */
  reset(): void {
    this.#ms = undefined;
    this.#count = 0;
  }

  /**
   * Ends the backoff if its time is over.
   *
   * @returns whether the backoff ended just now
   */
  endIfElapsed(nowMs: number): boolean {
    const leftMs = this.leftMs(nowMs);
    if (leftMs === undefined || leftMs > 0) return false;
    this.#ms = undefined;
    return true;
  }

  /** @returns how long the backoff still lasts, ms; undefined while the channel object may be called */
  leftMs(nowMs: number): number | undefined {
    if (this.#ms === undefined) return undefined;
    // A clock that was set back must not make the backoff longer.
    if (this.#sinceMs === undefined || nowMs < this.#sinceMs) this.#sinceMs = nowMs;
    return Math.max(0, this.#sinceMs + this.#ms - nowMs);
  }
}
