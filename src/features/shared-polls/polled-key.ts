import { hashOf } from "../../contract/text-hash.ts";
import type { KeyChange } from "./poll-batch.ts";
import { base64, type Payload, samePayload } from "../../protocol/payload.ts";
import type { Watcher } from "./watcher.ts";

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
