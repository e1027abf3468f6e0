import { uuidOfClient } from "../../../src/contract/object-names.ts";
import { Checker } from "../checker/checker.ts";
import type { CheckResult } from "../checker/check-result.ts";
import { hasAudience, hasCursors } from "./cursor-kinds.ts";
import { bankAccounts, isBank } from "./bank/bank-kinds.ts";
import { isChanging } from "./changes/change-kinds.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { isMap, isMirror, mapModeOf } from "./map-kinds.ts";
import { checkPresenceMaps } from "./presence-complaints.ts";
import { pingIntervalMs } from "./ping-plan.ts";
import { smooth } from "./network.ts";
import { checkPusher } from "./pusher/pusher-complaints.ts";
import { isPusher } from "./pusher/pusher-kinds.ts";
import { pollModeOf } from "./poll-kinds.ts";
import { allKeys } from "./poll-plan.ts";
import type { World } from "./world.ts";

/**
 * Lets a world settle, with a network without faults, and gives all complaints: those about the settled world, and
 * those that were made before.
 */
export function complaintsOf(world: World): readonly string[] {
  world.network.chooseOutcome = () => smooth;
  world.polls.calm();
  const objects = [...world.channels.values(), ...world.homes.values()];
  for (const object of objects) {
    object.crashesAtCommit = false;
    object.failAfter(undefined);
  }
  for (const object of [...objects, ...world.gateways.values()]) {
    object.failAlarms(0);
    object.wakeWithoutAlarm();
  }
  const names = [...world.channels.keys()];
  const restMs = names.every(isPoll) ? pollRestMs : names.some(isPusher) ? checkMs : longMs;
  world.pass(restMs);
  checkOrders(world);
  checkAtRest(world, "at rest");
  for (const { evict } of evictables(world)) evict();
  // Owed entries are delivered although every object hibernated; gateways without subscribers say so now.
  for (const name of world.channels.keys()) publishTo(world, name);
  world.pass(restMs);
  checkAtRest(world, "after the last publication");
  for (const name of world.channels.keys()) {
    // To a shared poll or a mirror nothing is published, so its object doesn't hear of gateways that have left.
    if (pollModeOf(name) === undefined && !isMirror(name)) checkWhoFollows(world, name);
  }
  checkGrowth(world);
  for (const { kind, text } of judge(world).violations)
    world.publicationLog.complain(`${kind}: ${text}`);
  return world.publicationLog.complaints;
}

/** All orders that were taken have been carried out by now, acknowledged or not (rule U3). */
function checkOrders(world: World): void {
  world.users?.rules.checkAll();
  world.pass(answersMs);
  for (const home of world.homes.values())
    if (home.keepsOrders) world.publicationLog.complain(`${home.name} still keeps orders at rest`);
}

function publishTo(world: World, name: string): void {
  if (pollModeOf(name) !== undefined) {
    for (const key of allKeys) world.polls.set(name, key);
    return;
  }
  if (isMirror(name)) return;
  if (isBank(name)) {
    const [from = "", to = ""] = bankAccounts;
    world.teller.transfer(name, { from, to, amount: 1, keyed: true });
  } else if (isChanging(name)) world.changing.publish(name, "");
  else if (growthKindOf(name) !== undefined) {
    world.producers.appendToAll(name);
    // The texts may have ended.
    world.producers.begin(name, "last");
  } else if (mapModeOf(name) === undefined) world.backend.publish(name, false);
  else world.backend.set({ channel: name, key: "last", keyed: false });
}

/** Everybody has the keys that every map has in the end, and not only those that never expire. */
function readMaps(world: World): void {
  const maps = [...world.channels.keys()].filter((name) => mapModeOf(name) !== undefined);
  for (const name of maps) publishTo(world, name);
  world.pass(answersMs);
  for (const name of maps) world.backend.readMap(name);
  for (const name of world.channels.keys()) if (isBank(name)) world.teller.read(name, true);
  world.pass(answersMs);
}

/** Every producer finds out how far its text is, and long before a key ends all have it. */
function checkGrowth(world: World): void {
  const growing = [...world.channels].filter(([name]) => growthKindOf(name) !== undefined);
  if (growing.length === 0) return;
  for (const [name] of growing) publishTo(world, name);
  world.pass(promptMs);
  for (const [name, host] of growing) {
    world.growth.checkAcknowledged(name, host.texts, true);
    for (const { live } of world.clients)
      for (const subscription of live)
        if (subscription.channel === name) subscription.checkAt(host.top);
  }
  if (world.producers.pending > 0)
    world.publicationLog.complain(
      `${world.producers.pending} producers don't know how far they are`,
    );
}

/** The checker's result for a settled world. The checker sees only what real clients see. */
function judge(world: World): CheckResult {
  const { eventLog } = world;
  readMaps(world);
  for (const client of world.clients) client.giveUp();
  eventLog.note({ process: "world", type: "info", f: "settled" });
  for (const channel of world.channels.keys()) {
    const isOwn = isChanging(channel) || isPusher(channel);
    if (isMap(channel) || isOwn || pollModeOf(channel) !== undefined) continue;
    const clients = world.present(channel);
    eventLog.note({ process: "world", type: "ok", f: "presence", channel, clients });
  }
  const checker = new Checker(longMs * 1_000);
  for (const event of eventLog.events) checker.take(event);
  return checker.finish();
}

/**
 * Checks a world in which no fault was injected: everybody is up to date long before an alarm would repair anything,
 * and nobody is ever told of insufficient state.
 */
export function checkPromptness(world: World): void {
  world.pass(promptMs);
  const tops = new Map([...world.channels].map(([name, { top }]) => [name, top]));
  // A key may have ended just now.
  if ([...tops.keys()].some(isMap)) world.pass(answersMs);
  for (const client of world.clients) {
    for (const subscription of [...client.live, ...client.wanted]) {
      const { channel, losses, position } = subscription;
      const top = tops.get(channel);
      const isFurther = isMap(channel) && (position?.offset ?? 0) > (top?.offset ?? 0);
      if (!isFurther) subscription.checkAt(top);
      if (losses > 0)
        world.publicationLog.complain(`${client.name} was told that it lost ${channel}`);
    }
  }
}

/** Longer than clients take to reconnect, and shorter than an alarm takes to repair a delivery (rule L4). */
const promptMs = 6_000;

/** Longer than frames take to reach clients. */
const answersMs = 1_000;

/** Longer than the longest wait between two tries of the relay (10 minutes). */
const longMs = 1_300_000;

/** Longer than a presence channel takes to look at its gateways, after a crash right after that of a gateway (rule PU14). */
const checkMs = 3_900_000;

/** Longer than the longest wait before a shared poll asks or calls again, and before its alarm rings. */
const pollRestMs = 100_000;

function isPoll(name: string): boolean {
  return pollModeOf(name) !== undefined;
}

function evictables(world: World): readonly { readonly evict: () => void }[] {
  const hosts = [...world.channels.values(), ...world.gateways.values(), ...world.homes.values()];
  return hosts.map((host) => ({ evict: () => host.evict() }));
}

function checkAtRest(world: World, when: string): void {
  const { publicationLog, backend } = world;
  for (const client of world.clients) {
    if (client.unanswered > 0) {
      publicationLog.complain(`${client.name} was not answered ${client.unanswered} times ${when}`);
    }
    const { live, wanted, pings } = client;
    if (pings.unanswered !== 0)
      publicationLog.complain(`${client.name} lacks ${pings.unanswered} pongs ${when}`);
    const isPinged = client.isPinged && client.connected !== undefined;
    if (isPinged && pings.silentMs > pingIntervalMs + answersMs)
      publicationLog.complain(`${client.name} wasn't pinged for ${pings.silentMs} ms ${when}`);
    for (const subscription of wanted) {
      if (live.includes(subscription)) continue;
      publicationLog.complain(
        `${client.name} is not subscribed to ${subscription.channel} ${when}`,
      );
    }
    for (const subscription of live) {
      const { channel } = subscription;
      // Without history, publications that a crash lost stay lost until the next publication.
      const host = world.channel(channel);
      const isTold = host.hasHistory || isPoll(channel) || isMirror(channel);
      if (isTold || when !== "at rest") subscription.checkAt(host.top);
    }
  }
  if (backend.pending > 0)
    publicationLog.complain(`${backend.pending} publishes were not answered ${when}`);
  if (world.changing.pending > 0)
    publicationLog.complain(`${world.changing.pending} changes were not acknowledged ${when}`);
  if (world.banks.pending > 0)
    publicationLog.complain(`${world.banks.pending} calls of banks have no outcome ${when}`);
  for (const [name, host] of world.channels) {
    checkPresence(world, name, when);
    host.checkKeys(when);
    if (growthKindOf(name) !== undefined) world.growth.checkAcknowledged(name, host.texts, false);
  }
  checkPresenceMaps(world, when);
  checkPusher(world, when);
  checkCursors(world);
  if (when !== "at rest") checkDelivered(world);
  for (const [name, host] of world.channels)
    if (hasAudience(name)) world.unseen.checkAll(name, host.members, host.top);
}

/** Asks what every user hasn't read, after whatever has happened to the objects. */
function checkCursors(world: World): void {
  const channels = [...world.channels.keys()].filter(hasCursors);
  if (channels.length === 0) return;
  const users = new Set(world.clients.map(({ user }) => user));
  for (const channel of channels)
    for (const user of users) world.cursors.countUnread(channel, user);
  world.pass(answersMs);
}

function checkPresence(world: World, name: string, when: string): void {
  const ids = world.present(name);
  const present = (isPusher(name) ? ids.map(uuidOfClient) : [...ids]).sort();
  const live = subscribersOf(world, name)
    .map(({ id }) => (isPusher(name) ? uuidOfClient(id) : id))
    .sort();
  if (present.join() === live.join()) return;
  world.publicationLog.complain(
    `on ${name} are ${live.join()}, present is ${present.join()} ${when}`,
  );
}

/** Who has got the last publication, and has answered pings since, is known to have got it (rules CU12 and CU15). */
function checkDelivered(world: World): void {
  for (const client of world.clients) {
    for (const { channel, position } of client.live) {
      if (!hasCursors(channel) || !client.isPinged) continue;
      world.cursors.askDelivered(channel, client.user, ({ offset, epoch }) => {
        if (epoch !== position?.epoch || offset !== position.offset)
          world.publicationLog.complain(
            `${client.user} is known to have got ${offset} of ${channel}, and has ${position?.offset}`,
          );
      });
    }
  }
  world.pass(answersMs);
}

/** Compares the gateways that follow the channel with those that have subscribers (rule L5). */
function checkWhoFollows(world: World, name: string): void {
  const follow = [...world.channel(name).gateways].sort();
  const needed = [...new Set(subscribersOf(world, name).map(({ place }) => place))]
    .filter((place) => place !== name)
    .sort();
  if (follow.join() !== needed.join()) {
    world.publicationLog.complain(
      `${name} is followed by ${follow.join()}, needed by ${needed.join()}`,
    );
  }
}

function subscribersOf(
  world: World,
  name: string,
): readonly { readonly id: string; readonly place: string }[] {
  return [...world.clients, ...world.pusherClients].flatMap((client) => {
    const isThere = client.live.some(({ channel }) => channel === name);
    return client.connected !== undefined && isThere ? [client.connected] : [];
  });
}
