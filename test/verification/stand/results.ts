import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  deploy,
  manyChannels,
  oneChannel,
  type Outcome,
  placeGone,
  type Return,
  type Size,
} from "./scenarios.ts";

/** All that a run of the stand has counted. The same seed gives the same. */
export interface StandResults {
  readonly seed: number;
  /** One channel, by publications a second and then by subscribers. */
  readonly oneChannel: readonly RatedOutcome[];
  /** The same with fewer connections on a gateway. */
  readonly smallGateways: readonly RatedOutcome[];
  readonly manyChannels: RatedOutcome;
  readonly deploy: Return;
  /** The same with half as many connections on a gateway. */
  readonly deployHalf: Return;
  readonly placeGone: Return;
}

export interface RatedOutcome {
  readonly perSecond: number;
  readonly outcome: Outcome;
}

/** Runs everything. @param said takes a line of progress after each scenario */
export function runStand(seed: number, said: (line: string) => void): StandResults {
  const one = (clients: number, perGateway: number, perSecond: number): RatedOutcome => {
    const outcome = oneChannel(
      { seed, clients, weight: clients < manyClients ? weight : coarseWeight, perGateway },
      perSecond,
      perSecond === 1 ? pingSeconds : measuredSeconds,
    );
    said(`${clients} subscribers, ${perSecond} publications a second`);
    return { perSecond, outcome };
  };
  const million: Size = {
    seed,
    clients: 1_000_000,
    weight: coarseWeight,
    perGateway: usualPerGateway,
  };
  const ratedMany = { perSecond: 10, seconds: 60 };
  return {
    seed,
    oneChannel: rates.flatMap((perSecond) =>
      sizes.map((clients) => one(clients, usualPerGateway, perSecond)),
    ),
    smallGateways: rates.map((perSecond) => one(500_000, 1_000, perSecond)),
    manyChannels: {
      perSecond: ratedMany.perSecond,
      outcome: manyChannels(
        { seed, clients: 6_000, weight: 1, perGateway: usualPerGateway },
        ratedMany.perSecond,
        ratedMany.seconds,
      ),
    },
    deploy: deploy(million, 1),
    deployHalf: deploy({ ...million, perGateway: usualPerGateway / 2 }, 1),
    placeGone: placeGone(million, 1, "eu", awayMs),
  };
}

/** The results that the page shows. */
export function storedResults(): StandResults {
  const results: StandResults = JSON.parse(readFileSync(resultsFile, "utf8"));
  return results;
}

export const resultsFile = join(import.meta.dirname, "results.json");
/** How long the place is away. */
export const awayMs = 30_000;
/** Publications a second. */
export const rates = [1, 10, 100] as const;
const sizes = [1_000, 5_000, 25_000, 100_000, 250_000, 500_000, 1_000_000] as const;
/** A slice of the hub. */
const weight = 25;
/** From so many subscribers on, where a slice of 4 ms instead of 0.8 ms makes no difference, but five times the sockets do. */
export const manyClients = 250_000;
export const coarseWeight = 125;
/** The default of `client.connection_limit`. */
const usualPerGateway = 5_000;
const measuredSeconds = 5;
/** At one publication a second, for as long as the interval of pings. */
const pingSeconds = 25;
