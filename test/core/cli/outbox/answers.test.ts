import { describe, expect, it } from "vitest";
import type { ApiAnswer } from "../../../../cli/connection/api-client.ts";
import { type Fate, follow, retryDelayMs } from "../../../../cli/outbox/answers.ts";
import { outboxLimits } from "../../../../cli/outbox/limits.ts";
import type { RowCommand } from "../../../../cli/outbox/row-command.ts";
import { sendRows } from "../../../../cli/outbox/send-rows.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import type { JsonValue } from "../../../../src/protocol/wire-value.ts";

function command(id: string, method: RowCommand["method"] = "publish"): RowCommand {
  return { id, method, body: trustedJsonText(`{"n":${id}}`), kind: "channel" };
}

function replies(...all: JsonValue[]): ApiAnswer {
  return { outcome: "result", result: { replies: all } };
}

function broadcast(...responses: JsonValue[]): ApiAnswer {
  return { outcome: "result", result: { responses } };
}

const done = { publish: { offset: 1, epoch: "x" } };
const [one, two, three, four] = [command("1"), command("2"), command("3"), command("4")];
const status = (code: number, detail?: string): ApiAnswer => ({
  outcome: "status",
  status: code,
  text: "",
  ...(detail !== undefined && { detail }),
});
const error = (code: number, message = "message"): ApiAnswer => ({
  outcome: "error",
  code,
  message,
});

/** The outcomes of rows by their IDs, and the IDs of the requests that follow. */
function followed(sent: readonly RowCommand[], answer: ApiAnswer) {
  const { fates, next } = follow(sent, answer);
  return {
    fates: Object.fromEntries(Array.from(fates, ([id, { outcome }]) => [id, outcome])),
    next: next.map((request) => request.map(({ id }) => id).join(" ")),
  };
}

function fateOf(answer: ApiAnswer, sent = one): Fate | undefined {
  return follow([sent], answer).fates.get(sent.id);
}

describe("[I1] an answer to rows of the outbox", () => {
  it("says of each row of a batch what became of it", () => {
    const answer = replies(done, { error: { code: 111, message: "too many requests" } }, done);
    expect(followed([one, two, three], answer)).toEqual({
      fates: { 1: "done", 2: "again", 3: "done" },
      next: [],
    });
  });

  it("lets a refused row be sent alone, because only that answer says why", () => {
    const refused = { error: { code: 102, message: "unknown channel" } };
    expect(followed([one, two, three], replies(done, refused, refused))).toEqual({
      fates: { 1: "done" },
      next: ["2", "3"],
    });
    expect(fateOf(error(102, "unknown channel (channel.namespaces doesn't have x)"))).toEqual({
      outcome: "refused",
      reason: "102 unknown channel (channel.namespaces doesn't have x)",
    });
  });

  it.each([
    ["400 with a detail", status(400, "the field channel must be a string")],
    ["413", status(413)],
    ["107 for all", error(107)],
  ])("%s finds the row at fault by halves, in order", (_, answer) => {
    expect(followed([one, two, three], answer)).toEqual({ fates: {}, next: ["1 2", "3"] });
    expect(followed([one, two], answer)).toEqual({ fates: {}, next: ["1", "2"] });
    expect(followed([one], answer)).toEqual({ fates: { 1: "refused" }, next: [] });
  });

  it.each([
    ["no answer", { outcome: "unreachable", cause: "connect ECONNREFUSED" }],
    ["400 of a proxy", status(400)],
    ["another key", status(401)],
    ["403", status(403)],
    ["another address", status(404)],
    ["429", status(429)],
    ["500", status(500)],
    ["502", status(502)],
    ["503", status(503)],
    ["a redirect", status(302)],
    ["a page", status(200)],
    ["100", error(100)],
    ["111", error(111)],
    ["fewer replies", replies(done)],
    ["other replies", replies("a", "b")],
    ["no replies", { outcome: "result", result: {} }],
  ] satisfies [string, ApiAnswer][])("%s keeps all rows", (_, answer) => {
    expect(followed([one, two], answer)).toEqual({ fates: { 1: "again", 2: "again" }, next: [] });
  });

  it("is permanent for each error after which the server doesn't say to try again", () => {
    for (const { code, temporary } of Object.values(errorCodes))
      expect([code, fateOf(error(code))?.outcome]).toEqual([code, temporary ? "again" : "refused"]);
  });

  it("to a broadcast decides by the channel with which something is wrong", () => {
    const sent = command("1", "broadcast");
    const fine = { result: {} };
    const unknown = { error: { code: 102, message: "unknown channel" } };
    const later = { error: { code: 100, message: "internal server error" } };
    expect(fateOf(broadcast(fine, fine), sent)).toEqual({ outcome: "done" });
    expect(fateOf(broadcast(fine, unknown), sent)).toEqual({
      outcome: "refused",
      reason: "channel 2 of the broadcast: 102 unknown channel",
    });
    expect(fateOf(broadcast(unknown, later), sent)).toEqual({
      outcome: "again",
      cause: "the server answers 100 internal server error",
    });
    const batch = replies({ broadcast: { responses: [fine, later] } }, done);
    expect(followed([sent, two], batch).fates).toEqual({ 1: "again", 2: "done" });
  });

  it("gives a reason of a bounded length, without control characters", () => {
    const text = { code: 107, message: "\u001B[2J", detail: "x".repeat(2_000) };
    const fate = fateOf(broadcast({ error: text }), command("1", "broadcast"));
    if (fate?.outcome !== "refused") throw new Error("not refused");
    expect(fate.reason).toMatch(/^channel 1 of the broadcast: 107 \\u001b\[2J \(x+$/);
    expect(fate.reason.length).toBeLessThan(outboxLimits.reasonCharactersMax + 100);
  });
});

/** Answers requests in turn, and keeps what they were. */
function answering(...answers: ApiAnswer[]) {
  const sent: string[] = [];
  const post = (method: string, body: string) => {
    sent.push(`${method} ${body}`);
    return Promise.resolve(answers.shift() ?? status(500));
  };
  return { sent, post };
}

function rows(...commands: RowCommand[]) {
  return commands.map((each) => ({ outcome: "command", command: each }) as const);
}

describe("[W3] the rows of a batch", () => {
  it("go in one request, and what can't be sent has its fate without one", async () => {
    const { sent, post } = answering(replies(done, done));
    const bad = { outcome: "refused", id: "9", reason: "there is no method x" } as const;
    const fates = await sendRows([bad, ...rows(one, two)], post);
    expect(sent).toEqual([`batch {"commands":[{"publish":{"n":1}},{"publish":{"n":2}}]}`]);
    expect([...fates.keys()]).toEqual(["9", "1", "2"]);
    const alone = answering({ outcome: "result", result: {} });
    await sendRows(rows(one), alone.post);
    expect(alone.sent).toEqual([`publish {"n":1}`]);
  });

  it("wait behind a request that the server can't carry out now", async () => {
    const { sent, post } = answering(
      error(107),
      replies(done, { error: { code: 111, message: "too many requests" } }),
    );
    const fates = await sendRows(rows(one, two, three, four), post);
    expect(sent).toHaveLength(2);
    expect(Array.from(fates, ([id, { outcome }]) => `${id} ${outcome}`)).toEqual([
      "1 done",
      "2 again",
    ]);
  });

  it("are found by halves, until the one at fault is left", async () => {
    const { sent, post } = answering(
      status(400, "commands[2]"),
      replies(done, done),
      status(400, "commands[0]"),
      status(400, "channel is required"),
      { outcome: "result", result: {} },
    );
    const fates = await sendRows(rows(one, two, three, four), post);
    expect(sent.at(-1)).toBe(`publish {"n":4}`);
    expect(Array.from(fates, ([id, { outcome }]) => `${id} ${outcome}`)).toEqual([
      "1 done",
      "2 done",
      "3 refused",
      "4 done",
    ]);
  });
});

describe("[I1] the delay before rows are sent again", () => {
  it("doubles, and stays far below the life of an idempotency key", () => {
    const delays = [1, 2, 3, 5, 6, 100, 10_000].map((attempts) => retryDelayMs(attempts, 0));
    expect(delays).toEqual([250, 500, 1_000, 4_000, 5_000, 5_000, 5_000]);
    expect(retryDelayMs(6, 1)).toBe(3_750);
    expect(outboxLimits.retryMsMax * 5).toBeLessThan(limits.idempotencyMs);
  });
});
