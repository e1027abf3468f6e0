import { trustedJsonText } from "../protocol/json/text.ts";
import { utf8Length } from "../protocol/bytes.ts";
import type { Splice } from "../protocol/piece.ts";
import type { Publication } from "../protocol/publication.ts";
import type { DeltaForm } from "./delta-chain.ts";
import { numberText } from "./fossil.ts";

/**
 * A publication whose data is the delta of a splice (docs/protocol.md 3.1): what is before the text, the text, and what is
 * after it. Time and memory are proportional to the text.
 */
export function splicedPublication(
  publication: Publication,
  splice: Splice,
  form: DeltaForm,
): Publication {
  const delta = spliceDelta(splice);
  const data =
    form === "bytes" ? new TextEncoder().encode(delta) : trustedJsonText(JSON.stringify(delta));
  return { ...publication, data, delta: true };
}

/** The delta of a splice, which is text because the splice's text is. */
function spliceDelta({ text, at, baseBytes, sum }: Splice): string {
  const bytes = utf8Length(text);
  const after = baseBytes - at;
  const insert = bytes === 0 ? "" : `${numberText(bytes)}:${text}`;
  const parts = [
    at === 0 ? "" : `${numberText(at)}@0,`,
    insert,
    after === 0 ? "" : `${numberText(after)}@${numberText(at)},`,
  ];
  return `${numberText(baseBytes + bytes)}\n${parts.join("")}${numberText(sum)};`;
}
