import type { ChannelAnswer, ChannelOperation } from "../../../src/contract/channel-call.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import { blindKey } from "./blind-rules.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { ignoreAnswer, type MapStateResult } from "./backend.ts";
import { callChannel } from "./channel-call.ts";
import type { AppendResult, AskedPiece, GrowthRules } from "./growth-rules.ts";
import { beginningOf, mayBeginAt, numberOf, pieceUnits, textUpTo } from "./growth-text.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * The producers of values that grow, one for each key. Each appends one piece after the other, with the length where it has to
 * begin, until it knows that the piece is there; where its text isn't as long as it thought, it goes on from where the text is.
 * Others replace and remove the values meanwhile.
 */
export class GrowthBackend {
  readonly #context: WorldContext;
  readonly #rules: GrowthRules;
  readonly #backoffMs: () => number;
  readonly #producers = new Map<string, Producer>();
  #idempotencyKeys = 0;

  constructor(context: WorldContext, backoffMs: () => number) {
    this.#context = context;
    this.#rules = context.growth;
    this.#backoffMs = backoffMs;
  }

  /** Producers that have no answer yet. */
  get pending(): number {
    return [...this.#producers.values()].filter(({ isBusy }) => isBusy).length;
  }

  remove(channel: string, key: string): void {
    this.#rules.removes(channel, key);
    const request = { key, idempotencyKey: "" };
    this.#call(channel, { method: "map_remove", request }, ignoreAnswer);
  }

  read(channel: string, key: string): void {
    this.#read(channel, key, ignoreAnswer);
  }

  /** Removes all texts of a map. */
  forget(channel: string): void {
    this.#call(channel, { method: "map_clear" }, ignoreAnswer);
  }

  append(channel: string, key: string, traits: PieceTraits): void {
    const producer = this.#producer(channel, key);
    for (let piece = 1; piece <= traits.pieces; piece++) {
      const { final, ...rest } = traits;
      producer.queue.push(piece === traits.pieces && final === true ? traits : rest);
    }
    if (!producer.isBusy) this.#next(producer);
  }

  /** Appends a piece without a length: until it is known that it is there if it has a key, and once otherwise. */
  appendBlind(channel: string, keyed: boolean): void {
    const { blind } = this.#rules;
    const { isEphemeral = false, windowMs = 0 } = growthKindOf(channel) ?? {};
    const piece = blind.sends(channel, !isEphemeral && (keyed || windowMs === 0));
    const { text } = piece;
    const request = { key: blindKey, text, final: false, idempotencyKey: keyed ? text : "" };
    const known = this.#rules.known(channel, blindKey);
    const send = (): void =>
      this.#call(channel, { method: "map_append", request }, (answer) => {
        if (answer === undefined && keyed) this.#later(send);
        const isSame = this.#rules.isUnchanged(known);
        if (answer !== undefined && "result" in answer && isSame)
          blind.acknowledged(piece, this.#context.timeline.nowMs);
      });
    send();
  }

  /** Every producer appends once more, and so finds out how far its text is. */
  appendToAll(channel: string): void {
    for (const { key, ...producer } of this.#producers.values())
      if (producer.channel === channel) this.append(channel, key, { pieces: 1, blocks: 1 });
  }

  /** The next piece of a key's producer, for another one that appends it; undefined if it doesn't know where it is. */
  pieceOf(channel: string, key: string): AskedPiece | undefined {
    const { place } = this.#producer(channel, key);
    return place && this.#piece(key, place, { pieces: 1, blocks: 1 });
  }

  #next(producer: Producer): void {
    const { channel, key, place, queue } = producer;
    const [traits] = queue;
    producer.isBusy = traits !== undefined;
    if (traits === undefined) return;
    if (place === undefined) {
      this.#read(channel, key, (text) => {
        const number = text === undefined ? undefined : numberOf(key, text);
        producer.place =
          number === undefined
            ? { number: this.#rules.nextNumber(channel, key), at: 0 }
            : { number, at: text?.length ?? 0 };
        this.#next(producer);
      });
    } else this.#send(producer, traits, this.#piece(key, place, traits), traits.repeats === true);
  }

  #piece(key: string, { number, at }: Place, traits: PieceTraits): AskedPiece {
    const from = at === 0 ? beginningOf(key, number).length : at;
    const text = textUpTo(key, number, from + traits.blocks * pieceUnits).slice(at);
    const idempotencyKey = traits.keyed === true ? `append-${++this.#idempotencyKeys}` : "";
    return { number, at, text, final: traits.final === true, idempotencyKey };
  }

  /** Appends a piece until it is known what came of it. */
  #send(producer: Producer, traits: PieceTraits, piece: AskedPiece, repeats: boolean): void {
    const { channel, key, queue } = producer;
    const { at, text, final, idempotencyKey, number } = piece;
    const mayWait = !final && idempotencyKey === "";
    this.#rules.sends(channel, key, number, at + text.length, mayWait);
    const known = this.#rules.known(channel, key);
    const request = { key, text, at, final, idempotencyKey };
    this.#call(channel, { method: "map_append", request }, (answer) => {
      if (answer === undefined) {
        this.#later(() => this.#send(producer, traits, piece, repeats));
        return;
      }
      if ("error" in answer) {
        this.#context.publicationLog.complain(`a piece was refused: ${answer.error.code}`);
        return;
      }
      const result: AppendResult = JSON.parse(answer.result);
      const { length, suppress_reason: reason } = result;
      this.#rules.answered(known, piece, result);
      if (repeats && reason === undefined) {
        this.#send(producer, traits, piece, false);
        return;
      }
      const isKnown = mayBeginAt(number, length) && length > 0;
      const isOwn = isKnown && length <= this.#rules.sentOf(channel, key, number);
      producer.place = isOwn ? { number, at: length } : undefined;
      if (reason === undefined || reason === "idempotency") queue.shift();
      // Nothing more can be done with it.
      if (reason === "final") queue.length = 0;
      if (reason === "length_mismatch" && !isOwn) this.#later(() => this.#next(producer));
      else this.#next(producer);
    });
  }

  /** Replaces a value by the beginning of another text. */
  begin(channel: string, key: string): void {
    const number = this.#rules.nextNumber(channel, key);
    const text = beginningOf(key, number);
    this.#rules.sends(channel, key, number, text.length, false);
    const versioned = { version: 0n, versionEpoch: "", delta: number % 2 === 0 };
    const data = trustedJsonText(JSON.stringify(text));
    const request = { key, data, keyMode: "", idempotencyKey: "", ...versioned } as const;
    this.#call(channel, { method: "map_publish", request }, ignoreAnswer);
  }

  /** Reads what is durable of a value, until it is read. */
  #read(channel: string, key: string, done: (text: string | undefined) => void): void {
    const known = this.#rules.known(channel, key);
    const request = { key, cursor: "", limit: -1, asc: false };
    this.#call(channel, { method: "map_read_state", request }, (answer) => {
      if (answer === undefined || "error" in answer) {
        this.#later(() => this.#read(channel, key, done));
        return;
      }
      const { entries }: MapStateResult = JSON.parse(answer.result);
      const text = entries[0]?.data;
      this.#rules.read(known, text);
      done(text);
    });
  }

  #later(work: () => void): void {
    this.#context.timeline.after(this.#backoffMs(), work);
  }

  #call(
    channel: string,
    operation: ChannelOperation,
    answered: (answer: ChannelAnswer | undefined) => void,
  ): void {
    callChannel(this.#context, channel, operation, answered);
  }

  #producer(channel: string, key: string): Producer {
    const name = `${channel} ${key}`;
    const known = this.#producers.get(name);
    if (known !== undefined) return known;
    const producer = { channel, key, place: undefined, queue: [], isBusy: false };
    this.#producers.set(name, producer);
    return producer;
  }
}

/** Who appends to a key. */
interface Producer {
  readonly channel: string;
  readonly key: string;
  /** Where the producer is; undefined if it doesn't know. */
  place: Place | undefined;
  /** The pieces that it has to append yet. */
  readonly queue: PieceTraits[];
  /** Whether it waits for an answer. */
  isBusy: boolean;
}

interface Place {
  /** Of the text. */
  readonly number: number;
  readonly at: number;
}

/** How pieces are appended. */
export interface PieceTraits {
  readonly pieces: number;
  /** How long each is, in multiples of `pieceUnits`. */
  readonly blocks: number;
  /** Whether the last one ends the text. */
  readonly final?: true;
  /** Whether each has an idempotency key. */
  readonly keyed?: true;
  /** Whether each is sent again after it succeeded. */
  readonly repeats?: true;
}
