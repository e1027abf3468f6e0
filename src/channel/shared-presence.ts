import type { Subscriber } from "../hub/subscriber.ts";
import { limits } from "../limits.ts";
import type { Codec } from "../protocol/codec.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { PresenceAnswer } from "../protocol/reply.ts";
import { type GatheredPresence, PresenceListing, presentClients } from "./presence.ts";

/**
 * Lists the clients that are present on a channel, once for all questions that come at the same time (rules P3 to P6).
 * A question starts a census in the next turn of the event loop:
 *
 * ```text
 * turn ─► gather ─► list and encode a slice ─► … turn … ─► answer a slice ─► … turn … ─► the next census
 * ```
 *
 * The questions that come until that turn share the census. Later questions share the next census, because the gathered
 * lists may be older than these questions. If a census waits long for gateways, the next one starts before it ends.
 * Otherwise later questions would wait twice as long for a gateway that hangs.
 */
export class SharedPresence {
  readonly #source: PresenceSource;
  readonly #slices: PresenceSlices;
  /** The questions for the next census. */
  #waiting = new WaitingQuestions();
  /** Whether the next census begins in the next turn. */
  #opening = false;
  readonly #censuses = new Set<Census>();
  /** Whether a timer is set to overtake the censuses that wait for gateways. */
  #overtakesLater = false;

  constructor(source: PresenceSource, slices: PresenceSlices = limits) {
    this.#source = source;
    this.#slices = slices;
  }

  /** Whether no census is under way and no question waits. */
  get idle(): boolean {
    return this.#censuses.size === 0 && !this.#opening;
  }

  /**
   * Asks a question. The answer is error 111 at once if too many questions wait already: `limits.presenceWaitingMax` of
   * clients, or as many of calls. Of one client, fewer may wait, so that no client makes the others be refused.
   */
  ask(question: PresenceQuestion): void {
    if (this.#waiting.enqueue(question)) this.#goOn();
    else question.done({ outcome: "failed", error: errorCodes.tooManyRequests });
  }

  /** Sees to it that a census begins for the questions that wait. */
  #goOn(): void {
    if (this.#opening || this.#waiting.size === 0) return;
    if (this.#censuses.size === 0) this.#open();
    else if (!this.#overtakesLater) {
      this.#overtakesLater = true;
      this.#source.later(limits.presenceOvertakeMs, () => this.#overtake());
    }
  }

  #overtake(): void {
    this.#overtakesLater = false;
    if (this.#opening || this.#waiting.size === 0) return;
    // A census that lists or answers is soon over, and goes on with the next one then.
    if ([...this.#censuses].every(({ gathering }) => gathering)) this.#open();
  }

  #open(): void {
    this.#opening = true;
    this.#source.later(0, () => {
      this.#opening = false;
      const census = new Census(this.#waiting.all, this.#source, this.#slices, () => {
        this.#censuses.delete(census);
        this.#goOn();
      });
      this.#waiting = new WaitingQuestions();
      this.#censuses.add(census);
      census.begin();
    });
  }
}

/** Answers the questions that came at the same time, in slices, so that other work of the object goes on in between. */
class Census {
  readonly #source: PresenceSource;
  readonly #slices: PresenceSlices;
  readonly #ended: () => void;
  /** The questions that aren't answered yet. */
  #questions: readonly PresenceQuestion[];
  /** How large the list is in each codec in which it is asked for. */
  readonly #bytes = new Map<Codec, number>();
  /** Whether the gateways haven't answered yet. */
  gathering = true;

  /** @param ended called once, when all questions are answered */
  constructor(
    questions: readonly PresenceQuestion[],
    source: PresenceSource,
    slices: PresenceSlices,
    ended: () => void,
  ) {
    this.#questions = questions;
    this.#source = source;
    this.#slices = slices;
    this.#ended = ended;
    for (const { codec } of questions) if (codec !== undefined) this.#bytes.set(codec, 0);
  }

  begin(): void {
    this.#source.gather((gathered) => {
      this.gathering = false;
      if ("error" in gathered) this.#answer({ outcome: "failed", error: gathered.error });
      else {
        const here = presentClients(this.#source.subscribers());
        this.#list(new PresenceListing(here, gathered));
      }
    });
  }

  /** Lists a slice, and encodes it in each codec that was asked for: then a reply only copies it. */
  #list(listing: PresenceListing): void {
    const part = listing.next(this.#slices.presenceSliceClients);
    for (const [codec, before] of this.#bytes) {
      const reply = { id: 0, method: "presence", result: { parts: [part] } } as const;
      this.#bytes.set(codec, before + codec.encodeReply(reply).length);
    }
    if (listing.over) {
      const { result, stats } = listing;
      this.#answer({ outcome: "present", result, stats });
    } else this.#source.later(0, () => this.#list(listing));
  }

  /** Answers a slice of the questions. */
  #answer(answer: PresenceAnswer): void {
    const { sliceSubscribersMax, sliceBytesMax } = this.#slices;
    let answered = 0;
    let sentBytes = 0;
    try {
      for (const { codec, done } of this.#questions) {
        if (answered >= sliceSubscribersMax || sentBytes >= sliceBytesMax) break;
        answered++;
        sentBytes += codec === undefined ? 0 : (this.#bytes.get(codec) ?? 0);
        done(answer);
      }
    } finally {
      // Also after a bug, or the other questions would wait for ever.
      this.#questions = this.#questions.slice(answered);
      if (this.#questions.length === 0) this.#ended();
      else this.#source.later(0, () => this.#answer(answer));
    }
  }
}

/** The object that holds the channel, or follows it. */
export interface PresenceSource {
  /**
   * Does the work after so many ms: after 0 ms in the next turn of the event loop. The object doesn't hibernate
   * meanwhile.
   */
  later(waitMs: number, work: () => void): void;
  /**
   * Asks all other objects which of their clients are present (rule G6).
   *
   * @param done called once, now or later
   */
  gather(done: (gathered: GatheredPresence | { readonly error: ErrorCode }) => void): void;
  /** The subscribers on the object's own sockets, unless `gather` asks this object as well. */
  subscribers(): readonly Subscriber[];
}

/** The slices of a census, as src/limits.ts explains them. The simulator has smaller ones, to reach them. */
interface PresenceSlices {
  readonly presenceSliceClients: number;
  /** Answers in a slice, and the bytes of the lists in them: the same as of a frame to many (rule F2). */
  readonly sliceSubscribersMax: number;
  readonly sliceBytesMax: number;
}

/** A question about who is present. */
export interface PresenceQuestion {
  /** The client of this object that asks; absent for a call of the edge or of a gateway. */
  readonly client?: object;
  /** The codec in which the asker gets the list; undefined if it gets no list, or no encoded one. */
  readonly codec: Codec | undefined;
  /** Called once, later, or at once if the question is refused. */
  readonly done: (answer: PresenceAnswer) => void;
}

/** The questions for one census, as many as may wait. */
class WaitingQuestions {
  readonly #calls: PresenceQuestion[] = [];
  readonly #ofClients: PresenceQuestion[] = [];
  /** How many of them each client has asked. */
  readonly #counts = new Map<object, number>();

  /** The questions in the order in which they are answered. Objects and backends come first. */
  get all(): readonly PresenceQuestion[] {
    return [...this.#calls, ...this.#ofClients];
  }

  get size(): number {
    return this.#calls.length + this.#ofClients.length;
  }

  /** @returns false if too many wait already */
  enqueue(question: PresenceQuestion): boolean {
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
