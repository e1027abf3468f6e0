import type { ApiAnswer } from "../connection/api-client.ts";
import { type Fate, follow } from "./answers.ts";
import { type ParsedRow, type RowCommand, requestsOf } from "./row-command.ts";

/** Makes a request of the HTTP API with a body. */
export type Post = (method: RowCommand["method"] | "batch", body: string) => Promise<ApiAnswer>;

/**
 * Sends rows in their order, as few requests as keep it, and stops at a request that the server can't carry out now.
 *
 * @returns the fates of rows by their IDs; a row that wasn't sent has none
 */
export async function sendRows(
  rows: readonly ParsedRow[],
  post: Post,
): Promise<ReadonlyMap<string, Fate>> {
  const fates = new Map<string, Fate>();
  for (const row of rows) if (row.outcome === "refused") fates.set(row.id, row);
  const commands = rows.flatMap((row) => (row.outcome === "command" ? [row.command] : []));
  let waiting = requestsOf(commands);
  for (;;) {
    const [request, ...others] = waiting;
    if (request === undefined) return fates;
    const followed = follow(request, await send(request, post));
    for (const [id, fate] of followed.fates) fates.set(id, fate);
    if ([...followed.fates.values()].some(({ outcome }) => outcome === "again")) return fates;
    waiting = [...followed.next, ...others];
  }
}

function send(request: readonly RowCommand[], post: Post): Promise<ApiAnswer> {
  const [first] = request;
  if (first !== undefined && request.length === 1) return post(first.method, first.body);
  const commands = request.map(({ method, body }) => `{"${method}":${body}}`);
  return post("batch", `{"commands":[${commands.join(",")}]}`);
}
