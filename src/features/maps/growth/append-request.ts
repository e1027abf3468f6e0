import {
  overLimit,
  type Refused,
  refusedIdempotencyKey,
  refusedKey,
  refusedRequest,
} from "../../../api/command.ts";
import { flagField, optionalOffsetField, textField } from "../../../api/shape.ts";
import { acceptsData } from "../../../channel/publication-request.ts";
import type { ChannelOptions } from "../../../config/config.ts";
import { limits } from "../../../limits.ts";
import { utf8Fits } from "../../../protocol/bytes.ts";
import { trustedJsonText } from "../../../protocol/json/text.ts";
import type { MapAppendRequest } from "../map-call.ts";

/** The fields of a request to append, beside the channel. */
export const appendFields = () => ({
  key: textField(),
  text: textField(),
  at: optionalOffsetField(),
  field: textField(),
  final: flagField(),
  idempotency_key: textField(),
});

/** The same, read. */
export interface AppendFields {
  readonly key: string;
  readonly text: string;
  readonly at?: number | null | undefined;
  readonly field: string;
  readonly final: boolean;
  readonly idempotency_key: string;
}

/** Checks a request to append, of a backend or of a client. */
export function parseAppend(
  fields: AppendFields,
  options: ChannelOptions,
): { readonly outcome: "append"; readonly request: MapAppendRequest } | Refused {
  const { key, text, at, field, final, idempotency_key: idempotencyKey } = fields;
  const refused = refusedKey(key);
  if (refused !== undefined) return refused;
  if (!text.isWellFormed()) return refusedRequest("text has half of a surrogate pair");
  if (text === "" && !final && typeof at !== "number") return refusedRequest("text is required");
  if (!utf8Fits(field, limits.mapKeyBytesMax)) return overLimit("field", limits.mapKeyBytesMax);
  if (!field.isWellFormed()) return refusedRequest("field has half of a surrogate pair");
  const refusedRepeat = refusedIdempotencyKey(idempotencyKey);
  if (refusedRepeat !== undefined) return refusedRepeat;
  const sample = trustedJsonText(field === "" ? '""' : "{}");
  if (!acceptsData(options, sample))
    return refusedRequest("the namespace accepts objects only: field names the text in one");
  const request = {
    key,
    text,
    ...(typeof at === "number" && { at }),
    ...(field !== "" && { field }),
    final,
    idempotencyKey,
  };
  return { outcome: "append", request };
}
