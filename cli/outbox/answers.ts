/** What the server's answer to a request means for the rows in it, and what is to be sent next. */
import { errorCodes } from "../../src/protocol/codes.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { type ApiAnswer, explained } from "../connection/api-client.ts";
import { shown } from "../text/printable.ts";
import { outboxLimits } from "./limits.ts";
import type { RowCommand } from "./row-command.ts";

/** The fate of a row. */
export type Fate =
  /** The server has carried it out. */
  | { readonly outcome: "done" }
  /** It can't be carried out now; whether it was is unknown. It is sent again, and later rows wait for it. */
  | { readonly outcome: "again"; readonly cause: string }
  /** It can't be carried out, however often it is sent. */
  | { readonly outcome: "refused"; readonly reason: string };

/** What follows from an answer. */
export interface Followed {
  /** By the IDs of rows; a row that is to be sent once more has none yet. */
  readonly fates: ReadonlyMap<string, Fate>;
  /** The requests to be sent next, before all others. */
  readonly next: readonly (readonly RowCommand[])[];
}

/**
 * Decides by the answer to a request. A row that is refused among others is sent once more alone, because only the answer to a
 * single command says why. A request that is refused as a whole, which did nothing, is sent in halves: so the row at fault is found,
 * and the others go on in their order.
 */
export function follow(sent: readonly RowCommand[], answer: ApiAnswer): Followed {
  const [only] = sent;
  if (only === undefined) return { fates: new Map(), next: [] };
  const fate = sent.length === 1 ? fateOfAnswer(answer) : fateOfBatch(answer, sent.length);
  switch (fate.outcome) {
    case "replies":
      return followReplies(sent, fate.replies);
    case "again":
    case "done":
      return { fates: new Map(sent.map(({ id }) => [id, fate])), next: [] };
    case "refused": {
      if (sent.length === 1) return { fates: new Map([[only.id, fate]]), next: [] };
      const half = Math.ceil(sent.length / 2);
      return { fates: new Map(), next: [sent.slice(0, half), sent.slice(half)] };
    }
  }
}

function followReplies(sent: readonly RowCommand[], replies: readonly JsonValue[]): Followed {
  const fates = new Map<string, Fate>();
  const alone: RowCommand[] = [];
  for (const [index, command] of sent.entries()) {
    const fate = fateOfReply(replies[index]);
    if (fate.outcome === "refused") alone.push(command);
    else fates.set(command.id, fate);
  }
  return { fates, next: alone.map((command) => [command]) };
}

type BatchFate = Fate | { readonly outcome: "replies"; readonly replies: readonly JsonValue[] };

/** The fate of all rows of a batch, or the replies to each of them. */
function fateOfBatch(answer: ApiAnswer, count: number): BatchFate {
  const fate = fateOfAnswer(answer);
  if (answer.outcome !== "result" || fate.outcome !== "done") return fate;
  const { replies } = answer.result;
  if (replies === undefined || !isJsonArray(replies) || replies.length !== count)
    return { outcome: "again", cause: "the server's answer isn't that to a batch" };
  return { outcome: "replies", replies };
}

/** The fate of the row of a request of its own. */
function fateOfAnswer(answer: ApiAnswer): Fate {
  switch (answer.outcome) {
    case "result":
      return fateOfResult(answer.result);
    case "error":
      return fateOfError(answer.code, answer.message);
    case "status":
      return isAboutTheRequest(answer)
        ? { outcome: "refused", reason: explained(answer) }
        : { outcome: "again", cause: explained(answer) };
    case "unreachable":
      return { outcome: "again", cause: `the server can't be reached: ${answer.cause}` };
  }
}

/**
 * Whether a status is about what was sent, and not about the server, a proxy or the key. Only Dormouse says with a detail what
 * is malformed, and any proxy may refuse a body that is too large.
 */
function isAboutTheRequest(answer: Extract<ApiAnswer, { outcome: "status" }>): boolean {
  return answer.status === 413 || (answer.status === 400 && answer.detail !== undefined);
}

/** The fate of a row by its reply in a batch, `{"<method>":…}` or `{"error":…}`. */
function fateOfReply(reply: JsonValue | undefined): Fate {
  if (reply === undefined || !isJsonObject(reply))
    return { outcome: "again", cause: "the server's answer isn't that to a batch" };
  const { error, ...results } = reply;
  if (error !== undefined) return fateOfErrorObject(error);
  const [result] = Object.values(results);
  return fateOfResult(result ?? null);
}

/** The result of a broadcast has a response for each channel. One that isn't done decides about the row. */
function fateOfResult(result: JsonValue): Fate {
  const responses = isJsonObject(result) ? (result["responses"] ?? null) : null;
  if (!isJsonArray(responses)) return { outcome: "done" };
  const fates = responses.map((response, index): Fate => {
    const error = isJsonObject(response) ? response["error"] : undefined;
    if (error === undefined) return { outcome: "done" };
    const fate = fateOfErrorObject(error);
    return fate.outcome === "refused"
      ? { outcome: "refused", reason: `channel ${index + 1} of the broadcast: ${fate.reason}` }
      : fate;
  });
  const worst = (["again", "refused"] as const).flatMap((outcome) =>
    fates.filter((fate) => fate.outcome === outcome),
  );
  return worst[0] ?? { outcome: "done" };
}

function fateOfErrorObject(error: JsonValue): Fate {
  const { code, message, detail } = isJsonObject(error) ? error : {};
  const more = detail === undefined ? "" : ` (${shown(detail)})`;
  return fateOfError(Number(code), `${shown(message)}${more}`);
}

function fateOfError(code: number, message: string): Fate {
  const text = `${code} ${message}`;
  return temporary.has(code)
    ? { outcome: "again", cause: `the server answers ${text}` }
    : { outcome: "refused", reason: text.slice(0, outboxLimits.reasonCharactersMax) };
}

const temporary: ReadonlySet<number> = new Set(
  Object.values(errorCodes).flatMap(({ code, temporary: isTemporary }) =>
    isTemporary ? [code] : [],
  ),
);

/**
 * The delay before rows are sent again, ms: doubled with each attempt, and up to a quarter less, so that partitions don't come
 * together.
 *
 * @param attempts that have failed, one after another
 * @param random   from 0 to 1
 */
export function retryDelayMs(attempts: number, random: number): number {
  const { retryMs, retryMsMax } = outboxLimits;
  const full = Math.min(retryMs * 2 ** Math.min(Math.max(0, attempts - 1), 20), retryMsMax);
  return Math.round(full * (1 - random / 4));
}
