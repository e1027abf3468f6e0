import { memberUint64 } from "../../protocol/json/fields.ts";
/** The hook `shared_poll_refresh`: what a backend is asked about the keys of a shared poll, and what it answers. */
import type { KnownVersion } from "./poll-batch.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { elementTexts, type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { type Payload, payloadLength } from "../../protocol/payload.ts";
import { type Invalid, invalid, objectOf, readData } from "../hooks/response.ts";

/** The body of a question (docs/protocol.md 7): a version is left out where any value is new. */
export function pollRequestBody(channel: string, items: readonly KnownVersion[]): JsonText {
  const asked = items.map(({ key, version }) =>
    version === 0n
      ? `{"key":${JSON.stringify(key)}}`
      : `{"key":${JSON.stringify(key)},"version":${version}}`,
  );
  return trustedJsonText(`{"channel":${JSON.stringify(channel)},"items":[${asked.join(",")}]}`);
}

/** The values that a backend answers. */
export type PollResultRead = { readonly outcome: "read"; readonly answer: PollAnswer } | Invalid;

/** The backend's answer. A key that it leaves out hasn't changed. */
export interface PollAnswer {
  readonly items: readonly PollItem[];
  /** "" if the backend names none. */
  readonly epoch: string;
}

/** One key of an answer. */
export type PollItem =
  | {
      readonly key: string;
      readonly removed?: undefined;
      readonly data: Payload;
      /** At least 1n; undefined without versions. */
      readonly version: bigint | undefined;
    }
  | { readonly key: string; readonly removed: true };

/**
 * Parses the result of `shared_poll_refresh`.
 *
 * @param text undefined if the response has no result: then nothing has changed
 * @param versioned whether each value has to have a version
 */
export function parsePollResult(text: JsonText | undefined, versioned: boolean): PollResultRead {
  if (text === undefined) return { outcome: "read", answer: { items: [], epoch: "" } };
  const { epoch = null, items: given = null } = objectOf(text);
  if (epoch !== null && (typeof epoch !== "string" || !isEpoch(epoch)))
    return invalid(`"epoch" is not a string of at most ${limits.versionEpochBytesMax} bytes`);
  const texts = given === null ? [] : elementTexts(text, "items");
  if (texts === undefined) return invalid('"items" is not an array');
  const items: PollItem[] = [];
  for (const [index, each] of texts.entries()) {
    const item = parseItem(each, versioned);
    if ("outcome" in item) return invalid(`"items[${index}]": ${item.reason}`);
    items.push(item);
  }
  return { outcome: "read", answer: { items, epoch: epoch ?? "" } };
}

function parseItem(text: JsonText, versioned: boolean): PollItem | Invalid {
  const fields = objectOf(text);
  const { key = null, removed = null } = fields;
  if (typeof key !== "string" || key === "") return invalid('"key" is not a string, or is empty');
  if (removed !== null && typeof removed !== "boolean")
    return invalid('"removed" is not true or false');
  if (removed === true) return { key, removed };
  const read = readData(text, fields);
  if (read.outcome === "invalid") return read;
  const { data } = read;
  if (data === undefined) return invalid('"data" is missing');
  if (payloadLength(data) > limits.publicationBytesMax)
    return invalid(`"data" has more than ${limits.publicationBytesMax} bytes`);
  if (!versioned) return { key, data, version: undefined };
  const version = memberUint64(text, "version");
  if (version === undefined || version === 0n)
    return invalid('"version" is not an unsigned 64 bit integer above 0');
  return { key, data, version };
}

/** The name `_` is one that clients use themselves. */
function isEpoch(epoch: string): boolean {
  return epoch !== "_" && utf8Fits(epoch, limits.versionEpochBytesMax);
}
