import type { Random } from "../../../support/random.ts";
import type { HookAnswered } from "../../checker/history-event.ts";
import { backendsRefusal } from "../clients/endpoint.ts";
import { valueIn } from "../clients/value.ts";

/** A question of the server, as far as a backend looks into it. */
export interface Question {
  readonly hook: HookAnswered["hook"];
  readonly client: string;
  readonly channel?: string;
  readonly data?: unknown;
}

/** What a backend does about a question. */
export interface PlannedAnswer {
  /** The kind of answer, for the report. */
  readonly answer: AnswerKind;
  readonly status: number;
  readonly body: string | Uint8Array;
  /** How long it takes; Infinity for an answer that never comes. */
  readonly afterMs: number;
  /** Whether it allows what the client wants, and in time. */
  readonly allows: boolean;
  /** What is published in place of the client's value, or the reply to a call, as a client receives it. */
  readonly result?: string;
}

/**
 * right: allowed, and some publications changed. slow: the same, but late. lie:
 * allowed, with fields that the server has to ignore. empty: `{}`, which allows all but a connect. late: allowed when it is
 * too late. silent: no answer. error, disconnect, status: refused. nonsense: nothing that the server can use.
 */
export type AnswerKind = (typeof answerKinds)[number][0];

/** Decides on a question at random. */
export function answerTo(question: Question, random: Random): PlannedAnswer {
  return answerAs(drawKind(random), question, random);
}

/** Allows what the client wants, as it is. */
export function rightAnswer(question: Question): PlannedAnswer {
  return allowing("right", question, resultOf(question, ""));
}

/** Decides on a question in one way. */
export function answerAs(kind: AnswerKind, question: Question, random: Random): PlannedAnswer {
  const mark = random.chance(0.5) ? "" : `~${random.between(1, 999)}`;
  const right = allowing(kind, question, resultOf(question, mark));
  switch (kind) {
    case "right":
      return right;
    case "slow":
      return { ...right, afterMs: random.between(50, 250) };
    case "lie":
      return allowing(kind, question, {
        ...resultOf(question, mark),
        channel: "keep:a",
        client: "another",
        offset: 1,
        publications: [{ data: "invented" }],
      });
    case "empty":
      return allowing(kind, question, undefined);
    case "late":
      return { ...refusing(right), afterMs: hookTimeoutMs + random.between(2_000, 4_000) };
    case "silent":
      return { ...refusing(right), afterMs: Number.POSITIVE_INFINITY };
    case "error": {
      const error = { code: backendsRefusal, message: "no", temporary: random.chance(0.5) };
      // An error goes before a result.
      const result = random.chance(0.5) ? { result: resultOf(question, mark) } : {};
      return { ...refusing(right), body: JSON.stringify({ error, ...result }) };
    }
    case "disconnect": {
      const code = random.pick([4_000, 4_500]);
      return refusing({ ...right, body: JSON.stringify({ disconnect: { code, reason: "no" } }) });
    }
    case "status":
      return refusing({ ...right, status: random.pick([204, 302, 400, 404, 429, 500, 503]) });
    case "nonsense":
      return refusing({ ...right, body: random.pick(nonsenseFor(question)) });
  }
}

function drawKind(random: Random): AnswerKind {
  let roll = random.between(1, totalWeight);
  for (const [kind, weight] of answerKinds) {
    roll -= weight;
    if (roll <= 0) return kind;
  }
  return "right";
}

/** @param result undefined for none, with which a connect has no credentials */
function allowing(
  answer: AnswerKind,
  question: Question,
  result: HookResult | undefined,
): PlannedAnswer {
  const given = valueIn(question.data);
  const received = question.hook === "rpc" ? "" : given;
  return {
    answer,
    status: 200,
    body: JSON.stringify(result === undefined ? {} : { result }),
    afterMs: 0,
    allows: question.hook !== "connect" || result !== undefined,
    result: result?.data ?? received,
  };
}

function refusing({ answer, status, body, afterMs }: PlannedAnswer): PlannedAnswer {
  return { answer, status, body, afterMs, allows: false };
}

interface HookResult {
  readonly user?: string;
  readonly data?: string;
  readonly [other: string]: unknown;
}

/** @param mark appended to what is published; none leaves it as it is */
function resultOf({ hook, data }: Question, mark: string): HookResult {
  switch (hook) {
    case "connect":
      return { user: userIn(data) };
    case "subscribe":
      return {};
    case "publish":
      return mark === "" ? {} : { data: `${valueIn(data)}${mark}` };
    case "rpc":
      return { data: `${valueIn(data)}-answered${mark}` };
  }
}

/** The user that a client without a token says it is. */
function userIn(data: unknown): string {
  const { user = "" }: { readonly user?: string } = Object(data);
  return user;
}

/** Answers that no server can use. */
function nonsenseFor({ hook }: Question): readonly (string | Uint8Array)[] {
  const common = ["", "yes", "[]", '{"result":7}', '{"error":"no"}', '{"disconnect":{"code":1}}'];
  // Not valid UTF-8, and more than the server reads.
  const bytes = [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), " ".repeat(1_600_000)];
  return [...common, '{"error":{"code":7}}', '{"result":{}', ...bytes, ...wrongResults[hook]];
}

const wrongResults: Readonly<Record<Question["hook"], readonly string[]>> = {
  connect: ['{"result":{"user":7}}', '{"result":{"user":"eve","expire_at":"soon"}}'],
  subscribe: ['{"result":{"expire_at":"soon"}}', '{"result":{"override":{"presence":7}}}'],
  publish: [
    '{"result":{"tags":7}}',
    '{"result":{"b64data":"%"}}',
    '{"result":{"data":"eve","version":-1}}',
    '{"result":{"data":"eve","skip_history":"no"}}',
  ],
  rpc: ['{"result":{"b64data":"%"}}'],
};

/** The kinds of answers, each with its share of a hundred. */
const answerKinds = [
  ["right", 64],
  ["slow", 8],
  ["lie", 4],
  ["empty", 4],
  ["late", 3],
  ["silent", 2],
  ["error", 5],
  ["disconnect", 1],
  ["status", 4],
  ["nonsense", 5],
] as const;

const totalWeight = answerKinds.reduce((sum, [, weight]) => sum + weight, 0);

/** How long the server waits for an answer: so long that a machine that is busy with other checks doesn't miss every one. */
export const hookTimeoutMs = 1_000;
