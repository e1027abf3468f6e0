import type { Random } from "../../test/support/random.ts";
import { checkPromptness, complaintsOf } from "./complaints.ts";
import { freshDatabase, usedDatabase } from "./database.ts";
import { namedRandom } from "./named-random.ts";
import { smooth } from "./network.ts";
import { type Deed, isCalm, type Plan, type PlannedClient } from "./plan.ts";
import { weather } from "./weather.ts";
import { usualLimits, World } from "./world.ts";

/** What a run came to. */
export interface Outcome {
  /** Everything that was wrong. */
  readonly complaints: readonly string[];
  readonly world: World;
}

/** Carries out a plan. The same plan comes to the same. */
export function run(plan: Plan): Outcome {
  const world = worldOf(plan);
  try {
    for (const step of plan.steps) {
      carryOut(world, step);
      world.pass(step.ms);
    }
    if (isCalm(plan)) checkPromptness(world);
    complaintsOf(world);
  } catch (error) {
    // A bug of the core, or of ours: the run is over, and that is what is wrong with it.
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    world.ledger.complain(`threw ${what}`);
  }
  world.end();
  return { complaints: world.ledger.complaints, world };
}

function worldOf(plan: Plan): World {
  const { seed, trouble, channels, gateways, fates } = plan;
  const chances = (what: string, msOf: (random: Random) => number) => (whose: string) => {
    const random = namedRandom(seed, `${what} ${whose}`);
    return () => msOf(random);
  };
  const repeats = namedRandom(seed, "repeats");
  const world = new World({
    channels,
    gateways,
    limits: plan.limits ?? usualLimits,
    fateOf: fates === undefined ? weather(seed, trouble) : (_, name) => fates[name] ?? smooth,
    latency: chances("socket", latencyMs),
    commits: chances("commits", (random) => random.between(1, 12)),
    backoffs: chances("backoffs", (random) => random.between(50, 2_000)),
    repeats: () => repeats.chance(0.1),
    database: plan.freshDatabases === true ? freshDatabase : usedDatabase,
  });
  for (const [index, client] of plan.clients.entries()) {
    addClient(world, client, namedRandom(seed, `client c${index + 1}`));
  }
  return world;
}

/** A frame that takes long holds up those behind it. */
function latencyMs(random: Random): number {
  return random.chance(0.03) ? random.between(20, 300) : random.between(1, 20);
}

function addClient(world: World, { own, given, isImpatient }: PlannedClient, random: Random): void {
  const gateways = [...world.gateways.values()];
  world.client({
    given: given === undefined ? [] : [given],
    isImpatient,
    choosePlace: () => (own === undefined ? random.pick(gateways) : world.channel(own)),
    ...(own === undefined ? {} : { only: own }),
  });
}

function carryOut(world: World, deed: Deed): void {
  switch (deed.do) {
    case "publish":
      world.backend.publish(deed.channel, deed.keyed, deed.padding);
      return;
    case "publish version":
      world.backend.publishVersion(deed.channel, deed.version);
      return;
    case "reuse key":
      world.backend.reuseKey(deed.channel, deed.index);
      return;
    case "read": {
      const { channel, limit, reverse, since } = deed;
      const position = since === undefined ? {} : { since: { offset: since, epoch: "" } };
      world.backend.readHistory(channel, { limit, reverse, ...position });
      return;
    }
    case "remove":
      world.backend.removeHistory(deed.channel);
      return;
    case "connect":
    case "disconnect":
    case "break":
    case "subscribe":
    case "leave":
    case "forget":
    case "publish own":
    case "see presence":
      carryOutClient(world, deed);
      return;
    case "evict":
    case "crash":
    case "close":
    case "crash at commit":
    case "fail":
    case "turn clock":
    case "cut":
      carryOutFault(world, deed);
  }
}

function carryOutClient(world: World, deed: Extract<Deed, { readonly client: number }>): void {
  const client = world.clients[deed.client];
  if (client === undefined) return;
  switch (deed.do) {
    case "connect":
      client.connect();
      return;
    case "disconnect":
      client.disconnect();
      return;
    case "break":
      client.breakLine();
      return;
    case "subscribe":
      client.subscribe(deed.channel);
      return;
    case "leave":
    case "forget":
      client.unsubscribe(deed.channel, deed.do === "forget");
      return;
    case "publish own":
      client.publish(deed.channel);
      return;
    case "see presence":
      client.seePresence(deed.channel);
  }
}

function carryOutFault(world: World, deed: Extract<Deed, { readonly object: string }>): void {
  const channel = world.channels.get(deed.object);
  const object = channel ?? world.gateways.get(deed.object);
  switch (deed.do) {
    case "evict":
      object?.evict();
      return;
    case "crash":
      object?.crash();
      return;
    case "close":
      object?.close();
      return;
    case "crash at commit":
      if (channel !== undefined) channel.crashesAtCommit = true;
      return;
    case "fail":
      channel?.failAfter(deed.writes);
      return;
    case "turn clock":
      object?.turnClock(deed.byMs);
      return;
    case "cut":
      world.network.cut({ kind: deed.kind, from: deed.object, to: deed.to }, deed.forMs);
  }
}
