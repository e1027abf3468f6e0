import type { Refusal } from "./refusal.ts";
import { limits } from "../limits.ts";

/** The last refusals of one object, in memory (rule Y5). Equal ones that follow each other are counted. */
export class RefusalTrail {
  /** Oldest first. */
  #kept: RememberedRefusal[] = [];
  #characters = 0;

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
    const told = Math.min(count, limits.trailRefusalsMax);
    return told === 0 ? [] : this.#kept.slice(-told).toReversed();
  }

  /** Forgets several at a time: moving the rest for each refusal would cost more than the refusal. */
  #forget(): void {
    const { trailRefusalsMax, trailRefusalCharactersMax } = limits;
    const { length } = this.#kept;
    const isTooLong = this.#characters > trailRefusalCharactersMax;
    if (length < trailRefusalsMax * 1.1 && !isTooLong) return;
    const count = isTooLong ? Math.ceil(length / forgottenPart) : length - trailRefusalsMax;
    for (const one of this.#kept.slice(0, count)) this.#characters -= charactersOf(one);
    this.#kept = this.#kept.slice(count);
  }
}

/** A refusal as an object remembers it: a backend's key is known to the edge alone. */
export interface RememberedRefusal extends Omit<Refusal, "key"> {
  /** When it last happened, ms since 1970. */
  atMs: number;
  /** How often it happened in a row. */
  count: number;
}

/** A refusal whose texts have at most `limits.refusalTextMax` characters. */
function boundedRefusal(refusal: Refusal): Refusal {
  const { refused, rule, code, reason, user, channel } = refusal;
  return {
    refused,
    rule,
    reason: bounded(reason),
    ...(code === undefined ? {} : { code }),
    ...(user === undefined ? {} : { user: bounded(user) }),
    ...(channel === undefined ? {} : { channel: bounded(channel) }),
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
    one.reason === other.reason
  );
}

function charactersOf({ refused, rule, reason, user = "", channel = "" }: Refusal): number {
  return refused.length + rule.length + reason.length + user.length + channel.length;
}

/** The part of the refusals that is forgotten when their texts are too long. */
const forgottenPart = 10;
