import type { Codec } from "../protocol/codec.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import {
  type Payload,
  payloadBytes,
  payloadJson,
  payloadLength,
  samePayload,
} from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import { createDelta } from "./fossil.ts";
import { limits } from "../limits.ts";

/** The form of payloads for delta subscribers: strings in JSON, bytes in the binary formats. */
export type DeltaForm = Codec["deltaForm"];

/** Recovered publications as they are sent, and the payload from which the next delta may be made. */
interface DeltaChain {
  readonly publications: readonly Publication[];
  /** The payload of the last publication; undefined if there is none. */
  readonly last: Payload | undefined;
}

/**
 * Recovered publications for a delta subscriber (rule D2): the first one in full, each further one as a delta from the
 * one before it where that is shorter.
 *
 * @param known deltas of this and other channels, made for earlier subscribers; new ones are added
 */
export function deltaChain(
  publications: readonly Publication[],
  form: DeltaForm,
  channel: string,
  known: KnownDeltas,
): DeltaChain {
  let last: Payload | undefined;
  const chain = publications.map((publication) => {
    const found = known.find(channel, form, last, publication);
    if (found !== undefined) {
      last = found.payload;
      return { ...publication, ...found.sent };
    }
    const sent =
      last === undefined ? fullForDelta(publication, form) : deltaOrFull(publication, last, form);
    const { data, delta } = sent;
    known.remember(channel, form, publication.offset, {
      previous: last,
      payload: publication.data,
      sent: delta === true ? { data, delta } : { data },
    });
    last = publication.data;
    return sent;
  });
  return { publications: chain, last };
}

/**
 * A publication as a delta from the base, or in full if the delta isn't shorter on the wire.
 *
 * @param base the payload that the same subscriber got before
 */
export function deltaOrFull(publication: Publication, base: Payload, form: DeltaForm): Publication {
  const target = deltaBytes(publication.data, form);
  return shorterOf(publication, deltaBytes(base, form), target, form);
}

/** A publication in full, in the form that delta subscribers get (docs/protocol.md 3.1). */
export function fullForDelta<Sent extends Publication>(publication: Sent, form: DeltaForm): Sent {
  return form === "bytes"
    ? publication
    : { ...publication, data: asString(payloadJson(publication.data)) };
}

/** The bytes of a payload from which a delta is made, and which it produces: the same that an SDK keeps of it. */
function deltaBytes(payload: Payload, form: DeltaForm): Uint8Array {
  return payloadBytes(form === "text" ? payloadJson(payload) : payload);
}

function shorterOf(
  publication: Publication,
  base: Uint8Array,
  target: Uint8Array,
  form: DeltaForm,
): Publication {
  const delta = createDelta(base, target);
  if (delta === undefined) return fullForDelta(publication, form);
  if (form === "bytes") return { ...publication, data: delta, delta: true };
  const text = new TextDecoder().decode(delta);
  const asDelta: Publication = { ...publication, data: asString(text), delta: true };
  const deltaLength = delta.length + asDelta.data.length - text.length;
  // In full the payload takes at least its bytes and two quotes. This mostly settles it without writing it in full.
  if (deltaLength < target.length + 2) return asDelta;
  const full = fullForDelta(publication, form);
  return deltaLength < payloadLength(full.data) ? asDelta : full;
}

/**
 * A JSON string. A lone surrogate becomes U+FFFD, which it would be in UTF-8 anyway, because some SDKs can't convert a
 * lone surrogate to bytes.
 */
function asString(text: string): JsonText {
  return trustedJsonText(JSON.stringify(text.toWellFormed()));
}

/**
 * Deltas that were made for subscribers that recovered. Thousands of subscribers that come back together missed the
 * same publications, and each delta is made once for all of them. They also share one payload instead of holding a copy
 * each. This is a cache, which may be emptied at any time.
 */
export class KnownDeltas {
  readonly #entries = new Map<string, KnownDelta>();
  #bytes = 0;

  /**
   * @param previous the payload of the publication before; undefined for a publication in full
   * @returns the form in which it is sent, with the payload that other subscribers hold; undefined if it isn't known
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

  remember(channel: string, form: DeltaForm, offset: number, entry: KnownDelta): void {
    // Without history no publication is recovered, and none has an offset for a key.
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

/** The form in which a payload is sent to subscribers that hold another one. */
interface KnownDelta {
  /** The payload that the subscribers hold; undefined if the new one is sent in full. */
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
  return `${previous === undefined ? "full" : "delta"} ${form} ${offset} ${channel}`;
}

/**
 * Compares payloads, since an offset may have another publication in another epoch, or after the channel was forgotten.
 */
function isSame(one: Payload | undefined, other: Payload | undefined): boolean {
  return one === undefined || other === undefined ? one === other : samePayload(one, other);
}

function bytesOf({ payload, sent }: KnownDelta): number {
  return payload.length + sent.data.length + overheadBytes;
}

/** Memory for an entry besides its payloads. */
const overheadBytes = 256;
