import type { Subscriber } from "../hub/subscriber.ts";
import { limits } from "../limits.ts";
import type { Codec } from "../protocol/codec.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { PresenceResult, PresenceStatsResult } from "../protocol/reply.ts";
import { type GatheredPresence, PresenceListing, presentClients } from "./presence.ts";

/**
 * Answers who is present on a channel, once for all who ask at the same time (rule P3). A question begins a round in
 * the next turn of the event loop:
 *
 * ```text
 * turn ─► gather ─► list and encode a slice ─► … turn … ─► answer a slice ─► … turn … ─► the next round
 * ```
 *
 * All who ask until the turn share the round. Those who ask later share the next round with all who come meanwhile,
 * because what was gathered may be from before they asked. Nobody else in the object waits for more than one slice.
 */
export class SharedPresence {
  readonly #source: PresenceSource;
  readonly #slices: PresenceSlices;
  /** The questions for the next round. */
  #waiting = new WaitingQuestions();
  #underWay = false;

  constructor(source: PresenceSource, slices: PresenceSlices = limits) {
    this.#source = source;
    this.#slices = slices;
  }

  /** Whether no round is under way and nobody waits. */
  get idle(): boolean {
    return !this.#underWay;
  }

  /**
   * Asks who is present. The answer is error 111 at once if too many wait already: `limits.presenceWaitingMax` clients,
   * or as many calls. Of one client, fewer may wait, so that none makes the others be refused.
   */
  ask(question: PresenceQuestion): void {
    if (this.#waiting.add(question)) {
      if (!this.#underWay) this.#open();
    } else question.done({ outcome: "failed", error: errorCodes.tooManyRequests });
  }

  #open(): void {
    this.#underWay = true;
    this.#source.turn(() => {
      const questions = this.#waiting.all;
      this.#waiting = new WaitingQuestions();
      this.#source.gather((gathered) => {
        if ("error" in gathered) {
          this.#answer(questions, { outcome: "failed", error: gathered.error }, new Map());
          return;
        }
        const here = presentClients(this.#source.subscribers());
        const codecs = new Set(questions.flatMap(({ codec }) => codec ?? []));
        const bytes = new Map([...codecs].map((codec) => [codec, 0]));
        this.#list(questions, new PresenceListing(here, gathered), bytes);
      });
    });
  }

  /** Lists a slice, and encodes it in each codec that was asked for: then a reply only copies it. */
  #list(
    questions: readonly PresenceQuestion[],
    listing: PresenceListing,
    bytes: Map<Codec, number>,
  ): void {
    const part = listing.next(this.#slices.presenceSliceClients);
    for (const [codec, before] of bytes) {
      const reply = { id: 0, method: "presence", result: { parts: [part] } } as const;
      bytes.set(codec, before + codec.encodeReply(reply).length);
    }
    if (listing.over) {
      const { result, stats } = listing;
      this.#answer(questions, { outcome: "present", result, stats }, bytes);
    } else {
      this.#source.turn(() => this.#list(questions, listing, bytes));
    }
  }

  /**
   * Answers a slice of the questions.
   *
   * @param bytes how large the list is in each codec
   */
  #answer(
    questions: readonly PresenceQuestion[],
    answer: PresenceAnswer,
    bytes: ReadonlyMap<Codec, number>,
  ): void {
    const { sliceSubscribersMax, sliceBytesMax } = this.#slices;
    let answered = 0;
    let sentBytes = 0;
    try {
      for (const { codec, done } of questions) {
        if (answered >= sliceSubscribersMax || sentBytes >= sliceBytesMax) break;
        answered++;
        sentBytes += codec === undefined ? 0 : (bytes.get(codec) ?? 0);
        done(answer);
      }
    } finally {
      // Also after a bug, or the others would wait for ever.
      this.#goOn(questions.slice(answered), answer, bytes);
    }
  }

  #goOn(
    questions: readonly PresenceQuestion[],
    answer: PresenceAnswer,
    bytes: ReadonlyMap<Codec, number>,
  ): void {
    if (questions.length > 0) this.#source.turn(() => this.#answer(questions, answer, bytes));
    else if (this.#waiting.all.length > 0) this.#open();
    else this.#underWay = false;
  }
}

/** The object that holds the channel, or follows it. */
export interface PresenceSource {
  /** Gives the event loop a turn and then does the work. The object doesn't hibernate meanwhile (rule S3). */
  turn(work: () => void): void;
  /**
   * Asks all other objects which of their clients are present (rule G6).
   *
   * @param done called once, now or later
   */
  gather(done: (gathered: GatheredPresence | { readonly error: ErrorCode }) => void): void;
  /** The subscribers on the object's own sockets, unless `gather` asks this object as well. */
  subscribers(): readonly Subscriber[];
}

/** The slices of a round, as src/limits.ts explains them. The simulator has smaller ones, to reach them. */
interface PresenceSlices {
  readonly presenceSliceClients: number;
  /** Answers in a slice, and the bytes of the lists in them: the same as of a frame to many (rule F2). */
  readonly sliceSubscribersMax: number;
  readonly sliceBytesMax: number;
}

/** A question for who is present. */
export interface PresenceQuestion {
  /** The client of this object that asks; absent for a call of the edge or of a gateway. */
  readonly client?: object;
  /** The codec in which the asker gets the list; undefined if it gets no list, or no encoded one. */
  readonly codec: Codec | undefined;
  /** Called once, later, or at once if the question is refused. */
  readonly done: (answer: PresenceAnswer) => void;
}

/** Who is present, as a list and in numbers; all who asked at the same time get the same objects. */
export type PresenceAnswer =
  | {
      readonly outcome: "present";
      readonly result: PresenceResult;
      readonly stats: PresenceStatsResult;
    }
  | { readonly outcome: "failed"; readonly error: ErrorCode };

/** The questions for one round, as many as may wait. */
class WaitingQuestions {
  readonly #calls: PresenceQuestion[] = [];
  readonly #ofClients: PresenceQuestion[] = [];
  /** How many of them each client has asked. */
  readonly #counts = new Map<object, number>();

  /** The questions in the order in which they are answered. Objects and backends come first. */
  get all(): readonly PresenceQuestion[] {
    return [...this.#calls, ...this.#ofClients];
  }

  /** @returns false if too many wait already */
  add(question: PresenceQuestion): boolean {
    const { client } = question;
    const waiting = client === undefined ? this.#calls : this.#ofClients;
    if (waiting.length >= limits.presenceWaitingMax) return false;
    if (client !== undefined) {
      const count = this.#counts.get(client) ?? 0;
      if (count >= limits.presenceWaitingPerClientMax) return false;
      this.#counts.set(client, count + 1);
    }
    waiting.push(question);
    return true;
  }
}
