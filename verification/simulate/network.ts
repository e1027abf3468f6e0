import type { Incarnation } from "./incarnation.ts";
import { plainCopy } from "./plain-copy.ts";
import type { Timeline } from "./timeline.ts";

/** What objects, and the backend, call each other for. */
export type CallKind = "deliver" | "ask" | "gather" | "presence" | "api";

/** What becomes of a call, in ms; what is undefined never happens. */
export interface CallOutcome {
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

/**
 * Decides what becomes of a call.
 *
 * @param name the call's own: its kind, who calls whom, and which of those calls it is, from 1
 */
export type ChooseOutcome = (call: CallName, name: string) => CallOutcome;

export interface Call<Request, Answer> extends CallName {
  readonly request: Request;
  /** The caller's; absent for one that is no object. */
  readonly incarnation?: Incarnation;
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
  chooseOutcome: ChooseOutcome;
  /** What became of the calls so far, by their names; the first one's first. */
  readonly outcomes = new Map<string, CallOutcome>();
  readonly #counts = new Map<string, number>();
  /** Until when the calls fail that one makes to another for something, ms since 1970. */
  readonly #cuts = new Map<string, number>();

  constructor(timeline: Timeline, chooseOutcome: ChooseOutcome) {
    this.#timeline = timeline;
    this.chooseOutcome = chooseOutcome;
  }

  /** For so many ms all calls of this kind from the one to the other fail. */
  cut(call: CallName, ms: number): void {
    this.#cuts.set(lineOf(call), this.#timeline.nowMs + ms);
  }

  call<Request, Answer>(call: Call<Request, Answer>): void {
    const { kind, from, to, incarnation, gate = atOnce, waitMs } = call;
    const request = plainCopy(call.request);
    const key = `${kind} to ${to}`;
    const isOneAtATime = kind === "deliver" || kind === "ask";
    if (isOneAtATime && incarnation?.callsInFlight.has(key) === true) {
      throw new Error(`${from} makes a second call while one is under way: ${key}`);
    }
    incarnation?.callsInFlight.add(key);
    const done = incarnation?.busy();
    let isOpen = true;
    const finish = (answer: Answer | undefined): void => {
      if (!isOpen) return;
      isOpen = false;
      timeout.cancel();
      incarnation?.callsInFlight.delete(key);
      done?.();
      if (incarnation?.over !== true) call.answered(answer);
    };
    const timeout = this.#timeline.after(waitMs, () => finish(undefined));
    gate(() => {
      if (incarnation?.over === true) return;
      const line = lineOf(call);
      const count = (this.#counts.get(line) ?? 0) + 1;
      this.#counts.set(line, count);
      const name = `${line} ${count}`;
      const isCut = this.#timeline.nowMs < (this.#cuts.get(line) ?? 0);
      const outcome = isCut ? unreachable : this.chooseOutcome(call, name);
      this.outcomes.set(name, outcome);
      this.#carry(call, request, outcome, finish);
    });
  }

  #carry<Request, Answer>(
    { carryOut }: Call<Request, Answer>,
    request: Request,
    { requestMs, againMs, answerMs, errorMs }: CallOutcome,
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
        this.#timeline.after(againMs, () => carryOut(again, ignoreReply));
      });
    }
    if (errorMs !== undefined) this.#timeline.after(errorMs, () => finish(undefined));
  }
}

/** A call that goes as it should. */
export const smooth: CallOutcome = { requestMs: 5, answerMs: 5 };

/** A call to one who can't be reached. */
const unreachable: CallOutcome = { errorMs: 10 };

function lineOf({ kind, from, to }: CallName): string {
  return `${kind} ${from} ${to}`;
}

function ignoreReply(): void {
  // The caller waits for the first answer only.
}

function atOnce(work: () => void): void {
  work();
}
