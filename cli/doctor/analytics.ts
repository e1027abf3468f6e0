/**
 * Cloudflare's GraphQL analytics: what a run was billed for. The data sets and their fields are those of
 * developers.cloudflare.com/durable-objects/observability/metrics-and-analytics and
 * developers.cloudflare.com/analytics/graphql-api/tutorials/querying-workers-metrics. Nobody has run it against an account
 * yet.
 */
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";
import { numberOf, objectOf, objectsOf } from "../connection/answer.ts";
import { good, note, skipped, wrong, type Finding } from "./findings.ts";

/** What Cloudflare counted for a Worker between two times. */
export interface Billed {
  readonly workerRequests: number;
  readonly workerErrors: number;
  /** Calls of objects by their kinds, as Cloudflare names them. */
  readonly objectRequests: ReadonlyMap<string, number>;
  /** Time of objects awake, in GB-s. */
  readonly gbSeconds: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Messages of clients that Cloudflare counts as such. */
  readonly messages: number;
}

/** An answer of the analytics. */
export type Analytics =
  | { readonly outcome: "billed"; readonly billed: Billed }
  | { readonly outcome: "refused"; readonly reason: string };

/** What a run did, by its own count. */
export interface Done {
  readonly connects: number;
  readonly calls: number;
  readonly commands: number;
  readonly keepAlives: number;
}

/** The query, with the account, the Worker and the times as variables. */
export const analyticsQuery = `query Doctor($account: string!, $worker: string!, $from: Time!, $until: Time!) {
  viewer {
    accounts(filter: { accountTag: $account }) {
      workersInvocationsAdaptive(
        limit: 1000, filter: { scriptName: $worker, datetime_geq: $from, datetime_leq: $until }
      ) { sum { requests errors } }
      durableObjectsInvocationsAdaptiveGroups(
        limit: 1000, filter: { scriptName: $worker, datetime_geq: $from, datetime_leq: $until }
      ) { sum { requests } dimensions { namespaceId type } }
      durableObjectsPeriodicGroups(
        limit: 1000, filter: { datetime_geq: $from, datetime_leq: $until }
      ) { sum { duration rowsRead rowsWritten inboundWebsocketMsgCount } dimensions { namespaceId } }
    }
  }
}`;

/** Reads an answer to {@link analyticsQuery}. */
export function parseAnalytics(text: string): Analytics {
  const answer = objectIn(text);
  if (answer === undefined) return { outcome: "refused", reason: "the answer isn't JSON" };
  const { errors } = answer;
  if (errors !== undefined && errors !== null && isJsonArray(errors) && errors.length > 0) {
    const [first] = errors;
    const message = first !== undefined && isJsonObject(first) ? first["message"] : undefined;
    return { outcome: "refused", reason: typeof message === "string" ? message : "an error" };
  }
  const [account] = objectsOf(objectOf(objectOf(answer, "data"), "viewer"), "accounts");
  if (account === undefined)
    return { outcome: "refused", reason: "the token sees no such account" };
  return { outcome: "billed", billed: billedOf(account) };
}

function billedOf(account: JsonObject): Billed {
  const worker = objectsOf(account, "workersInvocationsAdaptive");
  const calls = objectsOf(account, "durableObjectsInvocationsAdaptiveGroups");
  const spaces = new Set(calls.map((group) => objectOf(group, "dimensions")["namespaceId"]));
  // This data set has no name of a Worker, but the objects of one are those that its calls name.
  const time = objectsOf(account, "durableObjectsPeriodicGroups").filter((group) =>
    spaces.has(objectOf(group, "dimensions")["namespaceId"]),
  );
  const objectRequests = new Map<string, number>();
  for (const group of calls) {
    const type = shown(objectOf(group, "dimensions")["type"]);
    objectRequests.set(type, (objectRequests.get(type) ?? 0) + sumOf([group], "requests"));
  }
  return {
    workerRequests: sumOf(worker, "requests"),
    workerErrors: sumOf(worker, "errors"),
    objectRequests,
    gbSeconds: sumOf(time, "duration"),
    rowsRead: sumOf(time, "rowsRead"),
    rowsWritten: sumOf(time, "rowsWritten"),
    messages: sumOf(time, "inboundWebsocketMsgCount"),
  };
}

function sumOf(groups: readonly JsonObject[], field: string): number {
  return groups.reduce((sum, group) => sum + (numberOf(objectOf(group, "sum"), field) ?? 0), 0);
}

/** Whether the analytics have the whole run. They come some minutes late, and are samples. */
export function hasAll(billed: Billed, done: Done): boolean {
  return billed.workerRequests >= 0.9 * (done.connects + done.calls);
}

/**
 * Says whether the texts that the platform answers are counted. The run sends many more of them than of all other
 * messages, so that the counts tell.
 */
export function judgeBilled(analytics: Analytics, done: Done): readonly Finding[] {
  const name = "billed";
  if (analytics.outcome === "refused")
    return [
      wrong(
        name,
        `Cloudflare's analytics can't be read: ${analytics.reason}`,
        "a token with the permission Account Analytics: Read in CLOUDFLARE_API_TOKEN, and the account in CLOUDFLARE_ACCOUNT_ID",
      ),
    ];
  const { billed } = analytics;
  if (billed.workerRequests === 0)
    return [
      skipped(name, "Cloudflare's analytics have nothing of this Worker yet: is its name right?"),
    ];
  const asked = done.connects + done.calls;
  const requests = `${billed.workerRequests} requests of the Worker were counted for ${asked} connects and calls`;
  const first =
    billed.workerRequests > asked * 1.5
      ? note(name, `${requests}: others used it at the same time`)
      : good(name, requests);
  return [first, automaticAnswers(billed, done)];
}

function automaticAnswers(billed: Billed, { commands, keepAlives }: Done): Finding {
  const name = "automatic answers";
  const counted = Math.max(billed.messages, ...messageCounts(billed));
  const facts = `${counted} messages were counted, of ${commands} commands and ${keepAlives} texts that the platform answered`;
  if (keepAlives < 5 * commands) return skipped(name, `too few texts to tell: ${facts}`);
  if (counted >= commands + keepAlives / 2)
    return note(name, `automatic answers are counted as messages: ${facts}`);
  return counted <= 2 * commands
    ? good(name, `automatic answers aren't counted: ${facts}`)
    : skipped(name, `the counts don't tell: ${facts}`);
}

/** The counts of calls that stand for messages: Cloudflare's documents have them there where objects hibernate. */
function messageCounts({ objectRequests }: Billed): readonly number[] {
  return [...objectRequests].flatMap(([type, count]) =>
    /websocket|hibernat/i.test(type) ? [count] : [],
  );
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // A page of a proxy.
  }
}
