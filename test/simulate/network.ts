import type { Life } from "./life.ts";
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

export interface Call<Request, Answer> extends CallName {
  readonly request: Request;
  /** The caller's; absent for one that is no object. */
  readonly life?: Life;
  /** How long what the caller wrote takes to be durable: until then nothing leaves it. */
  readonly gateMs: number;
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
  fateOf: (call: CallName) => Fate;

  constructor(timeline: Timeline, fateOf: (call: CallName) => Fate) {
    this.#timeline = timeline;
    this.fateOf = fateOf;
  }

  call<Request, Answer>(call: Call<Request, Answer>): void {
    const { kind, from, to, life, gateMs, waitMs } = call;
    const request = structuredClone(call.request);
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
    this.#timeline.after(gateMs, () => {
      if (life?.over !== true) this.#carry(call, request, this.fateOf(call), finish);
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
      const copy = structuredClone(answered);
      this.#timeline.after(answerMs, () => finish(copy));
    };
    if (requestMs !== undefined) {
      this.#timeline.after(requestMs, () => {
        carryOut(structuredClone(request), answer);
        if (againMs === undefined) return;
        this.#timeline.after(againMs, () => carryOut(structuredClone(request), unheard));
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
