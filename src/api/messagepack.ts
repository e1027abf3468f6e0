import { limits } from "../limits.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { parseMessagePack } from "../protocol/messagepack/value.ts";
import { base64 } from "../protocol/payload.ts";
import { isWireArray, type WireObject, type WireValue } from "../protocol/wire-value.ts";

/**
 * Converts a request to the HTTP API from MessagePack (rule W6) to JSON text with the same meaning. Integers keep all
 * their digits. If a publication's `data` is bytes, it becomes `b64data`, and `stream_data` likewise. JSON can't
 * express other bytes.
 *
 * @returns undefined if the bytes aren't exactly one MessagePack value, if JSON can't express a part of it, or if its
 * JSON text is longer than twice `limits.requestBytesMax`
 */
export function messagePackToJson(bytes: Uint8Array): JsonText | undefined {
  const root = parseMessagePack(bytes, 0, true);
  if (root.outcome === "malformed" || root.end !== bytes.length) return undefined;
  const json = new JsonPieces();
  return writeValue(json, root.value, "request") ? json.text() : undefined;
}

/** The place of a value in a request, as far as it determines the meaning of bytes there. */
type Place = "request" | "commands" | "command" | "parameters" | "elsewhere";

/** Writes a value; false if JSON can't express it or it is too long. The decoder bounds the nesting. */
function writeValue(json: JsonPieces, value: WireValue, place: Place): boolean {
  if (typeof value === "string") return json.append(JSON.stringify(value));
  if (typeof value === "number") return Number.isFinite(value) && json.append(String(value));
  if (typeof value !== "object") return json.append(String(value));
  if (value === null) return json.append("null");
  if (value instanceof Uint8Array) return false;
  return isWireArray(value) ? writeArray(json, value, place) : writeObject(json, value, place);
}

function writeArray(json: JsonPieces, array: readonly WireValue[], place: Place): boolean {
  const elementPlace = place === "commands" ? "command" : "elsewhere";
  let separator = "[";
  for (const element of array) {
    if (!json.append(separator) || !writeValue(json, element, elementPlace)) return false;
    separator = ",";
  }
  return json.append(array.length === 0 ? "[]" : "]");
}

function writeObject(json: JsonPieces, object: WireObject, place: Place): boolean {
  const members = Object.entries(object);
  let separator = "{";
  for (const [name, value] of members) {
    const isPublished =
      (name === "data" || name === "stream_data") &&
      (place === "request" || place === "parameters");
    const written =
      isPublished && value instanceof Uint8Array
        ? json.append(`${separator}"b64${name}":"${base64(value)}"`)
        : json.append(`${separator}${JSON.stringify(name)}:`) &&
          writeValue(json, value, memberPlace(place, name));
    if (!written) return false;
    separator = ",";
  }
  return json.append(members.length === 0 ? "{}" : "}");
}

function memberPlace(place: Place, name: string): Place {
  if (place === "command") return "parameters";
  return place === "request" && name === "commands" ? "commands" : "elsewhere";
}

/**
 * A text under construction that stops growing at its maximum length: one byte of MessagePack can become five
 * characters of JSON. The pieces are joined from time to time, because a million small pieces would take more memory
 * than their text.
 */
class JsonPieces {
  readonly #joined: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  /** Adds a piece; false if the text would become too long. */
  append(piece: string): boolean {
    this.#length += piece.length;
    if (this.#length > limits.requestBytesMax * 2) return false;
    this.#pieces.push(piece);
    if (this.#pieces.length === piecesMax) this.#join();
    return true;
  }

  text(): JsonText {
    this.#join();
    return trustedJsonText(this.#joined.join(""));
  }

  #join(): void {
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}

const piecesMax = 8_192;
