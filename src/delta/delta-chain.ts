import type { Codec } from "../protocol/codec.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { type Payload, payloadBytes, payloadJson, payloadLength } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import { createDelta } from "./fossil.ts";
import { limits } from "../limits.ts";

/** How payloads stand where deltas were granted: JSON has all of them as strings, the binary formats as bytes. */
export type DeltaForm = Codec["deltaForm"];

/** Recovered publications as they are sent, and the last one's payload, from which the next patch may be made. */
interface DeltaChain {
  readonly publications: readonly Publication[];
  /** Undefined when there is no publication. */
  readonly last: Payload | undefined;
}

/**
 * Recovered publications: the first one full, each further one made out of the one before it where that is shorter.
 *
 * @param known what was made of the channel's publications for others
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
      last === undefined ? fullForDelta(publication, form) : patchOrFull(publication, last, form);
    const { data, delta } = sent;
    known.add(channel, form, publication.offset, {
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
 * A publication as a patch that makes its payload out of the base, or in full when the patch isn't shorter on the wire.
 *
 * @param base the payload that the same subscriber got before
 */
export function patchOrFull(publication: Publication, base: Payload, form: DeltaForm): Publication {
  const target = deltaBytes(publication.data, form);
  return shorterOf(publication, deltaBytes(base, form), target, form);
}

/** A publication with its whole payload, as those see it to whom deltas were granted (docs/protocol.md 3.1). */
export function fullForDelta(publication: Publication, form: DeltaForm): Publication {
  return form === "bytes"
    ? publication
    : { ...publication, data: asString(payloadJson(publication.data)) };
}

/** The bytes that patches are made from and for: an SDK keeps the same ones of what it got. */
function deltaBytes(payload: Payload, form: DeltaForm): Uint8Array {
  return payloadBytes(form === "text" ? payloadJson(payload) : payload);
}

function shorterOf(
  publication: Publication,
  base: Uint8Array,
  target: Uint8Array,
  form: DeltaForm,
): Publication {
  const patch = createDelta(base, target);
  if (patch === undefined) return fullForDelta(publication, form);
  if (form === "bytes") return { ...publication, data: patch, delta: true };
  const text = new TextDecoder().decode(patch);
  const patched: Publication = { ...publication, data: asString(text), delta: true };
  const patchedLength = patch.length + patched.data.length - text.length;
  // In full it takes at least its bytes and two quotes, which mostly settles it without writing it.
  if (patchedLength < target.length + 2) return patched;
  const full = fullForDelta(publication, form);
  return patchedLength < payloadLength(full.data) ? patched : full;
}

/** JSON of one string. A lone surrogate becomes what it is in UTF-8 anyway, or some SDKs couldn't make bytes of it. */
function asString(text: string): JsonText {
  return trustedJsonText(JSON.stringify(text.toWellFormed()));
}

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
interface KnownDelta {
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
