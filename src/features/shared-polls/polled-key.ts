import { hashOf } from "../../contract/object-names.ts";
import type { KeyChange } from "./poll-batch.ts";
import { base64, type Payload, samePayload } from "../../protocol/payload.ts";
import type { Watcher } from "./watcher.ts";
import { dueMoment } from "../../moment.ts";

/** A key of a shared poll, as its channel's object knows it. */
export interface PolledKey {
  /** 0n until there is an answer. */
  version: bigint;
  /** The newest value; undefined if there is none yet, or it isn't kept. */
  change: KeyChange | undefined;
  /** Of a value that isn't kept, what tells it from others. */
  hash: string | undefined;
  readonly watchers: Set<Watcher>;
}

/** Whether a key has this content. */
export function isSameContent({ change, hash, version }: PolledKey, data: Payload): boolean {
  if (change === undefined) return version > 0n && hash === contentOf(data);
  return samePayload(change.data, data);
}

/** Two hashes and the length: that another content has the same is as good as impossible, unless it is made so. */
export function contentOf(data: Payload): string {
  const text = typeof data === "string" ? data : base64(data);
  return `${text.length}:${hashOf(text)}:${hashOf(text, otherStart)}`;
}

const otherStart = 0x9e_37_79_b9;

/**
 * Keys that nobody tracks any more. They are remembered for a while, because clients that load a page anew track its
 * keys again.
 */
export class LeftKeys {
  readonly #delayMs: number;
  /** With the time at which each is forgotten, the earliest first; undefined until the next call that brings the time. */
  readonly #ends = new Map<string, number | undefined>();

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Nobody tracks the key any more. */
  left(key: string): void {
    this.#ends.set(key, undefined);
  }

  /** Somebody tracks the key again, or there is no such key any more. */
  drop(key: string): void {
    this.#ends.delete(key);
  }

  clear(): void {
    this.#ends.clear();
  }

  /** Drops the keys whose time is over, and gives each of them to `forget`. */
  expire(nowMs: number, forget: (key: string) => void): void {
    for (const [key, endMs] of this.#ends) {
      if (endMs === undefined) this.#ends.set(key, nowMs + this.#delayMs);
      if (endMs === undefined || this.#untilMs(endMs, nowMs) > nowMs) continue;
      this.#ends.delete(key);
      forget(key);
    }
  }

  /** When the first of them is to be forgotten, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    for (const endMs of this.#ends.values()) return this.#untilMs(endMs ?? nowMs, nowMs);
    return Number.POSITIVE_INFINITY;
  }

  #untilMs(endMs: number, nowMs: number): number {
    return dueMoment(endMs, this.#delayMs, nowMs);
  }
}
