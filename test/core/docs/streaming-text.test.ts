import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { prices } from "../../../cli/cost/prices.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { limits } from "../../../src/limits.ts";
import { appendPieces, growingMap } from "../features/maps/growth/growing-map.ts";

/** An answer of 20 seconds, at 40 tokens a second. */
const tokens = 800;
const tokenMs = 25;
const token = " acorn";
const seconds = (tokens * tokenMs) / 1_000;

/** What an answer takes, with its subscribers on one gateway. */
interface Taken {
  readonly workerRequests: number;
  readonly objectRequests: number;
  readonly rows: number;
  readonly awakeSeconds: number;
}

/** As the page says it: a commit, and a call, take 10 ms. */
const callSeconds = 0.01;

function published(everyMs: number): Taken {
  const requests = (seconds * 1_000) / everyMs;
  return {
    workerRequests: requests,
    objectRequests: 2 * requests,
    rows: requests,
    awakeSeconds: 2 * callSeconds * requests,
  };
}

/** Appends an answer, and counts. */
function append(everyMs: number, appendWindowMs: number) {
  const sql = new CountingSql(new NodeSql());
  const growing = growingMap(sql, { appendWindowMs, keyTtlMs: 2_592_000_000 });
  const [deltas, values] = [growing.reader(), growing.reader(undefined, false)];
  growing.channel.position(0);
  const before = sql.changes;
  const pieces = (seconds * 1_000) / everyMs;
  const windows = appendPieces(growing, token.repeat(everyMs / tokenMs), pieces, everyMs);
  expect(growing.stored()).toBe(token.repeat(tokens));
  expect([deltas.value(), values.value()]).toEqual([growing.stored(), growing.stored()]);
  // While a window is open, an alarm covers a crash.
  const alarms = appendWindowMs === 0 ? 0 : Math.ceil((seconds * 1_000) / limits.crashAlarmMs);
  const calls = pieces + windows;
  const taken: Taken = {
    workerRequests: pieces,
    objectRequests: pieces + calls + alarms,
    rows: sql.changes - before + alarms,
    awakeSeconds: callSeconds * calls + (appendWindowMs === 0 ? callSeconds * pieces : seconds),
  };
  return { taken, bytes: [deltas, values].map(({ subscriber }) => bytesOf(subscriber.frames)) };
}

function bytesOf(frames: readonly (string | Uint8Array)[]): number {
  return frames.reduce((sum, frame) => sum + Buffer.byteLength(frame), 0);
}

/** A row of the page's table, for a thousand answers. */
function row(title: string, { workerRequests, objectRequests, rows, awakeSeconds }: Taken): string {
  const dollars =
    workerRequests * prices.workerRequest +
    objectRequests * prices.objectRequest +
    rows * prices.rowWritten +
    awakeSeconds * prices.objectGigabytes * prices.gigabyteSecond;
  const bill = (1_000 * dollars).toFixed(2);
  return `| ${title} | ${workerRequests} | ${objectRequests} | ${rows} | $${bill} |`;
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000)} kB`;
}

const page = readFileSync("docs/streaming-text.md", "utf8");

it("[Z40] streaming-text.md has the bill of a thousand answers, from counted rows and requests", () => {
  const table = [
    row("a publication for each token", published(25)),
    row("a publication every 100 ms", published(100)),
    row("`map_append` for each token, windows of 250 ms", append(25, 250).taken),
    row("`map_append` every 100 ms, windows of 250 ms", append(100, 250).taken),
    row("`map_append` every 100 ms, windows of 1 s", append(100, 1_000).taken),
    row("`map_append` every 250 ms, windows of 1 s", append(250, 1_000).taken),
    row("`map_append` every 100 ms, windows of 0 s", append(100, 0).taken),
  ];
  expect(page).toContain(table.join("\n"));
});

it("[Z39] streaming-text.md says how many bytes a subscriber gets, with deltas and without", () => {
  const [deltas = 0, values = 0] = append(100, 250).bytes;
  expect(page.replaceAll("\n", " ")).toContain(
    `${kilobytes(deltas)} with deltas, and ${kilobytes(values)} without`,
  );
});
