import { limits } from "../limits.ts";

/**
 * One backend as one object sees it: how many questions are in flight, which wait, and whether the backend is down
 * (rules Q6 and Q7). It lives in memory only. Time comes in as an argument; the caller carries questions out.
 */
export class Backend {
  readonly #waiting: WaitingQuestion[] = [];
  #waitingBytes = 0;
  #inFlight = 0;
  /** Failures in a row. */
  #failures = 0;
  /** Until when the backend isn't asked, ms since 1970; undefined while it isn't down. */
  #downUntilMs: number | undefined;
  #pauseMs = 0;
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
   * @param bytes what the question takes in memory
   * @param turn  called once, at once or later: "go" to ask now, after which {@link answered} has to be called
   */
  ask(bytes: number, nowMs: number, turn: (turn: Turn) => void): void {
    if (this.#downUntilMs !== undefined) {
      if (nowMs < this.#downUntilMs || this.#isTrying) {
        turn("down");
        return;
      }
      this.#isTrying = true;
    }
    if (this.#inFlight < limits.hooksInFlightMax) {
      this.#inFlight++;
      turn("go");
    } else if (
      this.#waiting.length >= limits.hooksWaitingMax ||
      this.#waitingBytes + bytes > limits.hooksWaitingBytesMax
    ) {
      turn("busy");
    } else {
      this.#waitingBytes += bytes;
      this.#waiting.push({ bytes, sinceMs: nowMs, turn });
    }
  }

  /**
   * A question that was asked has ended.
   *
   * @param pauseMs for a failure: how long the backend wants not to be asked; 0 if it didn't say so
   */
  answered(outcome: "answered" | "failed", pauseMs: number, nowMs: number): void {
    this.#inFlight--;
    if (outcome === "answered") this.#isUp();
    else this.#failed(pauseMs, nowMs);
    this.#isTrying = false;
    this.#askNext(nowMs);
  }

  /** A question whose turn had come isn't asked after all. */
  skipped(nowMs: number): void {
    this.#inFlight--;
    this.#isTrying = false;
    this.#askNext(nowMs);
  }

  #isUp(): void {
    this.#failures = 0;
    this.#pauseMs = 0;
    this.#downUntilMs = undefined;
  }

  #failed(pauseMs: number, nowMs: number): void {
    this.#failures++;
    if (this.#failures < limits.hookFailuresMax && pauseMs === 0) return;
    const isDown = this.#downUntilMs !== undefined && nowMs < this.#downUntilMs;
    // Questions that were in flight when the backend went down say nothing new.
    if (isDown && pauseMs === 0) return;
    this.#pauseMs =
      this.#pauseMs === 0 ? limits.hookPauseMs : Math.min(this.#pauseMs * 2, limits.hookPauseMsMax);
    const pause = Math.max(this.#pauseMs, Math.min(pauseMs, limits.hookRetryAfterMsMax));
    this.#downUntilMs = Math.max(this.#downUntilMs ?? 0, nowMs + pause);
  }

  #askNext(nowMs: number): void {
    // A question that is skipped calls back into this loop, and thousands may be, one after the other.
    if (this.#isAskingNext) return;
    this.#isAskingNext = true;
    try {
      for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
        // All that wait for a backend that is down learn it now: none of them could be asked in time.
        if (this.#downUntilMs !== undefined) next.turn("down");
        else if (nowMs - next.sinceMs > limits.hookWaitMs) next.turn("busy");
        else {
          this.#inFlight++;
          next.turn("go");
        }
      }
    } finally {
      this.#isAskingNext = false;
    }
  }

  #takeNext(): WaitingQuestion | undefined {
    const hasRoom = this.#inFlight < limits.hooksInFlightMax || this.#downUntilMs !== undefined;
    const next = hasRoom ? this.#waiting.shift() : undefined;
    this.#waitingBytes -= next?.bytes ?? 0;
    return next;
  }
}

/**
 * What a question may do. go: be asked now. busy: too many are in flight and wait, or this one has waited too long. down:
 * the backend isn't asked at the moment.
 */
export type Turn = "go" | "busy" | "down";

interface WaitingQuestion {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly turn: (turn: Turn) => void;
}
