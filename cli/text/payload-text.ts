/**
 * Payloads as texts: what is published and printed has the digits that were typed, such as 9007199254740993, 1.50 and
 * 1e400 (rule N12).
 */
import { asItCame } from "./number-text.ts";
import { randomUUID } from "node:crypto";
import { type JsonText, parseJsonText } from "../../src/protocol/json/text.ts";
import { usageFailure } from "../shell.ts";
import type { JsonValue } from "../../src/protocol/wire-value.ts";

/** JSON that is sent as it was typed. */
export class PayloadText {
  readonly json: JsonText;

  constructor(json: JsonText) {
    this.json = json;
  }
}

/**
 * Reads JSON that was typed.
 *
 * @param problem the sentence for a text that isn't JSON
 * @throws Failure with that sentence
 */
export function typedJson(text: string, problem: string): PayloadText {
  const json = parseJsonText(text);
  if (json === undefined) throw usageFailure(problem);
  return new PayloadText(json);
}

/** The JSON of a request, in which each {@link PayloadText} has its own text. */
export function requestBody(params: object): string {
  const texts: JsonText[] = [];
  // A text that nobody could have typed stands for each payload first.
  const mark = randomUUID();
  const body = JSON.stringify(params, (_, value: JsonValue | PayloadText) =>
    value instanceof PayloadText ? `${mark}/${texts.push(value.json) - 1}` : value,
  );
  return body.replaceAll(new RegExp(`"${mark}/(\\d+)"`, "g"), (_, at) => texts[Number(at)] ?? "");
}

/**
 * Parses an answer. From Node.js 21 on, numbers that JavaScript would print otherwise are kept as they came; elsewhere
 * they are rounded.
 */
export function parseAnswer(text: string): JsonValue {
  const answer: JsonValue = JSON.parse(text, asItCame);
  return answer;
}
