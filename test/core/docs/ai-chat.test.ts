import { readFileSync } from "node:fs";
import { simulateReadableStream } from "ai";
import { expect, it, vi } from "vitest";
import { prices } from "../../../cli/cost/prices.ts";
import { type Chunk, linesOf } from "../../../package/ai/chunks.ts";
import { takeChatRequest } from "../../../package/ai/index.ts";
import { limits } from "../../../src/limits.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { codeBlocksOf } from "../../support/documented-code.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { ChannelBackend } from "../package/channel-backend.ts";
import { TestGenerations } from "../package/test-generations.ts";
import { appendPieces, growingMap } from "../features/maps/growth/growing-map.ts";

vi.mock("cloudflare:workers", () => ({ DurableObject: Object }));

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

/** What an answer costs beside its log: rows and requests of the route, of the object that writes it, and of the channel. */
async function besideLog(): Promise<{ readonly rows: number; readonly requests: number }> {
  const backend = new ChannelBackend();
  const message = { id: "m1", role: "user", parts: [] };
  const body = {
    id: "1",
    trigger: "submit-message",
    answerId: "a1",
    messages: [message],
    place: 1,
  };
  const taken = await takeChatRequest(backend, "chat:1", body);
  const chunks: Chunk[] = [{ type: "start" }, { type: "finish" }];
  const stream = async () => simulateReadableStream({ chunks });
  const generations = new TestGenerations(backend, stream);
  const generation = { channel: "chat:1", messageId: "a1", job: "", begun: taken?.begun };
  await generations.begin(generation);
  await generations.alarm();
  const calls = backend.calls.filter(({ method }) => method !== "map_append");
  // What changes the channel goes to a gateway by a call of its own. The object's two are those to begin and of its alarm.
  const told = calls.filter(({ rows }) => rows > 0);
  const rows = calls.reduce((sum, call) => sum + call.rows, generations.stored.rows);
  return { rows, requests: calls.length + told.length + 2 };
}

it("docs/ai-chat.md has the bill of an answer of 500 tokens, from counted rows and requests", async () => {
  const { rows: messageRows, requests: otherRequests } = await besideLog();
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
