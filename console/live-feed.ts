import { Centrifuge, type PublicationContext, State } from "centrifuge";
import { useEffect, useState } from "preact/hooks";
import type { CollectedRefusal, LiveNews, Metrics } from "./answers.ts";
import { type Point, pointBetween, stateBefore, withChanges } from "./rates.ts";
import { read } from "./server.ts";

/** The counts and refusals of the server, as its own channel tells them while a page looks. */
export interface Feed {
  readonly metrics?: Metrics;
  /** The points of the plots since the console was opened. */
  readonly points: readonly Point[];
  /** The last refusals of all objects and of the edge, newest first. */
  readonly refusals: readonly CollectedRefusal[];
  /** Why there are no newer ones; absent if there are. */
  readonly problem?: string;
}

const nothing: Feed = { points: [], refusals: [] };

/** Kept while the operator is on another page. */
let feed = nothing;
let states: readonly Metrics[] = [];
/** When the newest counts came, by the browser's clock in ms. */
let countedAtMs = 0;
/** The connection; undefined while no page looks. */
let client: Centrifuge | undefined;
let reportMs = 0;
const views = new Set<View>();

interface View {
  readonly show: (feed: Feed) => void;
  readonly loggedOut: () => void;
}

/**
 * Looks at the server's own channel, while the page is visible.
 *
 * @param everyMs   how often objects report what they have counted: the rates are means over that time
 * @param loggedOut called when the login has ended
 */
export function useFeed(everyMs: number, loggedOut: () => void): Feed {
  const [shown, setShown] = useState(feed);
  useEffect(() => {
    const view = { show: setShown, loggedOut };
    reportMs = everyMs;
    views.add(view);
    follow();
    document.addEventListener("visibilitychange", follow);
    const moving = setInterval(move, moveMs);
    return () => {
      views.delete(view);
      document.removeEventListener("visibilitychange", follow);
      clearInterval(moving);
      // The next page may look, too.
      setTimeout(follow, 0);
    };
  }, [everyMs]);
  return shown;
}

/** Forgets all counts, for the next operator. */
export function forgetFeed(): void {
  feed = nothing;
  states = [];
}

/** Opens the connection if a visible page looks, and closes it otherwise. */
function follow(): void {
  const isLooking = views.size > 0 && !document.hidden;
  if (isLooking === (client !== undefined)) return;
  if (!isLooking) {
    client?.disconnect();
    client = undefined;
    return;
  }
  const address = new URL("/console/live", location.href);
  address.protocol = address.protocol.replace("http", "ws");
  client = new Centrifuge(address.href);
  client.on("publication", ({ data }: PublicationContext) => take(data));
  client.on("error", () => void explain());
  client.connect();
}

/** Takes what the channel tells. */
function take(news: LiveNews): void {
  const refusals = news.refusals ?? [];
  if (refusals.length > 0) feed = { ...feed, refusals: merged(refusals, feed.refusals) };
  const before = feed.metrics;
  if (news.all !== undefined) {
    count(news.all, true);
    // Not earlier: from now on, the channel tells each refusal that comes.
    void remember();
  } else if (news.changed !== undefined && before !== undefined)
    count(withChanges(before, news.changed, news.at_ms ?? before.at_ms), false);
  const { problem: _, ...told } = feed;
  show(told);
}

/** Takes counts. `isAnew`: the time before is unknown, because the connection is new. */
function count(metrics: Metrics, isAnew: boolean): void {
  countedAtMs = performance.now();
  states = isAnew ? [metrics] : [...states.slice(-statesKept), metrics];
  const point = pointBetween(stateBefore(states, reportMs), metrics);
  // Two that come together would draw a vertical line.
  const before = feed.points.filter(({ at }) => at < point.at - togetherSeconds);
  feed = { ...feed, metrics, points: [...before.slice(-pointsKept), point] };
}

/** Moves the plots on while nothing changes. */
function move(): void {
  const { metrics, problem } = feed;
  const quietMs = performance.now() - countedAtMs;
  if (metrics === undefined || problem !== undefined || quietMs < moveMs) return;
  if (client?.state !== State.Connected) return;
  count({ ...metrics, at_ms: metrics.at_ms + quietMs }, false);
  show(feed);
}

/** Asks once for the refusals before. */
async function remember(): Promise<void> {
  const answer = await read<{ readonly refusals: readonly CollectedRefusal[] }>("refusals");
  if (answer.outcome !== "result") return;
  show({ ...feed, refusals: merged(feed.refusals, answer.result.refusals) });
}

/** The connection has failed: because the login has ended, or for a reason that the operator is told. */
async function explain(): Promise<void> {
  const answer = await read("settings");
  if (answer.outcome === "logged-out") for (const { loggedOut } of views) loggedOut();
  else if (answer.outcome === "failed") show({ ...feed, problem: answer.message });
  else show({ ...feed, problem: "the connection was lost, and is opened again" });
}

function show(next: Feed): void {
  feed = next;
  for (const view of views) view.show(next);
}

/** Two lists of refusals as one, newest first, each once. */
function merged(
  newer: readonly CollectedRefusal[],
  older: readonly CollectedRefusal[],
): readonly CollectedRefusal[] {
  const all = new Map([...newer, ...older].map((one) => [JSON.stringify(one), one]));
  return [...all.values()].toSorted((one, other) => other.at_ms - one.at_ms).slice(0, refusalsKept);
}

/** How often the plots move on at least. */
const moveMs = 2_000;
/** A little more than it takes for a report of every object, with a state each second. */
const statesKept = 15;
/** Twenty minutes, with a point each second. */
const pointsKept = 1_200;
const togetherSeconds = 0.25;
const refusalsKept = 1_000;
