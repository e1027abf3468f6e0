import { limits } from "../limits.ts";
import type { Payload } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import type { DeltaForm } from "./delta-chain.ts";

/**
 * What was made for those who recovered before: when thousands come back together they missed the same, and a patch is made
 * once for all of them. They also hold one payload between them, and not a copy each. It may be empty at any time.
 */
export class KnownDeltas {
  readonly #entries = new Map<string, KnownDelta>();
  #bytes = 0;

  /**
   * @param previous the payload before it; undefined for a publication in full
   * @returns how it is sent, with the payload that others hold; undefined when it isn't known
   */
  find(
    channel: string,
    form: DeltaForm,
    previous: Payload | undefined,
    { offset, data }: Publication,
  ): KnownDelta | undefined {
    const known = this.#entries.get(keyOf(channel, form, previous, offset));
    if (known === undefined || !isSame(known.payload, data)) return undefined;
    return isSame(known.previous, previous) ? known : undefined;
  }

  add(channel: string, form: DeltaForm, offset: number, entry: KnownDelta): void {
    // Without history nothing is recovered, and it has no place that it could be known by.
    if (offset === 0) return;
    const bytes = bytesOf(entry);
    if (this.#bytes + bytes > limits.knownDeltasBytesMax) {
      this.#entries.clear();
      this.#bytes = 0;
    }
    if (bytes > limits.knownDeltasBytesMax) return;
    const key = keyOf(channel, form, entry.previous, offset);
    const replaced = this.#entries.get(key);
    this.#bytes += bytes - (replaced === undefined ? 0 : bytesOf(replaced));
    this.#entries.set(key, entry);
  }
}

/** How one payload is sent to those who have another one. */
export interface KnownDelta {
  /** Undefined where it is sent in full. */
  readonly previous: Payload | undefined;
  readonly payload: Payload;
  readonly sent: Pick<Publication, "data" | "delta">;
}

function keyOf(
  channel: string,
  form: DeltaForm,
  previous: Payload | undefined,
  offset: number,
): string {
  return `${previous === undefined ? "full" : "patch"} ${form} ${offset} ${channel}`;
}

/** The same place may hold something else: in another epoch, or in a channel that was forgotten. */
function isSame(one: Payload | undefined, other: Payload | undefined): boolean {
  if (one === other) return true;
  if (!(one instanceof Uint8Array) || !(other instanceof Uint8Array)) return false;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function bytesOf({ payload, sent }: KnownDelta): number {
  return payload.length + sent.data.length + overheadBytes;
}

const overheadBytes = 256;
