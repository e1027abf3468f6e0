import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import { questionBytes } from "../contract/question-bytes.ts";
import type { Answer, Answers, Question } from "../contract/relay-request.ts";
import { UpstreamPause } from "./upstream-pause.ts";
import { type Waiting, WaitingQuestions } from "./waiting-questions.ts";

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
 * under way at a time, and what is asked meanwhile shares the next one. An overloaded channel is left alone for a while, and
 * then asked again what can't be lost.
 */
export class Upstream {
  readonly #channel: string;
  readonly #port: UpstreamPort;
  readonly #emptied: () => void;
  readonly #paused: () => void;
  readonly #waiting = new WaitingQuestions();
  readonly #pause = new UpstreamPause();
  /** From a call out until its last answer was given: what an answer makes somebody ask shares the next call, too. */
  #underWay = false;

  /**
   * @param emptied called whenever nothing is asked any more
   * @param paused  called whenever {@link settle} has to be called, now and when it says
   */
  constructor(
    channel: string,
    port: UpstreamPort,
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
  ask(all: readonly Asked[]): void {
    const refused: Asked[] = [];
    for (const asked of all) {
      const { question } = asked;
      const bytes = questionBytes(question);
      const waiting = { ...asked, bytes, attempts: attemptsOf(question), tries: triesOf(question) };
      if (!this.#waiting.add(waiting)) refused.push(asked);
    }
    for (const { answered } of refused) answered(failure(errorCodes.tooManyRequests));
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
  #overloaded(sent: readonly Waiting[]): void {
    this.#pause.begin();
    this.#putBack(sent.map(refusedOnce));
    // What waits was asked meanwhile, and comes with the next call.
    if (this.#waiting.size === 0) this.#pause.skip();
    else this.#paused();
  }

  /** These are asked again, before everything else; what was given up is told only after what was asked earlier. */
  #putBack(sent: readonly Waiting[]): void {
    // For the answer to a join or a leave nobody waits.
    const first = sent.findIndex(
      ({ settled, question }) => settled === undefined && question.method !== "announce",
    );
    const before = first < 0 ? sent : sent.slice(0, first);
    const kept = before.filter(({ settled }) => settled === undefined);
    // They wait again before any answer is given: that may ask something new, which comes after them.
    this.#waiting.putBack([...kept, ...sent.slice(before.length)]);
    for (const { settled, answered } of before) if (settled !== undefined) answered(settled);
  }
}

/** Nobody knows what became of it: what does no harm when it is done twice is asked again. */
function failedOnce(waiting: Waiting): Waiting {
  const attempts = waiting.attempts - 1;
  if (waiting.settled !== undefined || attempts > 0) return { ...waiting, attempts };
  return { ...waiting, attempts, settled: failure(errorCodes.internal) };
}

/** It was refused, and does no harm if it is asked again. */
function refusedOnce(waiting: Waiting): Waiting {
  const tries = waiting.tries - 1;
  if (waiting.settled !== undefined || tries > 0) return { ...waiting, tries };
  return { ...waiting, tries, settled: failure(errorCodes.tooManyRequests) };
}

function answerAll(sent: readonly Waiting[], answers: readonly Answer[]): void {
  let next = 0;
  for (const { settled, answered } of sent) {
    if (settled !== undefined) answered(settled);
    // Fewer answers than questions: another release, or a fault. Nobody must wait for ever.
    else answered(answers[next++] ?? failure(errorCodes.internal));
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

/** How often an overloaded channel may be asked: a client repeats what it asked for itself, and nobody the rest. */
function triesOf({ method }: Question): number {
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
