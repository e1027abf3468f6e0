import type { Codec } from "../protocol/codec.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { type Payload, payloadBytes, payloadJson, payloadLength } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import { createDelta } from "./fossil.ts";
import type { KnownDeltas } from "./known-deltas.ts";

/** How payloads stand where deltas were granted: JSON has all of them as strings, the binary formats as bytes. */
export type DeltaForm = Codec["deltaForm"];

/** Recovered publications as they are sent, and the last one's payload, from which the next patch may be made. */
export interface DeltaChain {
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

/** A publication with its whole payload, as those see it to whom deltas were granted (reference 3.1). */
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
