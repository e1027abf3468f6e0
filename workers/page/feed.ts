import { useState } from "preact/hooks";
import type { CollectedRefusal, Metrics } from "./answers.ts";
import { usePolling } from "./polling.ts";
import { type Point, pointBetween, stateBefore, sumOf } from "./rates.ts";
import { read } from "./server.ts";

/** The counts and refusals of the server, which a visible page asks for every few seconds. */
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
}

/** Asks once. @returns whether the login has ended */
async function isLoggedOut(reportMs: number): Promise<boolean> {
  const before = states.at(-1);
  const counts = await read<Metrics>("metrics");
  if (counts.outcome === "logged-out") return true;
  if (counts.outcome === "failed") {
    feed = { ...feed, problem: counts.message };
    return false;
  }
  const metrics = counts.result;
  states = [...states.slice(-statesKept), metrics];
  const point = pointBetween(stateBefore(states, reportMs), metrics);
  const points = [...feed.points.slice(-pointsKept), point];
  feed = { metrics, points, refusals: feed.refusals };
  // Each refusal is counted, and the list of the last ones is long.
  if (before !== undefined && refused(before) === refused(metrics)) return false;
  const last = await read<{ readonly refusals: readonly CollectedRefusal[] }>("refusals");
  if (last.outcome === "failed") {
    feed = { ...feed, problem: last.message };
    // So that the next round asks again.
    states = [];
  } else if (last.outcome === "result") feed = { ...feed, refusals: last.result.refusals };
  return last.outcome === "logged-out";
}

function refused({ counters }: Metrics): number {
  return sumOf(counters, "dormouse_refusals_total");
}

/** Half of the time between two reports of an object. */
const everyMs = 5_000;
/** As long as a report takes to come, and one more. */
const statesKept = 3;
/** Twenty minutes. */
const pointsKept = 240;
