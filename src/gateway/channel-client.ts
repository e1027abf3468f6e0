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
    done: (answers: RelayReplies | undefined) => void,
  ): void;
}

/** A question, and who waits for the answer. */
export interface PendingRequest {
  readonly request: RelayRequest;
  readonly done: (answer: RelayReply) => void;
}

/**
 * What one gateway asks one channel: in the order in which it was asked, and answered in that order (rule O6). One call is
 * under way at a time, and what is asked meanwhile shares the next one. An overloaded channel is left alone for a while, and
 * then asked again what can't be lost.
 */
export class ChannelClient {
  readonly #channel: string;
  readonly #port: ChannelClientPort;
  readonly #emptied: () => void;
  readonly #paused: () => void;
  readonly #waiting = new RequestQueue();
  readonly #pause = new Backoff();
  /** From a call out until its last answer was given: what an answer makes somebody ask shares the next call, too. */
  #underWay = false;

  /**
   * @param emptied called whenever nothing is asked any more
   * @param paused  called whenever {@link settle} has to be called, now and when it says
   */
  constructor(
    channel: string,
    port: ChannelClientPort,
    emptied: () => void,
    paused: () => void = () => undefined,
  ) {
    this.#channel = channel;
    this.#port = port;
    this.#emptied = emptied;
    this.#paused = paused;
  }

  /** Whether nothing is asked. */
  get idle(): boolean {
    return !this.#underWay && this.#waiting.size === 0;
  }

  /** Asks several questions in one go, or refuses those for which there is no room any more. */
  ask(all: readonly PendingRequest[]): void {
    const refused: PendingRequest[] = [];
    for (const asked of all) {
      const { request } = asked;
      const bytes = relayRequestBytes(request);
      const waiting = { ...asked, bytes, attempts: attemptsOf(request), tries: triesOf(request) };
      if (!this.#waiting.add(waiting)) refused.push(asked);
    }
    for (const { done: answered } of refused) answered(failure(errorCodes.tooManyRequests));
    this.#send();
  }

  /**
   * Goes on once an overloaded channel was left alone for long enough.
   *
   * @returns in how many ms this must be called again; undefined when there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    if (this.#pause.over(nowMs)) this.#send();
    return this.#pause.leftMs(nowMs);
  }

  #send(): void {
    if (this.#underWay || this.#pause.lasts || this.#waiting.size === 0) return;
    this.#underWay = true;
    const sent = this.#waiting.nextCall();
    // A port that answers at once and again later must not answer for the next call.
    let answered = false;
    this.#port.call(
      this.#channel,
      sent.filter(({ settled }) => settled === undefined).map(({ request }) => request),
      (answers) => {
        if (answered) return;
        answered = true;
        this.#answered(sent, answers);
      },
    );
  }

  #answered(sent: readonly QueuedRequest[], answers: RelayReplies | undefined): void {
    try {
      if (answers === undefined) this.#putBack(sent.map(failedOnce));
      else if (answers.outcome === "overloaded") this.#overloaded(sent);
      else {
        this.#pause.end();
        answerAll(sent, answers.answers);
      }
    } finally {
      this.#underWay = false;
    }
    this.#send();
    if (this.idle) this.#emptied();
  }

  /** Nothing of it was done. */
  #overloaded(sent: readonly QueuedRequest[]): void {
    this.#pause.begin();
    this.#putBack(sent.map(refusedOnce));
    // What waits was asked meanwhile, and comes with the next call.
    if (this.#waiting.size === 0) this.#pause.skip();
    else this.#paused();
  }

  /** These are asked again, before everything else; what was given up is told only after what was asked earlier. */
  #putBack(sent: readonly QueuedRequest[]): void {
    // For the answer to a join or a leave nobody waits.
    const first = sent.findIndex(
      ({ settled, request }) => settled === undefined && request.method !== "announce",
    );
    const before = first < 0 ? sent : sent.slice(0, first);
    const kept = before.filter(({ settled }) => settled === undefined);
    // They wait again before any answer is given: that may ask something new, which comes after them.
    this.#waiting.putBack([...kept, ...sent.slice(before.length)]);
    for (const { settled, done: answered } of before) if (settled !== undefined) answered(settled);
  }
}

/** Nobody knows what became of it: what does no harm when it is done twice is asked again. */
function failedOnce(waiting: QueuedRequest): QueuedRequest {
  const attempts = waiting.attempts - 1;
  if (waiting.settled !== undefined || attempts > 0) return { ...waiting, attempts };
  return { ...waiting, attempts, settled: failure(errorCodes.internal) };
}

/** It was refused, and does no harm if it is asked again. */
function refusedOnce(waiting: QueuedRequest): QueuedRequest {
  const tries = waiting.tries - 1;
  if (waiting.settled !== undefined || tries > 0) return { ...waiting, tries };
  return { ...waiting, tries, settled: failure(errorCodes.tooManyRequests) };
}

function answerAll(sent: readonly QueuedRequest[], answers: readonly RelayReply[]): void {
  let next = 0;
  for (const { settled, done: answered } of sent) {
    if (settled !== undefined) answered(settled);
    // Fewer answers than questions: another release, or a fault. Nobody must wait for ever.
    else answered(answers[next++] ?? failure(errorCodes.internal));
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
  readonly done: (answer: RelayReply) => void;
  readonly bytes: number;
  /** How often it may still be sent without anybody knowing what became of it. */
  readonly attempts: number;
  /** How often it may still be refused by an overloaded channel. */
  readonly tries: number;
  /** It was given up, and is answered so in its turn. */
  readonly settled?: RelayReply;
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
  add(waiting: QueuedRequest): boolean {
    const announces = waiting.request.method === "announce";
    const { count, bytes } = this.#roomOf(waiting);
    const countMax = announces ? limits.announcesWaitingMax : limits.requestsWaitingMax;
    const bytesMax = announces ? limits.announcesWaitingBytesMax : limits.requestsWaitingBytesMax;
    if (count >= countMax || bytes + waiting.bytes > bytesMax) return false;
    this.#all.push(waiting);
    this.#count(waiting, 1);
    return true;
  }

  /** Puts questions that had been taken before all others, whether or not there is room. */
  putBack(taken: readonly QueuedRequest[]): void {
    this.#all = [...taken, ...this.#all];
    for (const waiting of taken) this.#count(waiting, 1);
  }

  /** Takes as many of the first ones as one call may have. */
  nextCall(): readonly QueuedRequest[] {
    let count = 0;
    let bytes = 0;
    for (const waiting of this.#all) {
      bytes += waiting.bytes;
      if (count >= limits.requestsPerCallMax) break;
      if (count > 0 && bytes > limits.requestsPerCallBytesMax) break;
      count++;
    }
    const next = this.#all.splice(0, count);
    for (const waiting of next) this.#count(waiting, -1);
    return next;
  }

  #count(waiting: QueuedRequest, sign: 1 | -1): void {
    const room = this.#roomOf(waiting);
    room.count += sign;
    room.bytes += sign * waiting.bytes;
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

  get lasts(): boolean {
    return this.#ms !== undefined;
  }

  begin(): void {
    this.#ms = Math.min(limits.overloadRetryMs * 2 ** this.#count, limits.overloadRetryMsMax);
    this.#sinceMs = undefined;
    this.#count++;
  }

  /** Nobody has anything to wait for. */
  skip(): void {
    this.#ms = undefined;
  }

  /** The channel isn't overloaded any more. */
  end(): void {
    this.#ms = undefined;
    this.#count = 0;
  }

  /** @returns whether it has ended just now */
  over(nowMs: number): boolean {
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
