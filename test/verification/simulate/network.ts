import type { Incarnation } from "./incarnation.ts";
import { plainCopy } from "./plain-copy.ts";
import type { Timeline } from "./timeline.ts";

/** The kinds of calls between objects, and from the backend. */
export type CallKind =
  | "deliver"
  /** A shared poll tells a gateway what has changed. */
  | "polled"
  | "ask"
  /** A presence map asks who is there. */
  | "count"
  /** A presence map is told who comes and goes. */
  | "tell"
  | "gather"
  | "presence"
  | "api"
  /** An object registers users with their home. */
  | "register"
  /** A home has an object carry out orders. */
  | "carry out"
  /** A home asks an object which connections it holds. */
  | "ask holder"
  /** An object has the directory list it, and the directory asks what it lists. */
  | "list"
  /** The backend gives a home an order. */
  | "order";

/** The outcome of a call, in ms; an undefined time means never. */
export interface CallOutcome {
  /** When the request arrives. */
  readonly requestMs?: number;
  /** How long after that it arrives a second time. */
  readonly againMs?: number;
  /** How long the answer takes. */
  readonly answerMs?: number;
  /** When the caller is told that the call failed, if it has no answer by then. */
  readonly errorMs?: number;
}

/** A call before its outcome is chosen. */
export interface CallName {
  readonly kind: CallKind;
  readonly from: string;
  readonly to: string;
}

/**
 * Chooses the outcome of a call.
 *
 * @param name the call's name: its kind, caller and target, and its number among such calls, from 1
 */
export type ChooseOutcome = (call: CallName, name: string) => CallOutcome;

export interface Call<Request, Answer> extends CallName {
  readonly request: Request;
  /** The caller's incarnation; absent for the backend. */
  readonly incarnation?: Incarnation;
  /** Delays the call until the caller's writes are durable; absent where nothing is written. */
  readonly gate?: (work: () => void) => void;
  /** When the caller gives up waiting. */
  readonly waitMs: number;
  /** Executes the request at the target, which answers undefined when it crashes. */
  readonly carryOut: (request: Request, answer: (answer: Answer | undefined) => void) => void;
  /** Called once, unless the caller is gone; undefined when the outcome is unknown. */
  readonly answered: (answer: Answer | undefined) => void;
}

/**
 * Carries calls and applies an outcome to each. It copies requests and answers, as the platform does. An object that
 * makes a second call of the same kind to the same target at a time breaks rule L2, which throws.
 */
export class Network {
  readonly #timeline: Timeline;
  chooseOutcome: ChooseOutcome;
  /** The outcomes of the calls so far by name, in the order of the calls. */
  readonly outcomes = new Map<string, CallOutcome>();
  readonly #counts = new Map<string, number>();
  /** Until when calls of a kind from one object to another fail, ms since 1970. */
  readonly #cuts = new Map<string, number>();

  constructor(timeline: Timeline, chooseOutcome: ChooseOutcome) {
    this.#timeline = timeline;
    this.chooseOutcome = chooseOutcome;
  }

  /** Makes all calls of this kind from one object to the other fail for so many ms. */
  cut(call: CallName, ms: number): void {
    this.#cuts.set(lineOf(call), this.#timeline.nowMs + ms);
  }

  call<Request, Answer>(call: Call<Request, Answer>): void {
    const { kind, from, to, incarnation, gate = atOnce, waitMs } = call;
    const request = plainCopy(call.request);
    const key = `${kind} to ${to}`;
    const isOneAtATime = oneAtATime.has(kind);
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

/** The calls of which an object makes one after the other to the same target. */
const oneAtATime: ReadonlySet<CallKind> = new Set(["deliver", "polled", "ask", "count", "tell"]);

/** The outcome of a call without faults. */
export const smooth: CallOutcome = { requestMs: 5, answerMs: 5 };

/** The outcome of a call to an unreachable target. */
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
