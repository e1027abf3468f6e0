import type { Action, Step } from "./actions.ts";
import type { CallKind, CallOutcome } from "./network.ts";
import { Random } from "../../support/random.ts";
import { namedRandom } from "./named-random.ts";
import { withFailingAlarms } from "./alarm-plan.ts";
import { isMap, mapKinds } from "./map-kinds.ts";
import { filledMap, withMapActions } from "./map-plan.ts";
import { presenceClients, type PresenceFaults, withPresenceActions } from "./presence-plan.ts";
import { presenceChannels } from "./presence-kinds.ts";
import { pollKinds, pollModeOf } from "./poll-kinds.ts";
import { withPollActions } from "./poll-plan.ts";
import { pusherKinds } from "./pusher/pusher-kinds.ts";
import { pusherCount, withPusherActions } from "./pusher/pusher-plan.ts";
import { withAudienceActions } from "./audience-plan.ts";
import { audienceKinds, cursorKinds, receiptKinds, receiptsOf } from "./cursor-kinds.ts";
import { cursorClients, withCursorActions } from "./cursor-plan.ts";
import { bankKinds } from "./bank/bank-kinds.ts";
import { withBankActions } from "./bank/bank-plan.ts";
import { changeKinds, isChanging } from "./changes/change-kinds.ts";
import { withChangeActions } from "./changes/change-plan.ts";
import { growthKinds } from "./growth-kinds.ts";
import { withGrowthActions } from "./growth-plan.ts";
import { withReceiptActions } from "./receipt-plan.ts";
import { withPageLoads } from "./page-plan.ts";
import { withPings } from "./ping-plan.ts";
import { withRemovals } from "./removal-plan.ts";
import { withFrames } from "./frame-plan.ts";
import { withUsers } from "./user-plan.ts";
import { withWaves } from "./wave-plan.ts";
import { paddingMax, type WorldLimits } from "./world.ts";

/** Everything about one run, as plain data: the same plan gives the same run. */
export interface Plan {
  /** Seeds everything that the plan doesn't list: latencies and the outcome of each call. */
  readonly seed: number;
  /** The share of calls with a fault, from 0 to 1. */
  readonly faultShare: number;
  /** The only calls that fail; absent: all kinds do. */
  readonly presenceFaults?: PresenceFaults;
  /** The outcomes of calls by name; all other calls succeed. Absent: each outcome is drawn at random. */
  readonly outcomes?: Readonly<Record<string, CallOutcome>>;
  readonly channels: readonly string[];
  readonly gateways: number;
  /** Whether users have homes; absent: they haven't. */
  readonly hasHomes?: boolean;
  /** Whether the server pings clients; with cursors it does in any case. */
  readonly pings?: boolean;
  /** How many clients speak the Pusher protocol; absent: none. */
  readonly pusherClients?: number;
  /** Limits that are lower than usual, if any. */
  readonly limits?: WorldLimits;
  readonly clients: readonly PlannedClient[];
  /** Whether the databases are used for this run alone and execute every statement. */
  readonly freshDatabases?: boolean;
  readonly steps: readonly Step[];
}

export interface PlannedClient {
  /** The channel whose object the client connects to; absent for a client of gateways. */
  readonly own?: string;
  /** A channel that the client's token subscribes it to. */
  readonly given?: string;
  /** The user of the client's token; absent: a user of its own. */
  readonly user?: string;
  readonly reconnectsEarly: boolean;
  /** Whether the server pings the client; absent: the client pings. */
  readonly isPinged?: true;
}

/**
 * The plan of a seed: the channels of every tenth one are a channel with its presence maps, of every tenth one of the others
 * they are shared polls, and of every tenth one of these others banks. Of the rest, users have homes in every second one, the
 * channels of every third one are maps, and clients arrive in waves in every fifth one.
 */
export function planOf(seed: number): Plan {
  const plan = planWithAlarms(seed);
  const alarms = namedRandom(seed, "alarms");
  return isFaultless(plan) || !alarms.chance(0.1) ? plan : withFailingAlarms(plan, alarms);
}

/** The plan of a seed without the failures of alarms. */
function planWithAlarms(seed: number): Plan {
  const random = namedRandom(seed, "users");
  const maps = namedRandom(seed, "maps");
  const polls = namedRandom(seed, "polls");
  const presence = namedRandom(seed, "presence maps");
  const cursors = namedRandom(seed, "cursors");
  const growth = namedRandom(seed, "growth");
  const changes = namedRandom(seed, "changes");
  const waves = namedRandom(seed, "waves");
  if (presence.chance(0.1)) return presencePlan(seed, presence);
  if (polls.chance(0.1)) return pollPlan(seed, polls);
  const banks = namedRandom(seed, "banks");
  if (banks.chance(0.1)) return bankPlan(seed, banks);
  const pusher = namedRandom(seed, "pusher");
  if (pusher.chance(0.1)) return pusherPlan(seed, pusher);
  const calm = cursors.chance(0.1)
    ? cursorPlan(seed, cursors)
    : growth.chance(0.1)
      ? growthPlan(seed, growth)
      : changes.chance(0.1)
        ? changePlan(seed, changes)
        : maps.chance(0.35)
          ? mapPlan(seed, maps)
          : framedPlan(seed);
  const plan = waves.chance(0.2) ? pinged(withWaves(calm, waves)) : calm;
  if (!random.chance(0.5)) return plan;
  const withOrders = withUsers(plan, random);
  // An order subscribes to the changes of a map alone, without its state, and those who are changed know what they asked for.
  const steps = withOrders.steps.filter(
    (step) => step.do !== "subscribe user" || !(isMap(step.channel) || isChanging(step.channel)),
  );
  return { ...withOrders, steps };
}

/** Every second plan of waves, if a plain publication is one in its channels. */
function pinged(plan: Plan): Plan {
  const pings = namedRandom(plan.seed, "pings");
  const isPlain = plan.channels.every((channel) => kinds.includes(channel));
  return isPlain && pings.chance(0.5) ? withPings(plan, pings) : plan;
}

/** A plan whose channels keep nothing but publications. In some, clients send large frames. */
function framedPlan(seed: number): Plan {
  const plan = plainPlan(seed, kinds);
  const frames = namedRandom(seed, "frames");
  const framed = frames.chance(0.15) ? withFrames(plan, frames) : plan;
  const removals = namedRandom(seed, "removals");
  if (!removals.chance(0.1)) return framed;
  const removed = withRemovals(framed, removals);
  // With faults a removal may take long to become known to gateways.
  return removals.chance(0.3)
    ? removed
    : { ...removed, faultShare: 0, steps: removed.steps.filter(isHarmless) };
}

/** A plan whose channels are maps. A token subscribes to none of them, because its subscriptions have no state. */
function mapPlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, mapKinds);
  const clients = withoutGiven(plan.clients);
  const others = plan.steps.findIndex((step) => step.do !== "connect");
  const filled = random.chance(0.5) ? filledMap(random.pick(plan.channels)) : [];
  const steps = plan.steps.toSpliced(others, 0, ...filled);
  return { ...plan, clients, steps: withMapActions(random, steps) };
}

/** The clients without what a token subscribes them to, and without users. */
function withoutGiven(clients: readonly PlannedClient[]): readonly PlannedClient[] {
  return clients.map(({ own, reconnectsEarly }) => ({
    ...(own === undefined ? {} : { own }),
    reconnectsEarly,
  }));
}

/**
 * A plan whose channels keep what their users have got and read. In three of ten clients follow what others have read; in
 * three of ten of the others a backend names audiences, and has users forgotten.
 */
function cursorPlan(seed: number, random: Random): Plan {
  const receipts = namedRandom(seed, "receipts");
  if (receipts.chance(0.3)) return receiptPlan(seed, random, receipts);
  const audience = namedRandom(seed, "audience");
  const hasAudience = audience.chance(0.3);
  const plan = plainPlan(seed, hasAudience ? audienceKinds : cursorKinds);
  const clients = cursorClients(random, plan.clients);
  const steps = withCursorActions(random, plan.steps, clients.length);
  if (!hasAudience) return { ...plan, clients, steps };
  const pages = namedRandom(seed, "pages");
  const loading = withPageLoads(pages, steps, clients.length, plan.channels);
  return { ...plan, clients, steps: withAudienceActions(audience, loading, clients.length) };
}

/** A plan with a channel and its receipts. A token doesn't subscribe to these, because its subscriptions have no state. */
function receiptPlan(seed: number, random: Random, receipts: Random): Plan {
  const plan = plainPlan(seed, receiptKinds, true);
  const clients = cursorClients(
    random,
    plan.clients.map(({ given, ...client }) =>
      given === undefined || receiptsOf(given) !== undefined ? client : { ...client, given },
    ),
  );
  const marked = withCursorActions(random, plan.steps, clients.length);
  return { ...plan, clients, steps: withReceiptActions(receipts, marked, clients.length) };
}

/** A plan whose channels are maps whose values grow. */
function growthPlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, growthKinds);
  const gateways = Array.from({ length: plan.gateways }, (_, index) => `g/${index + 1}`);
  const steps = withGrowthActions(random, plan.steps, [...plan.channels, ...gateways]);
  return withOtherSteps(plan, steps);
}

/** A plan whose publications are edited, deleted and erased. An erasure writes tables anew, so that each statement counts. */
function changePlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, changeKinds);
  const gateways = Array.from({ length: plan.gateways }, (_, index) => `g/${index + 1}`);
  const steps = withChangeActions(random, plan.steps, [...plan.channels, ...gateways]);
  return { ...withOtherSteps(plan, steps), freshDatabases: true };
}

/** A plan whose channels are banks. */
function bankPlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, bankKinds);
  const steps = withBankActions(random, plan.steps);
  return withOtherSteps(plan, steps);
}

/** A plan whose channels are those of an application that speaks the Pusher protocol. */
function pusherPlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, pusherKinds);
  const steps = withPusherActions(random, plan.steps, plan.channels);
  return { ...plan, pusherClients: pusherCount, steps };
}

/** A plan whose channels are shared polls. A token subscribes to none of them, because nobody tracks keys with it. */
function pollPlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, pollKinds);
  const steps = withPollActions(random, plan.steps, plan.clients.length);
  return withOtherSteps(plan, steps);
}

/** A plan with these steps in place of its own, no faults among them if it had none, and no subscriptions by tokens. */
function withOtherSteps(plan: Plan, steps: readonly Step[]): Plan {
  const isCalm = plan.faultShare === 0 && plan.steps.every(isHarmless);
  const clients = withoutGiven(plan.clients);
  return { ...plan, clients, steps: isCalm ? steps.filter(isHarmless) : steps };
}

/** A plan whose channels are one with presence maps, and these. */
function presencePlan(seed: number, random: Random): Plan {
  const plan = plainPlan(seed, presenceChannels, true);
  const clients = presenceClients(random, plan.clients);
  const steps = withPresenceActions(random, plan.steps, clients.length);
  const faults = random.chance(0.4) ? random.pick(["counts", "tells"] as const) : undefined;
  const presence = { ...plan, clients, steps };
  if (faults === undefined) return presence;
  const presenceFaults = faults;
  return { ...presence, steps: steps.filter(isHarmless), faultShare: 0.4, presenceFaults };
}

function plainPlan(seed: number, kinds: readonly string[], takesAll = false): Plan {
  const random = new Random(seed);
  const isLarge = random.chance(0.02);
  const some = isLarge ? kinds : pickSome(random, kinds, random.chance(0.7) ? 1 : 2);
  const channels = takesAll ? kinds : some;
  const gateways = isLarge ? 3 : random.between(1, 3);
  const clients = Array.from({ length: isLarge ? 6 : random.between(2, 4) }, (_, index) =>
    clientOf(random, channels, index),
  );
  const objects = [
    ...channels,
    ...Array.from({ length: gateways }, (_, index) => `g/${index + 1}`),
  ];
  const limits = limitsOf(random);
  const isPadded = limits !== undefined;
  const place: Place = { channels, gateways, objects, clients: clients.length, isPadded };
  const beginnings: Step[] = clients.map((_, client) => ({ do: "connect", client, ms: 0 }));
  const subscribes = clients.map((_, client): Step => {
    return { do: "subscribe", client, channel: random.pick(channels), ms: random.between(0, 100) };
  });
  const faultless = random.chance(0.2);
  const steps = Array.from({ length: stepsOf(random, isLarge) }, (): Step => {
    return { ...randomAction(random, place), ms: pause(random) };
  });
  return {
    seed,
    faultShare: faultless ? 0 : random.pick([0, 0.05, 0.2, 0.4]),
    channels,
    gateways,
    ...(limits === undefined ? {} : { limits }),
    clients,
    ...(random.chance(0.03) ? { freshDatabases: true } : {}),
    steps: [...beginnings, ...subscribes, ...(faultless ? steps.filter(isHarmless) : steps)],
  };
}

/** Whether no fault of a run has to do with anything but presence maps. */
export function isPresenceCalm({
  steps,
  faultShare,
  presenceFaults,
  outcomes = {},
}: Plan): boolean {
  const isFaulty = faultShare > 0 || Object.keys(outcomes).length > 0;
  return steps.every(isHarmless) && (presenceFaults !== undefined || !isFaulty);
}

/** Whether a run has no fault. Then no client may notice anything, not even a delay. */
export function isFaultless({ faultShare, outcomes = {}, steps }: Plan): boolean {
  return faultShare === 0 && Object.keys(outcomes).length === 0 && steps.every(isHarmless);
}

/**
 * Whether nothing keeps objects from knowing what has arrived at clients: no call and no instance is lost. Where a line is,
 * or something is published at a time of its own, an object knows what it knew before.
 */
export function knowsArrivals({ faultShare, outcomes = {}, steps }: Plan): boolean {
  const isLossless = faultShare === 0 && Object.keys(outcomes).length === 0;
  return isLossless && steps.every((step) => isHarmless(step) || step.do in ofLines);
}

const ofLines: Partial<Record<Step["do"], true>> = { cut: true, stall: true, "watch ping": true };

function isHarmless(step: Step): boolean {
  return !harmful.has(step.do);
}

const harmful: ReadonlySet<Step["do"]> = new Set([
  "crash",
  "crash at commit",
  "deploy",
  "pusher break",
  "fail",
  "fail alarm",
  "turn clock",
  "cut",
  // Its subscribers are told that they have to read the map anew.
  "clear",
  "forget texts",
  "begin epoch",
  "behave",
  "stall",
  // Something may be published long after the step.
  "watch ping",
  "meet ping",
]);

/** In a short run no later event can repair a fault. */
function stepsOf(random: Random, isLarge: boolean): number {
  if (isLarge) return random.between(80, 160);
  return random.chance(0.5) ? random.between(2, 10) : random.between(12, 30);
}

interface Place {
  readonly channels: readonly string[];
  readonly gateways: number;
  readonly objects: readonly string[];
  readonly clients: number;
  /** Whether some publications are large. */
  readonly isPadded: boolean;
}

/** One channel of each kind. With few channels, more events concern the same channel. */
const kinds = ["keep:a", "few:b", "last:c", "none:d", "tell:e"];

function clientOf(random: Random, channels: readonly string[], index: number): PlannedClient {
  const reconnectsEarly = index % 2 === 0;
  if (random.chance(0.3)) return { own: random.pick(channels), reconnectsEarly };
  return random.chance(0.2)
    ? { given: random.pick(channels), reconnectsEarly }
    : { reconnectsEarly };
}

/** Sometimes limits so low that most recoveries exceed them. */
function limitsOf(random: Random): WorldLimits | undefined {
  if (!random.chance(0.15)) return undefined;
  return { recoveryMax: random.pick([5, 20]), queueBytesMax: 65_536 };
}

function randomAction(random: Random, place: Place): Action {
  const { channels, objects, clients, isPadded } = place;
  const channel = random.pick(channels);
  const client = random.between(0, clients - 1);
  const roll = random.between(0, 99);
  if (roll < 28) return backendAction(random, channel, isPadded);
  if (roll < 64) return clientAction(random, client, channel);
  if (roll < 65) return cut(random, channel, place.gateways);
  if (roll < 67) return { do: "fail", object: channel, writes: random.between(0, 4) };
  if (roll < 72) return { do: "crash at commit", object: channel };
  if (roll < 75) {
    const object = random.pick(objects);
    return { do: "turn clock", object, byMs: random.between(-2_000, 2_000) };
  }
  const object = random.pick(objects);
  if (roll < 90) return { do: "evict", object };
  return roll < 98 ? { do: "crash", object } : { do: "close", object };
}

/** One of two objects can't reach the other any more, while the other still reaches it. */
function cut(random: Random, channel: string, gateways: number): Action {
  const gateway = `g/${random.between(1, gateways)}`;
  const forMs = random.between(5_000, 30_000);
  // Without history, a channel object that hibernates between two attempts forgets what it couldn't deliver.
  return channel.startsWith("none:") || random.chance(0.5)
    ? { do: "cut", object: gateway, kind: "ask", to: channel, forMs }
    : { do: "cut", object: channel, kind: deliversOf(channel, random), to: gateway, forMs };
}

function deliversOf(channel: string, random: Random): CallKind {
  return pollModeOf(channel) !== undefined && random.chance(0.8) ? "polled" : "deliver";
}

function backendAction(random: Random, channel: string, isPadded: boolean): Action {
  const roll = random.between(0, 27);
  if (roll < 1) return { do: "remove", channel };
  if (roll < 3) return { do: "publish version", channel, version: random.between(1, 9) };
  if (roll < 5) return { do: "reuse key", channel, index: random.between(0, 9) };
  if (roll < 7) {
    const since = random.chance(0.5) ? { since: random.between(0, 12) } : {};
    const limit = random.pick([-1, 0, 1, 3]);
    return { do: "read", channel, limit, reverse: random.chance(0.5), ...since };
  }
  const keyed = random.chance(0.5);
  if (!isPadded || random.chance(0.5)) return { do: "publish", channel, keyed };
  return { do: "publish", channel, keyed, padding: random.between(1_000, paddingMax) };
}

function clientAction(random: Random, client: number, channel: string): Action {
  const roll = random.between(0, 38);
  if (roll < 13) return { do: "subscribe", client, channel };
  if (roll < 20) return { do: random.chance(0.3) ? "forget" : "leave", client, channel };
  if (roll < 30) return { do: "publish own", client, channel };
  if (roll < 33) return { do: random.chance(0.5) ? "disconnect" : "break", client };
  return roll < 38 ? { do: "connect", client } : { do: "see presence", client, channel };
}

function pickSome(random: Random, all: readonly string[], count: number): readonly string[] {
  const left = [...all];
  while (left.length > count) left.splice(random.between(0, left.length - 1), 1);
  return left;
}

/** Mostly short, so that events overlap, and sometimes so long that every object hibernates or state expires. */
function pause(random: Random): number {
  const roll = random.between(0, 99);
  if (roll < 55) return random.between(0, 30);
  if (roll < 80) return random.between(30, 1_000);
  if (roll < 92) return random.between(1_000, 10_000);
  return roll < 98 ? random.between(10_000, 60_000) : random.between(60_000, 400_000);
}
