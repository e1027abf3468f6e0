import { useState } from "preact/hooks";
import type { CollectedRefusal, Metrics } from "./answers.ts";
import { usePolling } from "./polling.ts";
import {
  keptStates,
  pastOf,
  type Point,
  pointBetween,
  type State,
  stateBefore,
  stateOf,
} from "./rates.ts";
import { read } from "./server.ts";

/** The counts and refusals of the server, which a visible page asks for every few seconds. */
export interface Feed {
  readonly metrics?: Metrics;
  /** The points of the plots: those of the past hour, and then those since the console was opened. */
  readonly points: readonly Point[];
  /** The last refusals of all objects and of the edge, newest first. */
  readonly refusals: readonly CollectedRefusal[];
  /** Why there are no newer ones; absent if there are. */
  readonly problem?: string;
}

const nothing: Feed = { points: [], refusals: [] };

/** Kept while the operator is on another page. */
let feed = nothing;
let states: readonly State[] = [];
/** When counts came, by the browser's clock. */
let answeredAtMs = Number.NEGATIVE_INFINITY;
/** How many refusals had been counted when the list of the last ones was read. */
let refusalsRead: number | undefined;

/**
 * Asks for counts and refusals.
 *
 * @param reportMs  how often objects report what they have counted: the rates are means over that time
 * @param loggedOut called when the login has ended
 */
export function useFeed(reportMs: number, loggedOut: () => void): Feed {
  const [shown, setShown] = useState(feed);
  usePolling(async () => {
    if (await isLoggedOut(reportMs)) loggedOut();
    else setShown(feed);
  }, everyMs);
  return shown;
}

/** Forgets all counts, for the next operator. */
export function forgetFeed(): void {
  feed = nothing;
  states = [];
  answeredAtMs = Number.NEGATIVE_INFINITY;
  refusalsRead = undefined;
}

/** Asks once. @returns whether the login has ended */
async function isLoggedOut(reportMs: number): Promise<boolean> {
  const past = Date.now() - answeredAtMs > pauseMs;
  const counts = await read<Metrics>("metrics", { past });
  if (counts.outcome === "logged-out") return true;
  if (counts.outcome === "failed") {
    feed = { ...feed, problem: counts.message };
    return false;
  }
  answeredAtMs = Date.now();
  const metrics = counts.result;
  const now = stateOf(metrics);
  feed = { metrics, points: pointsWith(metrics, now, reportMs), refusals: feed.refusals };
  // Each refusal is counted, and the list of the last ones is long.
  if (refusalsRead === now.refusals) return false;
  const last = await read<{ readonly refusals: readonly CollectedRefusal[] }>("refusals");
  if (last.outcome === "failed") feed = { ...feed, problem: last.message };
  else if (last.outcome === "result") {
    refusalsRead = now.refusals;
    feed = { ...feed, refusals: last.result.refusals };
  }
  return last.outcome === "logged-out";
}

/** The points that are shown, the one of now included. If the past was asked for, it fills the time in which nobody asked. */
function pointsWith(
  { past = [], buckets: { requests: ends } }: Metrics,
  now: State,
  reportMs: number,
): readonly Point[] {
  const { points, before } = pastOf(now, past, ends);
  // Those of later are from before the server's clock was set back.
  const nowSeconds = now.atMs / 1_000;
  const shown = feed.points.filter(({ at }) => at < nowSeconds);
  const shownUntil = shown.at(-1)?.at ?? 0;
  // They come more often than every few seconds if the operator goes from page to page.
  const kept = keptStates(states, reportMs, now.atMs);
  states = [...(before === undefined ? kept : [before]), now];
  return [
    ...shown,
    ...points.filter(({ at }) => at > shownUntil),
    pointBetween(stateBefore(states, reportMs), now, ends),
  ].filter(({ at }) => at > nowSeconds - hourSeconds);
}

/** Half of the time between two reports of an object. */
const everyMs = 5_000;
/** After that long without an answer, as while the page wasn't visible, the past is asked for again. */
const pauseMs = 60_000;
/** What is shown. */
const hourSeconds = 3_600;
