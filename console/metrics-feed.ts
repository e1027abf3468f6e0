import { useState } from "preact/hooks";
import type { Metrics } from "./answers.ts";
import { usePolling } from "./polling.ts";
import { type Point, pointBetween, stateBefore } from "./rates.ts";
import { read } from "./server.ts";

/** What the server counts, and the points of the plots since the console was opened. */
export interface Feed {
  readonly metrics?: Metrics;
  readonly points: readonly Point[];
  /** Why there are no newer ones; absent if there are. */
  readonly problem?: string;
}

/** Kept while the operator is on another page. */
let feed: Feed = { points: [] };
let states: readonly Metrics[] = [];

/**
 * Asks the server for its counts every two seconds, while the page is visible.
 *
 * @param reportMs  how often objects report what they have counted
 * @param loggedOut called when the login has ended
 */
export function useFeed(reportMs: number, loggedOut: () => void): Feed {
  const [shown, setShown] = useState(feed);
  usePolling(async () => {
    const answer = await read<Metrics>("metrics");
    switch (answer.outcome) {
      case "logged-out":
        loggedOut();
        break;
      case "failed":
        feed = { ...feed, problem: answer.message };
        break;
      case "result":
        feed = add(answer.result, reportMs);
        break;
    }
    setShown(feed);
  }, everyMs);
  return shown;
}

/** Forgets all counts, for the next operator. */
export function forgetFeed(): void {
  feed = { points: [] };
  states = [];
}

function add(metrics: Metrics, reportMs: number): Feed {
  states = [...states.slice(-statesKept), metrics];
  const point = pointBetween(stateBefore(states, reportMs), metrics);
  return { metrics, points: [...feed.points.slice(-pointsKept), point] };
}

const everyMs = 2_000;
/** A little more than it takes for a report of every object. */
const statesKept = 10;
/** Twenty minutes. */
const pointsKept = 600;
