import { limits } from "../limits.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { parseMessagePack } from "../protocol/messagepack/value.ts";
import { base64 } from "../protocol/payload.ts";
import { isWireArray, type WireObject, type WireValue } from "../protocol/wire-value.ts";

/**
 * A request to the HTTP API in MessagePack (rule W6) as the JSON text that means the same. Integers keep all their digits.
 * Bytes that stand where a publication's `data` does become `b64data`; JSON has no others.
 *
 * @returns undefined when it isn't one value of MessagePack, when JSON has no word for something in it, or when it says in
 * JSON more than twice what a request may
 */
export function messagePackToJson(bytes: Uint8Array): JsonText | undefined {
  const root = parseMessagePack(bytes, 0, true);
  if (root.outcome === "malformed" || root.end !== bytes.length) return undefined;
  const json = new JsonPieces();
  return writeValue(json, root.value, "request") ? json.text() : undefined;
}

/** Where in a request a value stands, as far as it decides what bytes mean there. */
type Place = "request" | "commands" | "command" | "parameters" | "elsewhere";

/** Whether JSON can say it. The nesting is bounded by the decoder. */
function writeValue(json: JsonPieces, value: WireValue, place: Place): boolean {
  if (typeof value === "string") return json.add(JSON.stringify(value));
  if (typeof value === "number") return Number.isFinite(value) && json.add(String(value));
  if (typeof value !== "object") return json.add(String(value));
  if (value === null) return json.add("null");
  if (value instanceof Uint8Array) return false;
  return isWireArray(value) ? writeArray(json, value, place) : writeObject(json, value, place);
}

function writeArray(json: JsonPieces, array: readonly WireValue[], place: Place): boolean {
  const elementPlace = place === "commands" ? "command" : "elsewhere";
  let separator = "[";
  for (const element of array) {
    if (!json.add(separator) || !writeValue(json, element, elementPlace)) return false;
    separator = ",";
  }
  return json.add(array.length === 0 ? "[]" : "]");
}

function writeObject(json: JsonPieces, object: WireObject, place: Place): boolean {
  const members = Object.entries(object);
  let separator = "{";
  for (const [name, value] of members) {
    const isPublished = name === "data" && (place === "request" || place === "parameters");
    const written =
      isPublished && value instanceof Uint8Array
        ? json.add(`${separator}"b64data":"${base64(value)}"`)
        : json.add(`${separator}${JSON.stringify(name)}:`) &&
          writeValue(json, value, memberPlace(place, name));
    if (!written) return false;
    separator = ",";
  }
  return json.add(members.length === 0 ? "{}" : "}");
}

function memberPlace(place: Place, name: string): Place {
  if (place === "command") return "parameters";
  return place === "request" && name === "commands" ? "commands" : "elsewhere";
}

/**
 * A text in the making, which no longer grows once it is too long: a byte of MessagePack can say five of JSON. A million
 * pieces would take more room than what they say, so they are put together now and then.
 */
class JsonPieces {
  readonly #joined: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  /** Whether there was room. */
  add(piece: string): boolean {
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
