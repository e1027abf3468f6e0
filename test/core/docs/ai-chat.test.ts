import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { prices } from "../../../cli/cost/prices.ts";
import { linesOf } from "../../../package/ai/chunks.ts";
import { limits } from "../../../src/limits.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { codeBlocksOf } from "../../support/documented-code.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { appendPieces, growingMap } from "../features/maps/growth/growing-map.ts";

const source = readFileSync("examples/ai-chat/src/index.ts", "utf8");

it.each(["The route", "What runs where"])(
  "docs/ai-chat.md has the code of examples/ai-chat, which tests run: %s",
  (section) => {
    const code = codeBlocksOf("ai-chat.md").find(({ heading }) => heading === section)?.code ?? "";
    const [, own = ""] = code.split(/^(?:import .*\n)+\n/m);
    expect(own).not.toBe("");
    expect(source).toContain(own);
  },
);

/** Rows of the log of an answer of 500 tokens in 10 seconds, and its windows: a piece each 100 ms has five tokens. */
function logged(appendWindowMs: number) {
  const sql = new CountingSql(new NodeSql());
  const growing = growingMap(sql, { appendWindowMs, keyTtlMs: 2_592_000_000 });
  growing.channel.position(0);
  const before = sql.changes;
  const piece = linesOf([{ type: "text-delta", id: "txt-0", delta: " acorn".repeat(5) }]);
  const windows = appendPieces(growing, piece, pieces, 100);
  const alarms = Math.ceil(10_000 / limits.crashAlarmMs);
  return { rows: sql.changes - before + alarms, calls: pieces + windows + alarms };
}

const pieces = 100;
/**
 * The user's message, the answer as it begins and as it is finished, and the removal of its log, which are two rows each; the job of
 * the generation and its alarm, which are written and removed.
 */
const messageRows = 12;
/** The object of the generation begins, its alarm runs, and both of them read and change the channel. */
const otherRequests = 16;

it("docs/ai-chat.md has the bill of an answer of 500 tokens, from counted rows and requests", () => {
  const page = readFileSync("docs/ai-chat.md", "utf8");
  const [usual, long] = [logged(250), logged(1_000)];
  const rows = usual.rows + messageRows;
  const requests = pieces + usual.calls + otherRequests;
  const dollars = prices.workerRequest + requests * prices.objectRequest;
  expect(page).toContain(`two rows | ${rows} | ${bill(rows * prices.rowWritten)} |`);
  expect(page).toContain(`to objects, and one to the Worker | ${requests} | ${bill(dollars)} |`);
  expect(page).toContain(`With \`append_window = "1s"\` it is ${long.rows + messageRows} rows.`);
});

/** What a thousand answers cost. */
function bill(dollars: number): string {
  return `$${(1_000 * dollars).toFixed(2)}`;
}
