import { expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { RefusalLog } from "../../../workers/platform/refusal-log.ts";

const refusal = { refused: "subscribe", rule: "A1", reason: "no", code: 103, user: "42" };
const nowMs = 1_700_000_000_000;

function opened() {
  const lines: string[] = [];
  return { lines, log: new RefusalLog((line) => lines.push(line)) };
}

it("[A13] a refusal is one line of JSON, with what is known of it", () => {
  const { lines, log } = opened();
  log.note({ ...refusal, channel: 'a"\nb' }, "channel:x", nowMs);
  log.note({ refused: "sse", rule: "A6", reason: "why" }, undefined, nowMs);
  expect(lines).toStrictEqual([
    String.raw`{"refused":"subscribe","rule":"A1","reason":"no","code":103,"user":"42","channel":"a\"\nb","object":"channel:x"}`,
    `{"refused":"sse","rule":"A6","reason":"why"}`,
  ]);
});

it("[A13] [B1] a flood for one reason is counted, and touches no other reason", () => {
  const { lines, log } = opened();
  for (let count = 0; count < limits.refusalLinesPerSecond + 7; count++)
    log.note({ ...refusal, reason: `no ${count}` }, undefined, nowMs + count);
  expect(lines).toHaveLength(limits.refusalLinesPerSecond);
  log.note({ ...refusal, rule: "A5" }, undefined, nowMs);
  expect(lines).toHaveLength(limits.refusalLinesPerSecond + 1);
  log.note(refusal, undefined, nowMs + 1_000);
  log.note(refusal, undefined, nowMs + 1_000);
  expect(lines.slice(-2).map((line) => JSON.parse(line).leftOut)).toStrictEqual([7, undefined]);
});

it("[A13] [B1] long texts are cut", () => {
  const { lines, log } = opened();
  const long = "x".repeat(limits.refusalTextMax + 1);
  log.note({ ...refusal, reason: long, user: long, channel: long }, long, nowMs);
  const cut = `${"x".repeat(limits.refusalTextMax)}…`;
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    reason: cut,
    user: cut,
    channel: cut,
    object: cut,
  });
});
