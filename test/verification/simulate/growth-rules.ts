import { Records } from "../../support/records.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { blindKey, BlindRules } from "./blind-rules.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { beginningOf, mayBeginAt, numberOf, textUpTo } from "./growth-text.ts";

/**
 * What may be shown and answered of values that grow, by what producers have sent and what they were answered (rules Z38 to
 * Z43). It knows the texts, when objects crashed, and which changes of keys were no appends. It knows nothing of windows but
 * how long they last, and nothing of marks and rows.
 */
export class GrowthRules {
  readonly #nowMs: () => number;
  readonly #complain: (what: string) => void;
  readonly #keys = new Records(newKey);
  readonly #crashes = new Map<string, number>();
  /** Of texts to which pieces are appended that name no length. */
  readonly blind: BlindRules;
  /** How much later than its end a window may become durable: longer where clocks are turned. */
  slackMs = 1_000;

  constructor(nowMs: () => number, complain: (what: string) => void) {
    this.#nowMs = nowMs;
    this.#complain = complain;
    this.blind = new BlindRules(complain);
  }

  /** The number of the next text of a key. */
  nextNumber(channel: string, key: string): number {
    return ++this.#key(channel, key).texts;
  }

  /**
   * A producer is about to send what a text has up to a length.
   *
   * @param mayWait whether that may be told before it is durable
   */
  sends(channel: string, key: string, number: number, length: number, mayWait: boolean): void {
    const { sent, waiting } = this.#key(channel, key);
    sent.set(number, Math.max(sent.get(number) ?? 0, length));
    if (mayWait) waiting.set(number, Math.max(waiting.get(number) ?? 0, length));
  }

  /** How far a text was sent. */
  sentOf(channel: string, key: string, number: number): number {
    return this.#key(channel, key).sent.get(number) ?? 0;
  }

  /** What is known of a key when a request is sent: its answer may not say less. */
  known(channel: string, key: string): KnownGrowth {
    const { takenBack, acknowledged, durable } = this.#key(channel, key);
    const crashes = this.#crashesOf(channel);
    return { channel, key, takenBack, crashes, acknowledged: acknowledged.at(-1), durable };
  }

  /** Whether a key wasn't taken back, and its object hasn't crashed, since a request was sent. */
  isUnchanged({ channel, key, takenBack, crashes }: KnownGrowth): boolean {
    const now = this.known(channel, key);
    return now.takenBack === takenBack && now.crashes === crashes;
  }

  /** Of all keys of a channel. */
  knownOfAll(channel: string): readonly KnownGrowth[] {
    return [...this.#keys.values()]
      .filter((grown) => grown.channel === channel)
      .map(({ key }) => this.known(channel, key));
  }

  /** An append was answered. */
  answered(known: KnownGrowth, asked: AskedPiece, { length, suppress_reason }: AppendResult): void {
    const { channel, key } = known;
    const name = `${channel} ${key}`;
    const grown = this.#key(channel, key);
    const end = asked.at + asked.text.length;
    if (suppress_reason === undefined && length < end)
      this.#complain(`${name} is ${length} long, although it has got a piece up to ${end}`);
    if (!this.#mayBeLong(grown, length))
      this.#complain(`${name} is ${length} long, and no text was sent so far`);
    // It was removed or set meanwhile: the answer is of what was before, or of what came after.
    if (grown.takenBack !== known.takenBack) return;
    const hasCrashed = this.#crashesOf(channel) !== known.crashes;
    const least = hasCrashed ? known.durable : known.acknowledged;
    if (least !== undefined && length < least.length)
      this.#complain(`${name} is ${length} long after ${least.length} was acknowledged`);
    if (!mayBeginAt(asked.number, length) || length === 0) return;
    const reached = { number: asked.number, length, ms: this.#nowMs() };
    const last = grown.acknowledged.at(-1)?.length ?? 0;
    if (!hasCrashed && length > last) grown.acknowledged.push(reached);
    if (suppress_reason !== undefined) return;
    if (this.#isDurable(grown, asked, length) && end > (grown.durable?.length ?? 0)) {
      grown.durable = { ...reached, length: end };
      if (hasCrashed && end > last) grown.acknowledged.push(grown.durable);
    }
    if (asked.final && length === end) grown.final = reached;
  }

  /** Whether a piece is durable now that an answer says that the text has it (rule Z40). */
  #isDurable({ channel, waiting }: GrownKey, asked: AskedPiece, length: number): boolean {
    const { isEphemeral = false, windowMs = 0 } = growthKindOf(channel) ?? {};
    const end = asked.at + asked.text.length;
    if (isEphemeral) return false;
    if (windowMs === 0 || (asked.final && length === end)) return true;
    // The same text may have come without the key before, and wait.
    return asked.idempotencyKey !== "" && end > (waiting.get(asked.number) ?? 0);
  }

  /** A backend has read what a key has; undefined if the map hasn't the key. */
  read(known: KnownGrowth, text: string | undefined): void {
    const { channel, key, durable } = known;
    if (text !== undefined) this.shows(channel, key, text, "A backend");
    if (this.#key(channel, key).takenBack !== known.takenBack || durable === undefined) return;
    const length = text?.length ?? 0;
    if (length < durable.length)
      this.#complain(`${channel} ${key} is read with ${length}, and ${durable.length} is durable`);
  }

  /** A client has joined, and shows these texts. It has all that was durable when it asked. */
  joined(known: KnownGrowth, texts: ReadonlyMap<string, string>, who: string): void {
    const { channel, key, durable, takenBack } = known;
    const length = texts.get(key)?.length ?? 0;
    if (this.#key(channel, key).takenBack !== takenBack || durable === undefined) return;
    if (length < durable.length)
      this.#complain(
        `${who} joins ${channel} with ${length} of ${key}, and ${durable.length} is durable`,
      );
  }

  /** Somebody is shown a text. @returns its number */
  shows(channel: string, key: string, text: string, who: string): number {
    if (key === blindKey) {
      this.blind.shows(channel, text, who);
      return 0;
    }
    const number = numberOf(key, text);
    const name = `${channel} ${key}`;
    const grown = this.#key(channel, key);
    if (number === undefined || text !== textUpTo(key, number, text.length)) {
      this.#complain(`${who} is shown ${name} as ${JSON.stringify(text)}`);
      return 0;
    }
    const sent = grown.sent.get(number) ?? 0;
    if (text.length > sent)
      this.#complain(`${who} is shown ${text.length} of ${name} ${number}, and ${sent} was sent`);
    const { final } = grown;
    if (final?.number === number && text.length > final.length)
      this.#complain(`${who} is shown ${text.length} of ${name}, which ended at ${final.length}`);
    return number;
  }

  /** An object changes a key. */
  changed(channel: string, { key = "", grown, removed }: Publication, objectMs: number): void {
    const known = this.#key(channel, key);
    const { keyTtlMs = 0 } = growthKindOf(channel) ?? {};
    const isEarly = keyTtlMs === 0 || objectMs - known.changedMs < keyTtlMs - this.slackMs;
    if (removed === true && known.removals === 0 && isEarly)
      this.#complain(`${channel} ${key} ended before its time`);
    known.changedMs = objectMs;
    if (grown === undefined) this.#takeBack(known);
  }

  /** Somebody asks to remove a key. */
  removes(channel: string, key: string): void {
    this.#key(channel, key).removals++;
  }

  /** All keys of a channel are gone. */
  forgot(channel: string): void {
    for (const grown of this.#keys.values()) if (grown.channel === channel) this.#takeBack(grown);
  }

  /** An object has crashed: what it said it has may be lost, as far as it was within a window. */
  crashed(channel: string): void {
    const { isEphemeral = false, windowMs = 0 } = growthKindOf(channel) ?? {};
    this.#crashes.set(channel, this.#crashesOf(channel) + 1);
    if (isEphemeral) this.forgot(channel);
    const beforeMs = this.#nowMs() - windowMs - this.slackMs;
    this.blind.lost(channel, beforeMs, false);
    for (const grown of this.#keys.values()) {
      if (grown.channel !== channel) continue;
      // Its last change may have been undone.
      grown.changedMs = 0;
      const old = grown.acknowledged.findLast(({ ms }) => ms <= beforeMs);
      if (old !== undefined && old.length > (grown.durable?.length ?? 0)) grown.durable = old;
      grown.acknowledged = grown.durable === undefined ? [] : [grown.durable];
    }
  }

  /** Whether the text of a key may have become shorter without its subscribers being told of each change (rule Z14). */
  wasTakenBack(channel: string, key: string): boolean {
    return this.#key(channel, key).takenBack > 0;
  }

  /** When all is quiet, a map has what was acknowledged. @param isDone whether all producers know how far they are */
  checkAcknowledged(channel: string, texts: ReadonlyMap<string, string>, isDone: boolean): void {
    this.blind.checkAcknowledged(channel, texts.get(blindKey) ?? "");
    for (const { key, acknowledged, takenBack } of this.knownOfAll(channel)) {
      if (acknowledged === undefined) continue;
      const { number } = acknowledged;
      const length = texts.get(key)?.length ?? 0;
      const isRight = isDone ? length === acknowledged.length : length >= acknowledged.length;
      const name = `${channel} ${key} ${number}`;
      if (!isRight)
        this.#complain(
          `${name} has ${length} at rest, ${acknowledged.length} was acknowledged, ${takenBack}`,
        );
    }
  }

  /** What was acknowledged of a key counts no more. */
  #takeBack(grown: GrownKey): void {
    grown.takenBack++;
    grown.acknowledged = [];
    grown.durable = undefined;
    grown.final = undefined;
    if (grown.key === blindKey) this.blind.lost(grown.channel, 0, true);
  }

  /** Whether a key may have a text of this length. */
  #mayBeLong({ key, sent }: GrownKey, length: number): boolean {
    if (length === 0) return true;
    return [...sent].some(
      ([number, most]) =>
        length <= most && length >= beginningOf(key, number).length && mayBeginAt(number, length),
    );
  }

  #crashesOf(channel: string): number {
    return this.#crashes.get(channel) ?? 0;
  }

  #key(channel: string, key: string): GrownKey {
    return this.#keys.of(`${channel} ${key}`);
  }
}

function newKey(name: string): GrownKey {
  const [channel = "", key = ""] = name.split(" ");
  return {
    channel,
    key,
    texts: 0,
    sent: new Map(),
    waiting: new Map(),
    takenBack: 0,
    removals: 0,
    changedMs: 0,
    acknowledged: [],
    durable: undefined,
    final: undefined,
  };
}

/** What was known of a key when a request was sent. */
export interface KnownGrowth {
  readonly channel: string;
  readonly key: string;
  readonly takenBack: number;
  readonly crashes: number;
  /** What the key must have unless it crashed. */
  readonly acknowledged: Reached | undefined;
  /** What it must have in any case. */
  readonly durable: Reached | undefined;
}

/** A piece that was sent. */
export interface AskedPiece {
  /** Of the text. */
  readonly number: number;
  readonly at: number;
  readonly text: string;
  readonly final: boolean;
  readonly idempotencyKey: string;
}

/** The result of `map_append`. */
export interface AppendResult {
  readonly length: number;
  readonly suppress_reason?: string;
}

/** How far a text was acknowledged, and when. */
interface Reached {
  readonly number: number;
  readonly length: number;
  readonly ms: number;
}

interface GrownKey {
  readonly channel: string;
  readonly key: string;
  /** How many texts the key was given. */
  texts: number;
  /** How far each text was sent, by its number. */
  readonly sent: Map<number, number>;
  /** How far each was sent in pieces that may wait to be durable. */
  readonly waiting: Map<number, number>;
  /** How often the text was replaced, removed or forgotten. */
  takenBack: number;
  /** How often somebody has asked to remove the key. */
  removals: number;
  /** When the key was changed last, by the object's clock. */
  changedMs: number;
  /** What was acknowledged since the text was taken back, and since the last crash what is certain. */
  acknowledged: Reached[];
  durable: Reached | undefined;
  /** How long the text is that has ended. */
  final: Reached | undefined;
}
