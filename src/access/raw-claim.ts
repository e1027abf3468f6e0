import type { JsonObject } from "../protocol/json-value.ts";
import { memberText, type JsonText } from "../protocol/json/text.ts";
import { parseBase64, payloadText } from "../protocol/payload.ts";

/** A claim as its sender wrote it, undefined when there is none; or why it can't be read. */
export type RawClaim =
  | { readonly outcome: "read"; readonly text: JsonText | undefined }
  | { readonly outcome: "invalid"; readonly reason: string };

/** A claim that is shown to others as it was written: under one name as JSON, under another as base64 of JSON. */
export interface RawClaimNames {
  readonly plain: string;
  readonly base64: string;
}

export const infoClaim: RawClaimNames = { plain: "info", base64: "b64info" };
export const dataClaim: RawClaimNames = { plain: "data", base64: "b64data" };

/**
 * Reads such a claim of an object; the base64 form wins over the plain one (reference 5.1).
 *
 * @param text   the object as its sender wrote it, valid JSON
 * @param fields the same object, parsed
 */
export function readRawClaim(text: string, fields: JsonObject, names: RawClaimNames): RawClaim {
  const encoded = fields[names.base64];
  if (encoded !== undefined && encoded !== null && encoded !== "") {
    const decoded = typeof encoded === "string" ? parseBase64Json(encoded) : undefined;
    return decoded === undefined
      ? { outcome: "invalid", reason: `${names.base64} is not base64 of JSON` }
      : { outcome: "read", text: decoded };
  }
  const plain = memberText(text, names.plain);
  return { outcome: "read", text: plain === "null" ? undefined : plain };
}

/** Decodes base64 of UTF-8 JSON; undefined when it isn't that. */
export function parseBase64Json(encoded: string): JsonText | undefined {
  const bytes = parseBase64(encoded);
  return bytes === undefined ? undefined : payloadText(bytes);
}
