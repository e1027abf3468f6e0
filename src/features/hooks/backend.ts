import { hookLimits } from "./limits.ts";
import { dueMoment } from "../../moment.ts";

/**
 * One backend as one object sees it: how many questions are in flight, which wait, and whether the backend is down
 * (rules Q6, Q7 and Q11). It lives in memory only. Time comes in as an argument; the caller carries questions out.
 */
export class Backend {
  /** Those who have questions in flight or waiting. Among those that wait, the first is the next one whose turn it is. */
  readonly #askers = new Map<string, Asker>();
  #waitingCount = 0;
  #waitingBytes = 0;
  #inFlight = 0;
  /** Failures in a row. */
  #failures = 0;
  /** Until when the backend isn't asked, ms since 1970; undefined while it isn't down. */
  #downUntilMs: number | undefined;
  #pauseMs = 0;
  /** How long the backend was last found to be down for, ms. */
  #downForMs = 0;
  /** Whether a question is in flight that tries a backend which was down. */
  #isTrying = false;
  #isAskingNext = false;

  /** Whether nothing is in flight, nothing waits and the backend has answered: a new one would do as well. */
  get idle(): boolean {
    return this.#inFlight === 0 && this.#failures === 0 && this.#downUntilMs === undefined;
  }

  /**
   * Asks, or makes the question wait.
   *
   * @param name  of the one who asks, who has a share (rule Q11)
   * @param bytes what the question takes in memory
   * @param turn  called once, at once or later: "go" to ask now, after which {@link answered} has to be called
   */
  ask(name: string, bytes: number, nowMs: number, turn: (turn: Turn) => void): void {
    if (this.#downUntilMs !== undefined) {
      if (this.#isDown(nowMs) || this.#isTrying) {
        turn("down");
        return;
      }
      this.#isTrying = true;
    }
    const asker = this.#askers.get(name) ?? { inFlight: 0, waiting: [], bytes: 0 };
    if (this.#hasTurn(asker)) {
      this.#askers.set(name, asker);
      this.#go(asker, turn);
    } else if (!this.#hasRoom(asker, bytes)) turn("busy");
    else {
      this.#askers.set(name, asker);
      asker.waiting.push({ bytes, sinceMs: nowMs, turn });
      this.#count(asker, 1, bytes);
    }
  }

  /**
   * A question that was asked has ended.
   *
   * @param name    of the one who asked
   * @param pauseMs for a failure: how long the backend wants not to be asked; 0 if it didn't say so
   */
  answered(name: string, outcome: "answered" | "failed", pauseMs: number, nowMs: number): void {
    this.#ended(name);
    if (outcome === "answered") this.#isUp();
    else this.#failed(pauseMs, nowMs);
    this.#isTrying = false;
    this.#askNext(nowMs);
  }

  /** A question whose turn had come isn't asked after all. */
  skipped(name: string, nowMs: number): void {
    this.#ended(name);
    this.#isTrying = false;
    this.#askNext(nowMs);
  }

  #ended(name: string): void {
    this.#inFlight--;
    const asker = this.#askers.get(name);
    if (asker === undefined) return;
    asker.inFlight--;
    this.#forgetIdle(name, asker);
  }

  #forgetIdle(name: string, { inFlight, waiting }: Asker): void {
    if (inFlight === 0 && waiting.length === 0) this.#askers.delete(name);
  }

  #go(asker: Asker, turn: (turn: Turn) => void): void {
    this.#inFlight++;
    asker.inFlight++;
    turn("go");
  }

  #hasTurn({ inFlight }: Asker): boolean {
    return (
      this.#inFlight < hookLimits.hooksInFlightMax && inFlight < hookLimits.hooksInFlightShareMax
    );
  }

  #hasRoom({ waiting, bytes: own }: Asker, bytes: number): boolean {
    return (
      this.#waitingCount < hookLimits.hooksWaitingMax &&
      waiting.length < hookLimits.hooksWaitingShareMax &&
      this.#waitingBytes + bytes <= hookLimits.hooksWaitingBytesMax &&
      own + bytes <= hookLimits.hooksWaitingBytesShareMax
    );
  }

  #count(asker: Asker, questions: number, bytes: number): void {
    asker.bytes += bytes;
    this.#waitingCount += questions;
    this.#waitingBytes += bytes;
  }

  #isUp(): void {
    this.#failures = 0;
    this.#pauseMs = 0;
    this.#downUntilMs = undefined;
  }

  #failed(pauseMs: number, nowMs: number): void {
    this.#failures++;
    if (this.#failures < hookLimits.hookFailuresMax && pauseMs === 0) return;
    // Questions that were in flight when the backend went down say nothing new.
    if (this.#isDown(nowMs) && pauseMs === 0) return;
    this.#pauseMs =
      this.#pauseMs === 0
        ? hookLimits.hookPauseMs
        : Math.min(this.#pauseMs * 2, hookLimits.hookPauseMsMax);
    const pause = Math.max(this.#pauseMs, Math.min(pauseMs, hookLimits.hookRetryAfterMsMax));
    const leftMs = this.#isDown(nowMs) ? (this.#downUntilMs ?? 0) : 0;
    this.#downForMs = pause;
    this.#downUntilMs = Math.max(leftMs, nowMs + pause);
  }

  #isDown(nowMs: number): boolean {
    return dueMoment(this.#downUntilMs ?? 0, this.#downForMs, nowMs) > nowMs;
  }

  #askNext(nowMs: number): void {
    // A question that is skipped calls back into this loop, and thousands may be, one after the other.
    if (this.#isAskingNext) return;
    this.#isAskingNext = true;
    try {
      for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
        const { name, asker, question } = next;
        // All that wait for a backend that is down learn it now: none of them could be asked in time.
        if (this.#downUntilMs !== undefined) question.turn("down");
        else if (nowMs - question.sinceMs > hookLimits.hookWaitMs) question.turn("busy");
        else this.#go(asker, question.turn);
        this.#forgetIdle(name, asker);
      }
    } finally {
      this.#isAskingNext = false;
    }
  }

  /** Takes a question of the one who has waited longest for a turn, and then has the last one. */
  #takeNext():
    | { readonly name: string; readonly asker: Asker; readonly question: WaitingQuestion }
    | undefined {
    if (this.#waitingCount === 0) return undefined;
    for (const [name, asker] of this.#askers) {
      const mayAsk = this.#downUntilMs !== undefined || this.#hasTurn(asker);
      const question = mayAsk ? asker.waiting.shift() : undefined;
      if (question === undefined) continue;
      this.#count(asker, -1, -question.bytes);
      this.#askers.delete(name);
      this.#askers.set(name, asker);
      return { name, asker, question };
    }
    return undefined;
  }
}

/**
 * What a question may do. go: be asked now. busy: too many are in flight and wait, or this one has waited too long. down:
 * the backend isn't asked at the moment.
 */
export type Turn = "go" | "busy" | "down";

/** One who has questions in flight, or waiting, which take so many bytes. */
interface Asker {
  inFlight: number;
  readonly waiting: WaitingQuestion[];
  bytes: number;
}

interface WaitingQuestion {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly turn: (turn: Turn) => void;
}
