import type { FanOutLimits } from "../../../src/hub/hub.ts";
import type { Random } from "../../support/random.ts";
import { checkPromptness, complaintsOf } from "./complaints.ts";
import { freshDatabase, usedDatabase } from "./database.ts";
import { namedRandom } from "./named-random.ts";
import { type ChooseOutcome, smooth } from "./network.ts";
import { checkPromptPresence } from "./presence-complaints.ts";
import { presenceFaultModel } from "./presence-plan.ts";
import {
  type Action,
  isPresenceCalm,
  isFaultless,
  knowsArrivals,
  type Plan,
  type PlannedClient,
} from "./plan.ts";
import { alarmReadMs } from "./alarm-plan.ts";
import { faultModel } from "./fault-model.ts";
import type { AudienceAction } from "./audience-plan.ts";
import type { CursorAction } from "./cursor-plan.ts";
import type { PollAction } from "./poll-plan.ts";
import { PollSubscription } from "./poll-subscription.ts";
import type { OrderAction } from "./user-plan.ts";
import { watchPing } from "./watched-ping.ts";
import { carryOutPing, checkPings, type PingAction } from "./ping-plan.ts";
import { recoverBesideRemovals } from "./removal-plan.ts";
import { startWave } from "./wave-plan.ts";
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

function carryOut(world: World, action: Action): void {
  switch (action.do) {
    case "publish":
      world.backend.publish(action.channel, action.keyed, action.padding);
      return;
    case "publish version":
      world.backend.publishVersion(action.channel, action.version);
      return;
    case "reuse key":
      world.backend.reuseKey(action.channel, action.index);
      return;
    case "read": {
      const { channel, limit, reverse, since } = action;
      const position = since === undefined ? {} : { since: { offset: since, epoch: "" } };
      world.backend.readHistory(channel, { limit, reverse, ...position });
      return;
    }
    case "remove":
      world.backend.removeHistory(action.channel);
      return;
    case "set":
    case "drop":
      world.backend.change(action);
      return;
    case "clear":
      world.backend.mapCall(action.channel, { method: "map_clear" });
      return;
    case "count keys":
      world.backend.mapCall(action.channel, { method: "map_stats" });
      return;
    case "read state": {
      const { channel, limit } = action;
      const request = { key: "", cursor: "", limit, asc: false };
      world.backend.mapCall(channel, { method: "map_read_state", request });
      return;
    }
    case "set value":
    case "publish value":
    case "remove value":
    case "begin epoch":
    case "behave":
      changeValues(world, action);
      return;
    case "set own":
    case "drop own":
    case "append own":
    case "track":
    case "untrack":
    case "connect":
    case "disconnect":
    case "break":
    case "subscribe":
    case "leave":
    case "forget":
    case "publish own":
    case "see presence":
    case "frame":
      carryOutClient(world, action);
      return;
    case "mark own":
    case "mark for":
    case "count own unread":
    case "count unread for":
    case "ask delivered for":
    case "watch ping":
    case "stall":
      carryOutCursor(world, action);
      return;
    case "add to audience":
    case "remove from audience":
    case "set audience":
    case "forget user":
      carryOutAudience(world, action);
      return;
    case "disconnect user":
    case "unsubscribe user":
    case "subscribe user":
    case "refresh user":
    case "block user":
    case "unblock user":
    case "revoke token":
    case "invalidate user":
      giveOrder(world, action);
      return;
    case "append":
    case "append blind":
    case "begin text":
    case "remove text":
    case "read text":
    case "forget texts":
      world.producers.carryOut(action);
      return;
    case "keepalive":
    case "meet ping":
      carryOutPing(world, action);
      return;
    case "recover beside removals":
      recoverBesideRemovals(world, action);
      return;
    case "wave":
      startWave(world, action);
      return;
    case "evict":
    case "crash":
    case "close":
    case "crash at commit":
    case "fail":
    case "fail alarm":
    case "turn clock":
    case "cut":
      carryOutFault(world, action);
  }
}

/** An order for a connection that doesn't exist isn't given. */
function giveOrder(world: World, action: OrderAction): void {
  const { user, only } = action;
  const { users } = world;
  const idOf = (client: number): string | undefined => world.clients[client]?.connected?.id;
  const client = only === undefined ? undefined : idOf(only);
  if (users === undefined || (only !== undefined && client === undefined)) return;
  const target = client === undefined ? {} : { client };
  switch (action.do) {
    case "disconnect user": {
      const spared = action.spares === undefined ? undefined : idOf(action.spares);
      const whitelist = spared === undefined ? {} : { whitelist: [spared] };
      users.disconnect(user, { ...target, ...whitelist }, action.returns);
      return;
    }
    case "unsubscribe user":
      users.order(user, { method: "unsubscribe", channel: action.channel, ...target });
      return;
    case "subscribe user": {
      const { channel, back } = action;
      const top = back === undefined ? undefined : world.channel(channel).top;
      const since = top && { epoch: top.epoch, offset: Math.max(top.offset - (back ?? 0), 0) };
      const subscription = { channel, override: {} };
      users.order(user, {
        method: "subscribe",
        subscription,
        expireAtSeconds: 0,
        ...target,
        ...(since === undefined ? {} : { recoverSince: since }),
      });
      return;
    }
    case "refresh user": {
      const { expired } = action;
      users.order(user, { method: "refresh", expired, expireAtSeconds: 0, ...target });
      return;
    }
    case "block user":
      users.block(user, action.forMs);
      return;
    case "unblock user":
      users.order(user, { method: "unblock_user" });
      return;
    case "revoke token":
      users.revoke(only === undefined ? undefined : world.clients[only]?.tokenUid);
      return;
    case "invalidate user":
      users.invalidate(user);
  }
}

function carryOutCursor(world: World, action: CursorAction): void {
  const client = world.clients[action.client];
  if (client === undefined) return;
  if (action.do === "stall") {
    client.connected?.socket?.stall(action.forMs);
    return;
  }
  if (action.do === "watch ping") {
    watchPing(world, action);
    return;
  }
  const { channel } = action;
  switch (action.do) {
    case "mark own":
      client.cursors.mark(channel, action.back, action.epoch, action.sends);
      return;
    case "mark for": {
      const { epoch, offset } = world.channel(channel).top ?? { epoch: "", offset: 0 };
      const named = { known: epoch, none: "", other: "another" }[action.epoch];
      world.cursors.mark(channel, client.user, Math.max(offset - action.back, 0), named);
      return;
    }
    case "count own unread":
      client.cursors.countUnread(channel);
      return;
    case "count unread for":
      world.cursors.countUnread(channel, client.user);
      return;
    case "ask delivered for":
      world.cursors.askDelivered(channel, client.user);
  }
}

function carryOutAudience({ clients, cursors }: World, action: AudienceAction): void {
  const userOf = (client: number): string => clients[client]?.user ?? "";
  switch (action.do) {
    case "add to audience":
      cursors.changeAudience(action.channel, "add_audience", [userOf(action.client)]);
      return;
    case "remove from audience":
      cursors.changeAudience(action.channel, "remove_audience", [userOf(action.client)]);
      return;
    case "set audience": {
      const users = [...new Set(action.clients.map(userOf))];
      cursors.changeAudience(action.channel, "set_audience", users);
      return;
    }
    case "forget user":
      cursors.forget(userOf(action.client));
  }
}

function carryOutClient(
  world: World,
  action: Exclude<
    Extract<Action, { readonly client: number }>,
    CursorAction | AudienceAction | PingAction
  >,
): void {
  const client = world.clients[action.client];
  if (client === undefined) return;
  switch (action.do) {
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
      client.subscribe(action.channel);
      return;
    case "leave":
    case "forget":
      client.unsubscribe(action.channel, action.do === "forget");
      return;
    case "publish own":
      client.publish(action.channel);
      return;
    case "set own":
    case "drop own":
      client.change(action.channel, action.key, action.do === "drop own");
      return;
    case "append own":
      client.appends.append(action.channel, action.key);
      return;
    case "track":
    case "untrack": {
      const subscription = client.subscription(action.channel);
      if (!(subscription instanceof PollSubscription)) return;
      if (action.do === "track") subscription.track(action.keys, action.seconds);
      else subscription.untrack(action.keys);
      return;
    }
    case "frame":
      client.frames.send(action.channel, action.letters);
      return;
    case "see presence":
      client.seePresence(action.channel);
  }
}

/** The backend of a shared poll. */
function changeValues(
  { polls }: World,
  action: Exclude<PollAction, { readonly client: number }>,
): void {
  const { channel } = action;
  switch (action.do) {
    case "set value":
      polls.set(channel, action.key);
      return;
    case "publish value":
      polls.publish(channel, action.key);
      return;
    case "remove value":
      polls.remove(channel, action.key);
      return;
    case "begin epoch":
      polls.beginEpoch(channel);
      return;
    case "behave":
      polls.behave(channel, action.mood, action.forMs);
  }
}

function carryOutFault(world: World, action: Extract<Action, { readonly object: string }>): void {
  const channel = world.channels.get(action.object);
  const gateway = world.gateways.get(action.object);
  const home = world.homes.get(action.object);
  const object = channel ?? gateway ?? home;
  const storing = channel ?? home;
  switch (action.do) {
    case "evict":
      object?.evict();
      return;
    case "crash":
      object?.crash();
      return;
    case "close":
      (channel ?? gateway)?.close();
      return;
    case "crash at commit":
      if (storing !== undefined) storing.crashesAtCommit = true;
      return;
    case "fail":
      storing?.failAfter(action.writes);
      return;
    case "fail alarm":
      object?.failAlarms(action.times);
      return;
    case "turn clock":
      (channel ?? gateway)?.turnClock(action.byMs);
      return;
    case "cut":
      world.network.cut({ kind: action.kind, from: action.object, to: action.to }, action.forMs);
  }
}
