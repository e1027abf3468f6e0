import type { Life } from "./life.ts";
import { plainCopy } from "./plain-copy.ts";
import type { Timeline } from "./timeline.ts";

/** What objects, and the backend, call each other for. */
export type CallKind = "deliver" | "ask" | "gather" | "presence" | "api";

/** What becomes of a call, in ms; what is undefined never happens. */
export interface Fate {
  /** When the other side hears it. */
  readonly requestMs?: number;
  /** How long after that it hears it a second time. */
  readonly againMs?: number;
  /** How long the answer takes. */
  readonly answerMs?: number;
  /** When the caller is told that it failed, if it wasn't answered before. */
  readonly errorMs?: number;
}

/** A call before its fate is known. */
export interface CallName {
  readonly kind: CallKind;
  readonly from: string;
  readonly to: string;
}

/** Decides what becomes of a call; `number` counts the calls of a world, from 1. */
export type FateOf = (call: CallName, number: number) => Fate;

export interface Call<Request, Answer> extends CallName {
  readonly request: Request;
  /** The caller's; absent for one that is no object. */
  readonly life?: Life;
  /** Lets it leave the caller, once what that wrote is durable; absent where nothing is written. */
  readonly gate?: (work: () => void) => void;
  /** When the caller gives up waiting. */
  readonly waitMs: number;
  /** The other side hears it; it answers undefined when it crashes. */
  readonly carryOut: (request: Request, answer: (answer: Answer | undefined) => void) => void;
  /** Called once, unless the caller is gone: undefined when nobody knows what became of the call. */
  readonly answered: (answer: Answer | undefined) => void;
}

/**
 * Carries calls, and decides what becomes of each. What it carries it copies, as the platform does. An object that calls
 * another one for the same while it does already breaks rule L2, and is stopped by an exception.
 */
export class Network {
  readonly #timeline: Timeline;
  fateOf: FateOf;
  /** What became of the calls so far, the first one's first. */
  readonly fates: Fate[] = [];

  constructor(timeline: Timeline, fateOf: FateOf) {
    this.#timeline = timeline;
    this.fateOf = fateOf;
  }

  call<Request, Answer>(call: Call<Request, Answer>): void {
    const { kind, from, to, life, gate = atOnce, waitMs } = call;
    const request = plainCopy(call.request);
    const lane = `${kind} to ${to}`;
    const isOneAtATime = kind === "deliver" || kind === "ask";
    if (isOneAtATime && life?.lanes.has(lane) === true) {
      throw new Error(`${from} makes a second call while one is under way: ${lane}`);
    }
    life?.lanes.add(lane);
    const done = life?.busy();
    let isOpen = true;
    const finish = (answer: Answer | undefined): void => {
      if (!isOpen) return;
      isOpen = false;
      timeout.cancel();
      life?.lanes.delete(lane);
      done?.();
      if (life?.over !== true) call.answered(answer);
    };
    const timeout = this.#timeline.after(waitMs, () => finish(undefined));
    gate(() => {
      if (life?.over === true) return;
      const fate = this.fateOf(call, this.fates.length + 1);
      this.fates.push(fate);
      this.#carry(call, request, fate, finish);
    });
  }

  #carry<Request, Answer>(
    { carryOut }: Call<Request, Answer>,
    request: Request,
    { requestMs, againMs, answerMs, errorMs }: Fate,
    finish: (answer: Answer | undefined) => void,
  ): void {
    const answer = (answered: Answer | undefined): void => {
      if (answerMs === undefined) return;
      const copy = plainCopy(answered);
      this.#timeline.after(answerMs, () => finish(copy));
    };
    if (requestMs !== undefined) {
      const again = againMs === undefined ? undefined : plainCopy(request);
      this.#timeline.after(requestMs, () => {
        carryOut(request, answer);
        if (againMs === undefined || again === undefined) return;
        this.#timeline.after(againMs, () => carryOut(again, unheard));
      });
    }
    if (errorMs !== undefined) this.#timeline.after(errorMs, () => finish(undefined));
  }
}

/** A call that goes as it should. */
export const smooth: Fate = { requestMs: 5, answerMs: 5 };

function unheard(): void {
  // The caller waits for the first answer only.
}

function atOnce(work: () => void): void {
  work();
}
