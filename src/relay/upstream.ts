import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import { questionBytes } from "./question-bytes.ts";
import type { Answer, Answers, Question } from "./question.ts";

/** How a gateway calls a channel's object. */
export interface UpstreamPort {
  /**
   * Makes one call.
   *
   * @param answered called once, later or at once; undefined when the call failed and nobody knows whether it was carried
   *                 out. A port gives up waiting by itself (rule B4)
   */
  call(
    channel: string,
    questions: readonly Question[],
    answered: (answers: Answers | undefined) => void,
  ): void;
}

/** A question, and who waits for the answer. */
export interface Asked {
  readonly question: Question;
  readonly answered: (answer: Answer) => void;
}

/**
 * What one gateway asks one channel: in the order in which it was asked, and answered in that order (rule O6). One call is
 * under way at a time, and what is asked meanwhile shares the next one.
 */
export class Upstream {
  readonly #channel: string;
  readonly #port: UpstreamPort;
  readonly #emptied: () => void;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** From a call out until its last answer was given: what an answer makes somebody ask shares the next call, too. */
  #underWay = false;

  /** @param emptied called whenever nothing is asked any more */
  constructor(channel: string, port: UpstreamPort, emptied: () => void) {
    this.#channel = channel;
    this.#port = port;
    this.#emptied = emptied;
  }

  /** Whether nothing is asked. */
  get idle(): boolean {
    return !this.#underWay && this.#waiting.length === 0;
  }

  /** Asks several questions in one go, or refuses those for which there is no room any more. */
  ask(all: readonly Asked[]): void {
    const refused: Asked[] = [];
    for (const asked of all) {
      const bytes = questionBytes(asked.question);
      if (
        this.#waiting.length >= limits.questionsWaitingMax ||
        this.#waitingBytes + bytes > limits.questionsWaitingBytesMax
      ) {
        refused.push(asked);
        continue;
      }
      this.#waiting.push({ ...asked, bytes, attempts: attemptsOf(asked.question) });
      this.#waitingBytes += bytes;
    }
    for (const { answered } of refused) answered(failure(errorCodes.tooManyRequests));
    this.#send();
  }

  #send(): void {
    if (this.#underWay || this.#waiting.length === 0) return;
    this.#underWay = true;
    const sent = this.#nextCall();
    // A port that answers at once and again later must not answer for the next call.
    let answered = false;
    this.#port.call(
      this.#channel,
      sent.filter(({ settled }) => settled === undefined).map(({ question }) => question),
      (answers) => {
        if (answered) return;
        answered = true;
        this.#answered(sent, answers);
      },
    );
  }

  #answered(sent: readonly Waiting[], answers: Answers | undefined): void {
    try {
      if (answers === undefined) this.#repeat(sent);
      else answerAll(sent, answers);
    } finally {
      this.#underWay = false;
    }
    this.#send();
    if (this.idle) this.#emptied();
  }

  /**
   * Nobody knows what became of these. What does no harm when it is done twice is asked again, before everything else; the
   * rest has failed, but is told only after what was asked earlier.
   */
  #repeat(sent: readonly Waiting[]): void {
    const again = sent.map((waiting): Waiting => {
      const attempts = waiting.attempts - 1;
      if (waiting.settled !== undefined || attempts > 0) return { ...waiting, attempts };
      return { ...waiting, attempts, settled: failure(errorCodes.internal) };
    });
    const first = again.findIndex(({ settled }) => settled === undefined);
    const kept = first < 0 ? [] : again.slice(first);
    // They wait again before any answer is given: that may ask something new, which comes after them.
    this.#waiting = [...kept, ...this.#waiting];
    this.#waitingBytes += bytesOf(kept);
    for (const { settled, answered } of again.slice(0, again.length - kept.length)) {
      if (settled !== undefined) answered(settled);
    }
  }

  #nextCall(): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes;
      if (count >= limits.questionsPerCallMax) break;
      if (count > 0 && bytes > limits.questionsPerCallBytesMax) break;
      count++;
    }
    const next = this.#waiting.splice(0, count);
    this.#waitingBytes -= bytesOf(next);
    return next;
  }
}

interface Waiting extends Asked {
  readonly bytes: number;
  /** How often it may still be sent. */
  readonly attempts: number;
  /** It failed, and is answered so in its turn. */
  readonly settled?: Answer;
}

function answerAll(sent: readonly Waiting[], answers: Answers): void {
  let next = 0;
  for (const { settled, answered } of sent) {
    if (settled !== undefined) answered(settled);
    else if (answers.outcome === "overloaded") answered(failure(errorCodes.tooManyRequests));
    // Fewer answers than questions: another release, or a fault. Nobody must wait for ever.
    else answered(answers.answers[next++] ?? failure(errorCodes.internal));
  }
}

function failure(error: ErrorCode): Answer {
  return { outcome: "error", error };
}

/** How often a question may be sent: a publish done twice would be two publications, and a lost leave is told by nobody. */
function attemptsOf({ method }: Question): number {
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

function bytesOf(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { bytes }) => sum + bytes, 0);
}
