import { type JsonText, parseJsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { type Payload, payloadJson } from "../../protocol/payload.ts";

/**
 * The payload of an event. The data of an event is a text: where that is JSON on one line, and no string, it is the payload,
 * so that clients of other protocols get the same value; any other text is the payload as a JSON string.
 */
export function payloadOfText(text: string): JsonText {
  const json = /^[\s"]/.test(text) ? undefined : parseJsonText(text);
  return json === text ? json : trustedJsonText(JSON.stringify(text));
}

/** The text of an event's data: the reverse of {@link payloadOfText}, character for character. */
export function textOfPayload(payload: Payload): string {
  const json = payloadJson(payload);
  if (!json.startsWith('"')) return json;
  const text: string = JSON.parse(json);
  return text;
}

/** The tag with the name of an event. */
export const eventTag = "event";

/** The name of an event that another protocol's publisher has not given one. */
export const unnamedEvent = "message";
