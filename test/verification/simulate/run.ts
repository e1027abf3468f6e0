import type { FanOutLimits } from "../../../src/hub/hub.ts";
import type { Random } from "../../support/random.ts";
import { checkPromptness, complaintsOf } from "./complaints.ts";
import { freshDatabase, usedDatabase } from "./database.ts";
import { namedRandom } from "./named-random.ts";
import { type ChooseOutcome, smooth } from "./network.ts";
import { checkPromptPresence } from "./presence-complaints.ts";
import { presenceFaultModel } from "./presence-plan.ts";
import { carryOut } from "./actions.ts";
import {
  isPresenceCalm,
  isFaultless,
  knowsArrivals,
  type Plan,
  type PlannedClient,
} from "./plan.ts";
import { alarmReadMs } from "./alarm-plan.ts";
import { faultModel } from "./fault-model.ts";
import { checkPings } from "./ping-plan.ts";
import { usualLimits, World } from "./world.ts";

/** The outcome of a run. */
export interface Outcome {
  /** All complaints. */
  readonly complaints: readonly string[];
  readonly world: World;
}

/** Executes a plan. The same plan gives the same outcome. */
export function run(plan: Plan): Outcome {
  const world = worldOf(plan);
  try {
    for (const step of plan.steps) {
      carryOut(world, step);
      world.pass(step.ms);
    }
    if (isFaultless(plan)) checkPromptness(world);
    if (isPresenceCalm(plan) && plan.presenceFaults !== "counts") checkPromptPresence(world);
    complaintsOf(world);
    checkPings(world, plan.steps);
    if (plan.steps.every((step) => step.do !== "turn clock"))
      world.unseen.checkFalse(knowsArrivals(plan));
  } catch (error) {
    // An exception means a bug of the core or of the simulator: the run is over, and the exception is its complaint.
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    world.publicationLog.complain(`threw ${what}`);
  }
  world.end();
  return { complaints: world.publicationLog.complaints, world };
}

function worldOf(plan: Plan): World {
  const { seed, channels, gateways, outcomes } = plan;
  const chances = (what: string, msOf: (random: Random) => number) => (whose: string) => {
    const random = namedRandom(seed, `${what} ${whose}`);
    return () => msOf(random);
  };
  const repeats = namedRandom(seed, "repeats");
  const world = new World({
    channels,
    gateways,
    hasHomes: plan.hasHomes === true,
    pings: plan.pings === true,
    pusherClients: plan.pusherClients ?? 0,
    limits: plan.limits ?? usualLimits,
    chooseOutcome: outcomes === undefined ? faultsOf(plan) : (_, name) => outcomes[name] ?? smooth,
    latency: chances("socket", latencyMs),
    commits: chances("commits", (random) => random.between(1, 12)),
    turns: chances("turns", (random) => random.between(0, 12)),
    alarmReads: chances("alarm reads", alarmReadMs),
    fanOut: (object) => smallFanOut(namedRandom(seed, `fan-out of ${object}`)),
    backoffs: chances("backoffs", (random) => random.between(50, 2_000)),
    repeats: () => repeats.chance(0.1),
    polls: namedRandom(seed, "poll backend"),
    database: plan.freshDatabases === true ? freshDatabase : usedDatabase,
  });
  if (isPresenceCalm(plan))
    world.presence.judges = plan.presenceFaults === "counts" ? "immediate" : "all";
  if (isFaultless(plan)) world.removals.knownAfterMs = removalMs;
  if (plan.steps.some((step) => step.do === "turn clock")) world.growth.slackMs = turnedSlackMs;
  for (const [index, client] of plan.clients.entries()) {
    addClient(world, client, namedRandom(seed, `client c${index + 1}`));
  }
  return world;
}

/** Longer than a call under way and the one after it take where nothing fails. */
const removalMs = 1_500;

/** How much the clocks of objects may be wrong, ms. */
const turnedSlackMs = 20_000;

function faultsOf({ seed, faultShare, presenceFaults }: Plan): ChooseOutcome {
  const drawn = faultModel(seed, faultShare);
  return presenceFaults === undefined
    ? drawn
    : presenceFaultModel(seed, presenceFaults, faultModel(seed, 0), drawn);
}

/** Such that a few clients make several slices, and a few publications fill what is collected behind a frame. */
function smallFanOut(random: Random): FanOutLimits {
  return {
    immediateSubscribersMax: random.between(0, 1),
    sliceSubscribersMax: random.between(1, 3),
    sliceBytesMax: random.pick([1, 1_000_000]),
    frameEndSubscribers: random.between(0, 3),
    batchesWaitingMax: 4,
    batchesWaitingBytesMax: random.between(0, 500),
    longRestSubscribers: random.between(0, 2),
    batchesAheadMax: random.between(0, 3),
    relayAheadEntriesMax: random.between(0, 3),
  };
}

/** A frame that takes long delays the frames behind it. */
function latencyMs(random: Random): number {
  return random.chance(0.03) ? random.between(20, 300) : random.between(1, 20);
}

function addClient(
  world: World,
  { own, given, user, reconnectsEarly, isPinged }: PlannedClient,
  random: Random,
): void {
  const gateways = [...world.gateways.values()];
  world.client({
    given: given === undefined ? [] : [given],
    reconnectsEarly,
    isPinged: isPinged === true,
    choosePlace: () => (own === undefined ? random.pick(gateways) : world.channel(own)),
    ...(own === undefined ? {} : { only: own }),
    ...(user === undefined ? {} : { user }),
  });
}
