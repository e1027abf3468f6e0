import { type JsonText, parseJsonText, trustedJsonText } from "./json/text.ts";
import { utf8Length, utf8Text } from "./bytes.ts";

/**
 * What somebody published, as it came (rule W2): JSON text, or bytes that aren't JSON on one line. Only this module decides
 * which of both bytes are, so that the same bytes are the same payload whichever codec brought them.
 */
export type Payload = JsonText | Uint8Array;

/** Bytes as a payload: text when they are JSON in UTF-8 on one line with nothing around it, and themselves otherwise. */
export function payloadOf(bytes: Uint8Array): Payload {
  const text = utf8Text(bytes);
  if (text === undefined) return bytes;
  const json = parseJsonText(text);
  return json === text ? json : bytes;
}

/** A payload's bytes; those of text are its UTF-8. */
export function payloadBytes(payload: Payload): Uint8Array {
  return typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
}

/** How many bytes {@link payloadBytes} would give. */
export function payloadLength(payload: Payload): number {
  return typeof payload === "string" ? utf8Length(payload) : payload.byteLength;
}

/**
 * A payload for those who speak JSON: text as it is, bytes that are JSON on one line, and any other bytes as a string of
 * base64, from which a client can have them back.
 */
export function payloadJson(payload: Payload): JsonText {
  return payloadText(payload) ?? trustedJsonText(`"${base64(payload)}"`);
}

/** A payload as JSON on one line; undefined when it isn't JSON. */
export function payloadText(payload: Payload): JsonText | undefined {
  if (typeof payload === "string") return payload;
  const text = utf8Text(payload);
  return text === undefined ? undefined : parseJsonText(text);
}

/** Decodes base64; undefined when it isn't that. */
export function parseBase64(encoded: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // It throws on bad input, and only then.
  }
}

/** A payload's bytes in base64, as JSON has room for them. */
export function base64(payload: Payload): string {
  let binary = "";
  for (const byte of payloadBytes(payload)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
