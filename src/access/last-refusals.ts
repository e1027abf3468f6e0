import type { Refusal } from "./refusal.ts";
import { limits } from "../limits.ts";

/** The last refusals of one object or isolate, in memory (rule Y5). Equal ones that follow each other are counted. */
export class LastRefusals {
  /** Oldest first. */
  #kept: RememberedRefusal[] = [];
  #characters = 0;
  readonly #max: number;

  /** @param max how many are kept */
  constructor(max: number = limits.trailRefusalsMax) {
    this.#max = max;
  }

  /** Notes a refusal. */
  note(refusal: Refusal, nowMs: number): void {
    const noted = boundedRefusal(refusal);
    const newest = this.#kept.at(-1);
    if (newest !== undefined && isSame(newest, noted)) {
      newest.count++;
      newest.atMs = nowMs;
      return;
    }
    this.#kept.push({ ...noted, atMs: nowMs, count: 1 });
    this.#characters += charactersOf(noted);
    this.#forget();
  }

  /** The last refusals, newest first. */
  last(count: number): readonly Readonly<RememberedRefusal>[] {
    const listed = Math.min(count, this.#max);
    return listed === 0 ? [] : this.#kept.slice(-listed).toReversed();
  }

  /** The last refusals, newest first; the trail forgets all of them. */
  drain(): readonly Readonly<RememberedRefusal>[] {
    const taken = this.last(this.#max);
    this.#kept = [];
    this.#characters = 0;
    return taken;
  }

  /** Forgets several at a time: moving the rest for each refusal would cost more than the refusal. */
  #forget(): void {
    const { length } = this.#kept;
    const isTooLong = this.#characters > limits.trailRefusalCharactersMax;
    if (length < this.#max * 1.1 && !isTooLong) return;
    const count = isTooLong ? Math.ceil(length / forgottenPart) : length - this.#max;
    for (const one of this.#kept.slice(0, count)) this.#characters -= charactersOf(one);
    this.#kept = this.#kept.slice(count);
  }
}

/** A refusal as an object or an isolate of the edge remembers it. */
export interface RememberedRefusal extends Refusal {
  /** When it last happened, ms since 1970. */
  atMs: number;
  /** How often it happened in a row. */
  count: number;
}

/** A refusal whose texts have at most `limits.refusalTextMax` characters. */
function boundedRefusal(refusal: Refusal): Refusal {
  const { refused, rule, code, reason, user, channel, key } = refusal;
  return {
    refused,
    rule,
    reason: bounded(reason),
    ...(code === undefined ? {} : { code }),
    ...(user === undefined ? {} : { user: bounded(user) }),
    ...(channel === undefined ? {} : { channel: bounded(channel) }),
    ...(key === undefined ? {} : { key: bounded(key) }),
  };
}

/** A text of at most `limits.refusalTextMax` characters. */
export function bounded(text: string): string {
  return text.length <= limits.refusalTextMax ? text : `${text.slice(0, limits.refusalTextMax)}…`;
}

function isSame(one: Refusal, other: Refusal): boolean {
  return (
    one.refused === other.refused &&
    one.rule === other.rule &&
    one.code === other.code &&
    one.user === other.user &&
    one.channel === other.channel &&
    one.key === other.key &&
    one.reason === other.reason
  );
}

function charactersOf({ refused, rule, reason, user = "", channel = "" }: Refusal): number {
  return refused.length + rule.length + reason.length + user.length + channel.length;
}

/** The part of the refusals that is forgotten when their texts are too long. */
const forgottenPart = 10;
