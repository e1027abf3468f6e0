import { eventTypes } from "../../../src/features/events/config.ts";
import type { Random } from "../../support/random.ts";
import type { HookBackend } from "./backends/hook-backend.ts";
import {
  bankChannels,
  bankCustomers,
  bankMaps,
  bankNamespaces,
  provedBanks,
} from "./bank/bank-scenario.ts";
import type { SubscriberPlan } from "./clients/plan.ts";
import { provedApp } from "./clients/pusher-subscriber.ts";
import {
  cursorChannels,
  cursorNamespaces,
  type ProvedCursors,
  provedCursors,
  readingSubscribers,
  receiptsTtl,
} from "./cursor-scenario.ts";

/** A channel of the proof. */
export interface ProvedChannel {
  readonly name: string;
  readonly recovery: "none" | "cache" | "stream";
  /** How many missed publications are always recovered; absent where that is unknown. */
  readonly recoverable?: number;
  /**
   * How the channel is published to. many-sockets: steadily, and in bursts. slow: now and then. quiet: only while its object
   * is about to crash. clients: only by clients.
   */
  readonly load: "steady" | "slow" | "many-sockets" | "bursts" | "quiet" | "wide" | "clients";
  /** The number of subscribers on the channel's address, and on gateways. */
  readonly own: number;
  readonly gateways: number;
}

/** A channel of the proof that is a map. */
export interface ProvedMap {
  readonly name: string;
  readonly mode: "ephemeral" | "recoverable" | "persistent";
  /**
   * How the map is changed. random: by a backend and by clients, in every way. ends: a backend sets keys, which nobody
   * removes, so that they end. still: only while its object is about to crash. code: by the code of the channel.
   */
  readonly load: "random" | "ends" | "still" | "code";
  /** How long keys live, where the checker judges their ends. */
  readonly keyTtlMs?: number;
}

/** A user for whom orders are given, with several connections. */
export interface ProvedUser {
  readonly name: string;
  /** Channels that the user's clients subscribe to by themselves. */
  readonly subscribes: readonly string[];
  /** Channels to which only orders subscribe them. */
  readonly orderable: readonly string[];
}

/** The channels, users and subscribers of a proof. */
export interface Scenario {
  readonly channels: readonly ProvedChannel[];
  /** None for a deployed server. */
  readonly maps: readonly ProvedMap[];
  /** Maps with texts that grow, by name; none for a deployed server. */
  readonly growing: readonly string[];
  /** Channels whose publications are edited, deleted and erased, by name; none for a deployed server. */
  readonly changed: readonly string[];
  /** None for a deployed server. */
  readonly users: readonly ProvedUser[];
  /** The channels that keep what their users have got and read; none for a deployed server. */
  readonly cursors: readonly ProvedCursors[];
  /** The channels whose code is a bank; none for a deployed server. */
  readonly banks: readonly string[];
  readonly subscribers: readonly SubscriberPlan[];
}

/** The scenario for a local server. */
export function localScenario(random: Random): Scenario {
  const { channels, subscribers } = scenario(localChannels, random);
  const others = [
    ...users.flatMap(userSubscribers),
    ...askedSubscribers(),
    ...mapSubscribers(),
    ...textSubscribers(),
    ...changedSubscribers(),
    ...readingSubscribers(),
    ...bankCustomers(),
    ...pusherSubscribers(),
  ];
  const all = [...subscribers, ...others];
  const [banks, cursors] = [provedBanks, provedCursors];
  return { channels, maps, growing, changed, users, cursors, banks, subscribers: all };
}

/**
 * The scenario for a deployed server, on channels without a namespace.
 *
 * @param run makes the channels' names unique to this run
 */
export function remoteScenario(run: string, random: Random): Scenario {
  const channels = ["a", "b", "c", "d"].map((letter): ProvedChannel => ({
    name: `prove-${run}-${letter}`,
    recovery: "stream",
    load: letter === "d" ? "bursts" : "steady",
    own: 10,
    gateways: 15,
  }));
  return scenario(channels, random);
}

const askedChannels = ["asked:a", "asked:b"] as const;

const pusherChannels = ["a", "b"].map((letter) => `${provedApp.namespace}:${letter}`);

const localChannels: readonly ProvedChannel[] = [
  // More sockets than one object takes, so that the channel spills to a gateway of its own, and so many that
  // publications share frames.
  { ...stream("keep:crowd"), load: "many-sockets", recoverable: 5_000, own: 150, gateways: 90 },
  { ...stream("keep:a"), recoverable: 5_000, own: 20, gateways: 30 },
  // History expires so fast that recovery can't be predicted.
  { ...stream("short:a"), own: 10, gateways: 15 },
  { ...stream("own:a"), recoverable: 5_000, own: 10, gateways: 10 },
  { ...stream("last:a"), recovery: "cache", own: 8, gateways: 12 },
  { ...none("none:a"), own: 15, gateways: 20 },
  { ...none("none:b"), own: 0, gateways: 20 },
  // Clients of pusher-js are there as well.
  ...pusherChannels.map((name) => ({ ...none(name), own: 0, gateways: 6 })),
  // Payloads of 16 KiB; no more are recovered than fit in a reply.
  { ...stream("wide:a"), load: "wide", recoverable: 40, own: 4, gateways: 6 },
  // A backend decides who subscribes, and what of its clients is published.
  ...askedChannels.map((name) => ({ ...stream(name), recoverable: 5_000, own: 0, gateways: 0 })),
  { ...stream("dull:a"), recovery: "none", load: "clients", own: 0, gateways: 0 },
  ...["1", "2", "3"].map((number) => burst(number, "bursts")),
  ...["4", "5", "6", "7", "8", "9"].map((number) => burst(number, "quiet")),
  ...cursorChannels,
  ...bankChannels,
];

function burst(number: string, load: "bursts" | "quiet"): ProvedChannel {
  return { ...stream(`burst:${number}`), load, recoverable: 5_000, own: 3, gateways: 9 };
}

function stream(name: string) {
  return { name, recovery: "stream", load: "steady" } as const;
}

function none(name: string) {
  return { ...stream(name), recovery: "none" } as const;
}

function scenario(channels: readonly ProvedChannel[], random: Random): Scenario {
  return {
    channels,
    maps: [],
    growing: [],
    changed: [],
    users: [],
    cursors: [],
    banks: [],
    subscribers: [...ownSubscribers(channels), ...gatewaySubscribers(channels, random)],
  };
}

/** Four users; two of them have the same home. */
const users: readonly ProvedUser[] = ["user-1", "user-2", "user-3", "user-72"].map((name) => ({
  name,
  subscribes: ["keep:a", "own:a"],
  orderable: ["short:a", "burst:1"],
}));

/** Each user has connections on gateways and on the object of a channel. */
function userSubscribers({ name, subscribes, orderable }: ProvedUser): readonly SubscriberPlan[] {
  const raw = { kind: "raw", user: name } as const;
  const gateway = { ...raw, endpoint: "gateway", channels: subscribes, orderable } as const;
  return [
    { ...gateway, process: `${name}-g1` },
    { ...gateway, process: `${name}-g2`, pings: true },
    { ...gateway, process: `${name}-g3`, channels: ["keep:a"] },
    { ...raw, endpoint: "channel", process: `${name}-c1`, channels: ["keep:a"] },
    { ...raw, endpoint: "channel", process: `${name}-c2`, channels: ["own:a"], pings: true },
  ];
}

/** Clients about which the server asks a backend, on gateways and on the objects of the channels. */
function askedSubscribers(): readonly SubscriberPlan[] {
  return Array.from({ length: 24 }, (_, index): SubscriberPlan => {
    const channel = askedChannels[index % 2] ?? "asked:a";
    const isOwn = index % 4 > 1;
    const common = {
      process: `asked-${index + 1}`,
      kind: "raw",
      pings: index % 8 < 3,
      asked: { connects: index % 3 === 0, callsEveryMs: 700 },
      ...(index % 5 === 0 ? { churnMs: 3_000 } : {}),
    } as const;
    if (isOwn) {
      const publishes = { channel, everyMs: 400 };
      return { ...common, endpoint: "channel", channels: [channel], publishes };
    }
    const publishes = { channel: index % 3 === 1 ? "dull:a" : channel, everyMs: 300 };
    const channels = [...askedChannels, "dull:a"];
    return { ...common, endpoint: "gateway", channels, publishes };
  });
}

/** Clients of pusher-js, on gateways of their own. */
function pusherSubscribers(): readonly SubscriberPlan[] {
  return Array.from({ length: 16 }, (_, index): SubscriberPlan => {
    const channels = index % 2 === 0 ? pusherChannels : pusherChannels.slice(0, 1);
    return { process: `pusher-${index + 1}`, kind: "pusher", endpoint: "gateway", channels };
  });
}

/** Whether the IDs of clients on a channel are known without the object that holds them. */
export function isPushers({ name }: ProvedChannel): boolean {
  return pusherChannels.includes(name);
}

const endsAfterMs = 1_000;

/** Each map has clients on its own object, and shares those of a gateway with the others. */
const maps: readonly ProvedMap[] = [
  { name: "map:a", mode: "recoverable", load: "random" },
  { name: "slim:a", mode: "recoverable", load: "random" },
  { name: "perm:a", mode: "persistent", load: "random" },
  { name: "temp:a", mode: "ephemeral", load: "random" },
  { name: "ends:a", mode: "recoverable", load: "ends", keyTtlMs: endsAfterMs },
  ...["a", "b", "c"].map((letter): ProvedMap => ({
    name: `still:${letter}`,
    mode: "ephemeral",
    load: "still",
  })),
  ...bankMaps,
];

/** A still map that has no client on its own object wakes after a crash for its alarm alone. */
function mapSubscribers(): readonly SubscriberPlan[] {
  const changed = maps.filter(({ load }) => load === "random").map(({ name }) => name);
  const watched = maps.filter(({ load }) => load !== "random").map(({ name }) => name);
  const own = ["map:a", "slim:a", "perm:a", "temp:a", "ends:a", "still:a", "bank:a"].flatMap(
    (name) =>
      ["1", "2"].map((number): SubscriberPlan => ({
        process: `own-${name}-${number}`,
        kind: "map",
        endpoint: "channel",
        channels: [name],
        watches: watched.includes(name),
      })),
  );
  const shared = ["1", "2", "3", "4", "5", "6", "7", "8"].map((number): SubscriberPlan => ({
    process: `maps-${number}`,
    kind: "map",
    endpoint: "gateway",
    channels: number < "7" ? changed : watched,
    watches: number >= "7",
  }));
  return [...own, ...shared];
}

const growing = ["text:a", "brief:a"];

/** Three quarters of the clients are sent deltas. Half of them have a gateway, and both maps. */
function textSubscribers(): readonly SubscriberPlan[] {
  return ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"].map(
    (number, index): SubscriberPlan => ({
      process: `texts-${number}`,
      kind: "text",
      endpoint: index % 2 === 0 ? "gateway" : "channel",
      channels: index % 2 === 0 ? growing : [growing[index % 4 === 1 ? 0 : 1] ?? ""],
      deltas: index > 2,
    }),
  );
}

const changed = ["edit:a", "edit:b"];

/** Half of the clients are sent deltas. Half of them have a gateway, and both channels. */
function changedSubscribers(): readonly SubscriberPlan[] {
  return ["1", "2", "3", "4", "5", "6", "7", "8"].map((number, index): SubscriberPlan => ({
    process: `changed-${number}`,
    kind: "changed",
    endpoint: index % 2 === 0 ? "gateway" : "channel",
    channels: index % 2 === 0 ? changed : [changed[index % 4 === 1 ? 0 : 1] ?? ""],
    deltas: index > 3,
  }));
}

function ownSubscribers(channels: readonly ProvedChannel[]): readonly SubscriberPlan[] {
  return channels.flatMap(({ name, own }) =>
    Array.from({ length: own }, (_, index): SubscriberPlan => ({
      process: `own-${name}-${index + 1}`,
      kind: index % sdkEvery === 0 ? "sdk" : "raw",
      endpoint: "channel",
      channels: [name],
      ...habits(name, index),
    })),
  );
}

/** Gives each subscriber a few channels, chosen at random. */
function gatewaySubscribers(
  channels: readonly ProvedChannel[],
  random: Random,
): readonly SubscriberPlan[] {
  const wanted = channels.flatMap(({ name, gateways }) =>
    Array.from({ length: gateways }, () => name),
  );
  const carried: Set<string>[] = Array.from(
    { length: Math.ceil(wanted.length / channelsEach) },
    () => new Set(),
  );
  for (const name of wanted) {
    random.pick(carried.filter((names) => !names.has(name))).add(name);
  }
  return carried
    .filter(({ size }) => size > 0)
    .map((names, index) => gatewaySubscriber(names, index));
}

function gatewaySubscriber(names: ReadonlySet<string>, index: number): SubscriberPlan {
  const own = names.has("own:a") ? "own:a" : "";
  return {
    process: `gateway-${index + 1}`,
    kind: index % sdkEvery === 0 ? "sdk" : "raw",
    endpoint: "gateway",
    channels: [...names],
    // Some clients are subscribed by their tokens.
    ...(index % 6 === 1 && index % sdkEvery !== 0 ? { given: true } : habits(own, index)),
  };
}

/** Some clients publish where they may, some leave and return, and some ping. */
function habits(
  channel: string,
  index: number,
): Pick<SubscriberPlan, "publishes" | "churnMs" | "pings"> {
  const pings = index % 8 < 3;
  if (channel === "own:a" && index % 3 === 1) {
    return { pings, publishes: { channel, everyMs: 400 } };
  }
  return index % 7 === 3 ? { pings, churnMs: 4_000 } : { pings };
}

/** One of so many clients is the official SDK. */
const sdkEvery = 5;
/** The mean number of channels of a client on a gateway. */
const channelsEach = 2;

function namespace(name: string, options: object): object {
  return { ...open, ...kept, name, ...options };
}

const open = { allow_subscribe_for_client: true, presence: true };
const kept = { history_ttl: "1h", force_recovery: true };

/** How many sockets an object takes: few, so that several objects share the work. */
export const connectionLimit = 100;
export const pingIntervalMs = 2_000;

/**
 * The server's configuration.
 *
 * @param hooks  the part that names the backend that it asks
 * @param target the backend that it tells what happens
 */
export function provedConfig(hooks: HookBackend["config"], target: string) {
  return {
    events: { target, types: eventTypes, namespaces: toldNamespaces },
    client: {
      ...hooks.client,
      ping_interval: `${pingIntervalMs}ms`,
      connection_limit: connectionLimit,
      recovery_max_publication_limit: 10_000,
      queue_max_size: 1_048_576,
    },
    channel: { ...hooks.channel, namespaces },
    rpc: hooks.rpc,
    pusher: { apps: [{ ...provedApp, secret: "PUSHER_SECRET_PROOF" }] },
  };
}

/** The namespaces of whose channels a backend is told: with and without history, and with hooks. */
const toldNamespaces = ["own", "asked", "dull", "none", "burst", ...Object.keys(cursorNamespaces)];

/** Whether a backend is told of a channel. */
export function isReported({ name }: ProvedChannel): boolean {
  return toldNamespaces.some((told) => name.startsWith(`${told}:`));
}

const asked = { subscribe_proxy_enabled: true, publish_proxy_enabled: true };

const namespaces = [
  ...bankNamespaces,
  namespace("keep", { history_size: 10_000 }),
  namespace("short", { history_size: 50 }),
  namespace("last", { history_size: 1, force_recovery_mode: "cache" }),
  { ...open, name: "none" },
  { ...open, name: provedApp.namespace },
  namespace("burst", { history_size: 10_000 }),
  namespace("own", { history_size: 10_000, allow_publish_for_subscriber: true }),
  namespace("wide", { history_size: 100 }),
  ...Object.entries(cursorNamespaces).map(([name, options]) => namespace(name, options)),
  ...Object.entries(receiptsTtl).map(([name, keyTtl]) => receiptsNamespace(name, keyTtl)),
  namespace("edit", {
    history_size: 1_000,
    allow_change: true,
    allowed_delta_types: ["fossil"],
  }),
  namespace("asked", { history_size: 10_000, ...asked }),
  { ...open, ...asked, name: "dull" },
  mapNamespace("map", {
    mode: "recoverable",
    key_ttl: "3s",
    stream_size: 10_000,
    stream_ttl: "1h",
  }),
  // Its clients often have to read the state anew.
  mapNamespace("slim", { mode: "recoverable", key_ttl: "5s", stream_size: 20, stream_ttl: "1m" }),
  mapNamespace("perm", { mode: "persistent", stream_size: 1_000, stream_ttl: "1h" }),
  mapNamespace("temp", { mode: "ephemeral", key_ttl: "4s" }),
  mapNamespace("ends", {
    mode: "recoverable",
    key_ttl: `${endsAfterMs}ms`,
    stream_size: 1_000,
    stream_ttl: "1h",
  }),
  textNamespace("text", { mode: "persistent", stream_size: 1_000, append_window: "250ms" }),
  // Its clients often have to read the texts anew.
  textNamespace("brief", {
    mode: "recoverable",
    key_ttl: "1h",
    stream_size: 10,
    stream_ttl: "1m",
    append_window: "2s",
  }),
  // A loss is told by the alarm of a key's end at the latest, which comes before the run is over.
  mapNamespace("still", { mode: "ephemeral", key_ttl: "10s" }),
];

function receiptsNamespace(name: string, keyTtl: string): object {
  const map = { key_ttl: keyTtl, min_page_size: 1, subscribe_catch_up_timeout: "20s" };
  return { name, subscription_type: "map_receipts", allow_subscribe_for_client: true, map };
}

function textNamespace(name: string, map: object): object {
  const pages = { min_page_size: 1, subscribe_catch_up_timeout: "20s" };
  const deltas = { allowed_delta_types: ["fossil"] };
  return { ...open, ...deltas, name, subscription_type: "map", map: { ...map, ...pages } };
}

function mapNamespace(name: string, map: object): object {
  const pages = { min_page_size: 1, subscribe_catch_up_timeout: "20s" };
  const allowed = { allow_publish_for_subscriber: true, allow_remove_for_subscriber: true };
  return { ...open, name, subscription_type: "map", map: { ...map, ...pages, ...allowed } };
}
