import { limits } from "../limits.ts";
import type { Answer, Question } from "../contract/relay-request.ts";

/** A question that was asked, and may be asked again. */
export interface Waiting {
  readonly question: Question;
  readonly answered: (answer: Answer) => void;
  readonly bytes: number;
  /** How often it may still be sent without anybody knowing what became of it. */
  readonly attempts: number;
  /** How often it may still be refused by an overloaded channel. */
  readonly tries: number;
  /** It was given up, and is answered so in its turn. */
  readonly settled?: Answer;
}

/**
 * The questions that wait for the call under way, in order. Joins and leaves have room of their own: a client can be told
 * that its question was refused, and nobody repeats these.
 */
export class WaitingQuestions {
  #all: Waiting[] = [];
  readonly #questions = { count: 0, bytes: 0 };
  readonly #announces = { count: 0, bytes: 0 };

  get size(): number {
    return this.#all.length;
  }

  /** @returns false when there is no room for it */
  add(waiting: Waiting): boolean {
    const announces = waiting.question.method === "announce";
    const { count, bytes } = this.#roomOf(waiting);
    const countMax = announces ? limits.announcesWaitingMax : limits.questionsWaitingMax;
    const bytesMax = announces ? limits.announcesWaitingBytesMax : limits.questionsWaitingBytesMax;
    if (count >= countMax || bytes + waiting.bytes > bytesMax) return false;
    this.#all.push(waiting);
    this.#count(waiting, 1);
    return true;
  }

  /** Puts questions that had been taken before all others, whether or not there is room. */
  putBack(taken: readonly Waiting[]): void {
    this.#all = [...taken, ...this.#all];
    for (const waiting of taken) this.#count(waiting, 1);
  }

  /** Takes as many of the first ones as one call may have. */
  nextCall(): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const waiting of this.#all) {
      bytes += waiting.bytes;
      if (count >= limits.questionsPerCallMax) break;
      if (count > 0 && bytes > limits.questionsPerCallBytesMax) break;
      count++;
    }
    const next = this.#all.splice(0, count);
    for (const waiting of next) this.#count(waiting, -1);
    return next;
  }

  #count(waiting: Waiting, sign: 1 | -1): void {
    const room = this.#roomOf(waiting);
    room.count += sign;
    room.bytes += sign * waiting.bytes;
  }

  #roomOf({ question }: Waiting): { count: number; bytes: number } {
    return question.method === "announce" ? this.#announces : this.#questions;
  }
}
