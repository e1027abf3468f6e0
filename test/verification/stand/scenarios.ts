import { type JsonText, parseJsonText } from "../../../src/protocol/json/text.ts";
import { costsMs } from "./measured-costs.ts";
import { placeNames, places, type Place } from "./places.ts";
import { Seen, StandClient } from "./stand-clients.ts";
import type { StandObject } from "./stand-object.ts";
import { StandWorld, type WorldCounts } from "./stand-world.ts";

/** How large a world is. */
export interface Size {
  readonly seed: number;
  readonly clients: number;
  /** How many clients a socket stands for. */
  readonly weight: number;
  readonly perGateway: number;
}

/** What a scenario has counted. */
export interface Outcome {
  readonly clients: number;
  readonly gateways: number;
  readonly weight: number;
  readonly seconds: number;
  readonly published: number;
  readonly refused: number;
  /** Publications that each client has got, in the time. */
  readonly complete: number;
  readonly counts: WorldCounts;
  readonly calls: Readonly<Record<string, number>>;
  readonly requests: Readonly<Record<string, number>>;
  /** The share of its thread that the busiest object of each kind used. */
  readonly channelShare: number;
  readonly gatewayShare: number;
  /** Until a delivery, ms: half of them, 99 of 100, and the last one of the median publication and of the slowest. */
  readonly halfMs: number;
  readonly p99Ms: number;
  readonly lastMedianMs: number;
  readonly lastMs: number;
  /** The last one of the slowest publication, of clients that weren't cut. */
  readonly lastUncutMs: number;
  readonly logged: number;
}

/** Clients on gateways at all places, subscribed to one channel. */
class Crowd {
  readonly world: StandWorld;
  readonly seen = new Seen();
  readonly clients: StandClient[] = [];
  readonly size: Size;
  refused = 0;

  /** @param channelOf the channel of a client, by its gateway and its number there */
  constructor(size: Size, channelOf: (gateway: StandObject, index: number) => string) {
    this.size = size;
    this.world = new StandWorld(size.seed, size.weight, placeOfChannel);
    for (const [place, clients] of dividedAmong(size.clients, size.weight)) {
      const gateways = Math.ceil(clients / size.perGateway);
      for (let index = 0; index < clients / size.weight; index++) {
        const gateway = this.world.gateway(place, index % gateways);
        const channel = channelOf(gateway, index);
        this.clients.push(new StandClient(this.world, this.seen, gateway, channel));
      }
    }
  }

  /** All clients connect within the time that their gateways take for it. */
  settle(): void {
    const { world, size } = this;
    const overMs = 2 * size.perGateway * costsMs.comingBack + 5_000;
    const { nowMs } = world.moments;
    for (const client of this.clients)
      world.moments.at(nowMs + world.random.next() * overMs, () => client.connect());
    world.moments.passUntil(nowMs + overMs + 30_000);
    const away = this.clients.filter(({ isSubscribed }) => !isSubscribed).length;
    if (away > 0) throw new Error(`${away} of ${this.clients.length} aren't subscribed`);
    this.seen.back.length = 0;
    this.seen.connects = 0;
    this.seen.timeouts = 0;
    world.reset();
  }

  /** The backend publishes so often a second, from now on for so long. */
  publish(channel: (index: number) => string, perSecond: number, seconds: number): void {
    const { moments } = this.world;
    const beginMs = moments.nowMs;
    const count = Math.max(1, Math.round(perSecond * seconds));
    for (let index = 0; index < count; index++) {
      moments.at(beginMs + (index * 1_000) / perSecond, () => {
        const number = this.seen.published(moments.nowMs);
        this.world.publish(channel(index), dataOf(number), backendPlace, (isPublished) => {
          if (isPublished) return;
          this.refused++;
          this.seen.refused(number);
        });
      });
    }
  }

  /** @param each how many clients have to get each publication */
  outcome(seconds: number, each: number): Outcome {
    const { world, seen, size } = this;
    const { counts } = world;
    const shareOf = (objects: readonly StandObject[]): number =>
      Math.max(0, ...objects.map(({ thread }) => thread.busyMs / (seconds * 1_000)));
    const lasts = seen.publications
      .map(({ atMs, lastAtMs }) => lastAtMs - atMs)
      .sort((one, other) => one - other);
    const complete = seen.publications.filter(({ clients }) => clients === each).length;
    return {
      clients: size.clients,
      gateways: world.gateways.length,
      weight: size.weight,
      seconds,
      published: seen.publications.length,
      refused: this.refused,
      complete,
      counts,
      calls: sorted(world.calls),
      requests: sorted(world.requests),
      channelShare: shareOf(world.channels),
      gatewayShare: shareOf(world.gateways),
      halfMs: seen.delayMs(0.5),
      p99Ms: seen.delayMs(0.99),
      lastMedianMs: lasts[Math.floor(lasts.length / 2)] ?? 0,
      lastMs: lasts.at(-1) ?? 0,
      lastUncutMs: Math.max(
        0,
        ...seen.publications.map(({ atMs, lastUncutAtMs }) => lastUncutAtMs - atMs),
      ),
      logged: world.logged.length,
    };
  }
}

/** One channel with all clients as its subscribers, and so many publications a second. */
export function oneChannel(size: Size, perSecond: number, seconds: number): Outcome {
  const crowd = new Crowd(size, () => room);
  crowd.settle();
  crowd.publish(() => room, perSecond, seconds);
  const { moments } = crowd.world;
  const endMs = moments.nowMs + seconds * 1_000;
  moments.passUntil(endMs);
  const { counts, calls, channelShare, gatewayShare } = crowd.outcome(seconds, size.clients);
  moments.passUntil(endMs + restMs);
  const last = crowd.outcome(seconds, size.clients);
  const outcome = { ...last, counts, calls, channelShare, gatewayShare };
  crowd.world.close();
  return outcome;
}

/** So many channels with one subscriber each, and so many publications a second to them in turn. */
export function manyChannels(size: Size, perSecond: number, seconds: number): Outcome {
  const names: string[] = [];
  const crowd = new Crowd(size, (gateway, index) => {
    const name = `${gateway.place}-${index}`;
    names.push(name);
    return name;
  });
  crowd.settle();
  const stride = Math.max(1, Math.floor(names.length / (perSecond * seconds)));
  crowd.publish((index) => names[(index * stride) % names.length] ?? "", perSecond, seconds);
  const { moments } = crowd.world;
  const endMs = moments.nowMs + seconds * 1_000;
  // A call and a frame later the last publication is there, too.
  moments.passUntil(endMs + 1_000);
  const { counts, calls, channelShare, gatewayShare } = crowd.outcome(seconds + 1, size.weight);
  moments.passUntil(endMs + restMs);
  const last = crowd.outcome(seconds, size.weight);
  const outcome = { ...last, counts, calls, channelShare, gatewayShare };
  crowd.world.close();
  return outcome;
}

/** How clients came back after a cut. */
export interface Return {
  readonly outcome: Outcome;
  readonly connects: number;
  readonly timeouts: number;
  readonly recovered: number;
  readonly unrecovered: number;
  /** Until so many of them were back, ms after the cut. */
  readonly backMs: { readonly half: number; readonly p99: number; readonly last: number };
  /** The share of the busiest gateway's thread, in the first ten seconds. */
  readonly gatewayShareAtFirst: number;
  readonly channelShareAtFirst: number;
}

/** A deploy: all objects lose their memory and their sockets, while a backend publishes. */
export function deploy(size: Size, perSecond: number): Return {
  return cut(size, perSecond, undefined, 0);
}

/** A place goes away for so long, with its gateways; then the platform runs them at another place. */
export function placeGone(size: Size, perSecond: number, place: Place, awayMs: number): Return {
  return cut(size, perSecond, place, awayMs);
}

function cut(size: Size, perSecond: number, place: Place | undefined, awayMs: number): Return {
  const crowd = new Crowd(size, () => room);
  crowd.settle();
  const { world, seen } = crowd;
  const { moments } = world;
  const seconds = 60;
  crowd.publish(() => room, perSecond, seconds);
  moments.passUntil(moments.nowMs + 5_000);
  const atMs = moments.nowMs;
  const isGone = (object: StandObject): boolean => place === undefined || object.place === place;
  const gone = world.gateways.filter(isGone);
  for (const gateway of gone) gateway.isReachable = awayMs === 0;
  world.lose(isGone);
  const before = new Map(world.objects.map((object) => [object, object.thread.busyMs]));
  const shareAtFirst = (objects: readonly StandObject[]): number =>
    Math.max(
      0,
      ...objects.map((object) => (object.thread.busyMs - (before.get(object) ?? 0)) / firstMs),
    );
  if (awayMs > 0)
    moments.at(atMs + awayMs, () => {
      for (const gateway of gone) {
        gateway.isReachable = true;
        gateway.place = shelterPlace;
      }
    });
  moments.passUntil(atMs + firstMs);
  const gatewayShareAtFirst = shareAtFirst(world.gateways);
  const channelShareAtFirst = shareAtFirst(world.channels);
  moments.passUntil(atMs + 120_000);
  const back = [...seen.back].sort((one, other) => one.atMs - other.atMs);
  const all = back.reduce((sum, { clients }) => sum + clients, 0);
  const until = (share: number): number => {
    let sum = 0;
    for (const { atMs: backAtMs, clients } of back) {
      sum += clients;
      if (sum >= all * share) return backAtMs - atMs;
    }
    return 0;
  };
  // Five seconds before the cut, and two minutes after it.
  const outcome = crowd.outcome(125, size.clients);
  world.close();
  return {
    outcome,
    connects: seen.connects,
    timeouts: seen.timeouts,
    recovered: seen.recovered,
    unrecovered: seen.unrecovered,
    backMs: { half: until(0.5), p99: until(0.99), last: until(1) },
    gatewayShareAtFirst,
    channelShareAtFirst,
  };
}

/** Clients by place: whole sockets, and in all as many as asked for. */
function dividedAmong(clients: number, weight: number): readonly (readonly [Place, number])[] {
  const sockets = Math.round(clients / weight);
  const divided = placeNames
    .slice(1)
    .map((place) => [place, Math.round(sockets * places[place].share) * weight] as const);
  const rest = clients - divided.reduce((sum, [, count]) => sum + count, 0);
  return [["na", rest] as const, ...divided].filter(([, count]) => count > 0);
}

/** The platform creates a channel's object near its first caller; that of the common channel is near the backend. */
function placeOfChannel(channel: string): Place {
  return placeNames.find((place) => channel.startsWith(`${place}-`)) ?? backendPlace;
}

function sorted(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The data of a publication, which begins with its number. */
function dataOf(number: number): JsonText {
  const text = JSON.stringify(`${number}`.padEnd(payloadBytes - 2, "."));
  const data = parseJsonText(text);
  if (data === undefined) throw new Error(`${text} isn't JSON`);
  return data;
}

const room = "room";
const backendPlace: Place = "na";
/** Where a place's gateways run once it is gone. */
const shelterPlace: Place = "na";
/** The data of a publication. */
const payloadBytes = 100;
/** For how long after a cut a thread's share is taken, ms. */
const firstMs = 10_000;
/** How long is waited for the last deliveries, ms. */
const restMs = 30_000;
