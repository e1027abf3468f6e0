import { isJsonObject, type JsonObject, jsonValue } from "./wire-value.ts";
import { type JsonText, parseJsonText, trustedJsonText } from "./json/text.ts";
import { utf8Length, utf8Text } from "./bytes.ts";

/**
 * The data of a publication, as its publisher sent it (rule W2): JSON text, or bytes that aren't JSON on one line. Only
 * this module decides which of the two bytes are, so that the same bytes are the same payload whichever codec brought
 * them (rule W7).
 */
export type Payload = JsonText | Uint8Array;

/**
 * Bytes as a payload: text if they are JSON in UTF-8 on one line with nothing around it, and otherwise the same bytes.
 */
export function payloadOf(bytes: Uint8Array): Payload {
  const text = utf8Text(bytes);
  if (text === undefined) return bytes;
  const json = parseJsonText(text);
  return json === text ? json : bytes;
}

/** The payload of no bytes, which stands for absent data where the format allows it (rule W11). */
export const emptyPayload: Payload = new Uint8Array();

/** The payload of a key that has none (rule Z21): a text that isn't JSON, so that no publisher can send it. */
export function noPayload(): Payload {
  return trustedJsonText("");
}

/** Whether a payload is that of a key that has none; one of no bytes isn't. */
export function isNoPayload(payload: Payload): boolean {
  return typeof payload === "string" && payload.length === 0;
}

/** The bytes of a payload; those of text are its UTF-8. */
export function payloadBytes(payload: Payload): Uint8Array {
  return typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
}

/** Whether two payloads have the same content; text and bytes never have. */
export function samePayload(one: Payload, other: Payload): boolean {
  if (typeof one === "string" || typeof other === "string") return one === other;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** The number of bytes that {@link payloadBytes} gives. */
export function payloadLength(payload: Payload): number {
  return typeof payload === "string" ? utf8Length(payload) : payload.byteLength;
}

/**
 * A payload for JSON clients: text as it is, bytes that are JSON as that JSON on one line, and other bytes as a string
 * of base64, which a client can decode (rule W7).
 */
export function payloadJson(payload: Payload): JsonText {
  return payloadText(payload) ?? trustedJsonText(`"${base64(payload)}"`);
}

/** A payload as JSON on one line; undefined if it isn't JSON. */
export function payloadText(payload: Payload): JsonText | undefined {
  if (typeof payload === "string") return payload;
  const text = utf8Text(payload);
  return text === undefined ? undefined : parseJsonText(text);
}

/** Decodes base64; undefined if the text isn't base64. */
export function parseBase64(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // `atob` throws on bad input, and only then.
  }
}

/** The bytes of a payload in base64, in which JSON can carry them. */
export function base64(payload: Payload): string {
  let binary = "";
  for (const byte of payloadBytes(payload)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** A payload as a JSON object; undefined if it is something else. */
export function parsePayloadObject(payload: Payload | undefined): JsonObject | undefined {
  const text = payload && payloadText(payload);
  const value = text === undefined ? null : jsonValue(text);
  return isJsonObject(value) ? value : undefined;
}
