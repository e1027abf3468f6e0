import type { OrderTarget } from "../../../src/contract/user-order.ts";
import type { BackendChange, SetKey } from "./backend.ts";
import type { WorldClient } from "./client.ts";
import { meetPing, type MetPing, watchPing } from "./ping-plan.ts";
import type { Promised, Transfer } from "../bank/bank.ts";
import type { AskTraits } from "./bank/bank-asker.ts";
import type { PieceTraits } from "./growth-backend.ts";
import type { CallKind } from "./network.ts";
import type { PollMood } from "./poll-backend.ts";
import { pusherActions } from "./pusher/pusher-actions.ts";
import { PollSubscription } from "./poll-subscription.ts";
import { recoverBesideRemovals } from "./removal-plan.ts";
import type { UserBackend } from "./user-backend.ts";
import { startWave } from "./wave-plan.ts";
import type { World } from "./world.ts";

/** What a plan does: the kind of an action, and what it names. Clients are named by number, and objects by name. */
export type Action = { [Kind in ActionKind]: { readonly do: Kind } & Named[Kind] }[ActionKind];

/** One action, and how many ms pass after it. */
export type Step = Action & { readonly ms: number };

/** Does to a world what a step says. Who isn't there does nothing. */
export function carryOut<Kind extends ActionKind>(
  world: World,
  action: { readonly do: Kind } & Named[Kind],
): void {
  const all: { readonly [Each in ActionKind]: (world: World, action: Named[Each]) => void } =
    actions;
  all[action.do](world, action);
}

type ActionKind = keyof typeof actions;

/** What the actions of each kind name. */
type Named = { readonly [Kind in ActionKind]: Parameters<(typeof actions)[Kind]>[1] };

interface OnChannel {
  readonly channel: string;
}

interface OnIndex extends OnChannel {
  readonly index: number;
}

interface OnKey extends OnChannel {
  readonly key: string;
}

interface ByClient {
  readonly client: number;
}

type ByClientOnChannel = ByClient & OnChannel;

interface OnObject {
  readonly object: string;
}

/** For a user, or for the connection of one client. */
interface ForUser {
  readonly user: string;
  /** The client whose connection alone is named, if it is connected. */
  readonly only?: number;
}

type PlannedTransfer = Omit<Transfer, "id"> & AskTraits;
type PlannedPromise = Omit<Promised, "id"> & AskTraits;

/** What somebody marks as read. */
interface Marked extends ByClientOnChannel {
  /** How many publications before the newest one that the client has got, or before the top. Below 0: beyond it. */
  readonly back: number;
  readonly epoch: NamedEpoch;
}

/** known: the one that the offset is of. other: one that never was. */
export type NamedEpoch = "known" | "none" | "other";

const actions = {
  publish: (
    { backend },
    {
      channel,
      keyed,
      padding,
    }: OnChannel & {
      readonly keyed: boolean;
      /** How many characters the data is longer than necessary. */
      readonly padding?: number;
    },
  ) => void backend.publish(channel, keyed, padding),
  "publish version": ({ backend }, action: OnChannel & { readonly version: number }) =>
    backend.publishVersion(action.channel, action.version),
  "reuse key": ({ backend }, action: OnIndex) => backend.reuseKey(action.channel, action.index),
  read: (
    { backend },
    {
      channel,
      limit,
      reverse,
      since,
    }: OnChannel & { readonly limit: number; readonly reverse: boolean; readonly since?: number },
  ) => {
    const position = since === undefined ? {} : { since: { offset: since, epoch: "" } };
    backend.readHistory(channel, { limit, reverse, ...position });
  },
  remove: ({ backend }, { channel }: OnChannel) => backend.removeHistory(channel),

  // Clients.
  connect: byClient<ByClient>((client) => client.connect()),
  disconnect: byClient<ByClient>((client) => client.disconnect()),
  break: byClient<ByClient>((client) => client.breakLine()),
  subscribe: byClient((client, { channel }: ByClientOnChannel) => client.subscribe(channel)),
  leave: byClient((client, { channel }: ByClientOnChannel) => client.unsubscribe(channel, false)),
  forget: byClient((client, { channel }: ByClientOnChannel) => client.unsubscribe(channel, true)),
  "publish own": byClient((client, { channel }: ByClientOnChannel) => client.publish(channel)),
  "see presence": byClient((client, { channel }: ByClientOnChannel) => client.seePresence(channel)),
  /** Sends many commands in one frame (rule B17), a letter of `frameLetters` for each. */
  frame: byClient((client, action: ByClientOnChannel & { readonly letters: string }) =>
    client.frames.send(action.channel, action.letters),
  ),

  // Maps.
  set: ({ backend }, action: SetKey) => backend.set(action),
  drop: ({ backend }, action: BackendChange) => backend.drop(action),
  clear: ({ backend }, { channel }: OnChannel) => backend.mapCall(channel, { method: "map_clear" }),
  "count keys": ({ backend }, { channel }: OnChannel) =>
    backend.mapCall(channel, { method: "map_stats" }),
  "read state": ({ backend }, { channel, limit }: OnChannel & { readonly limit: number }) => {
    const request = { key: "", cursor: "", limit, asc: false };
    backend.mapCall(channel, { method: "map_read_state", request });
  },
  "set own": byClient((client, { channel, key }: ByClient & OnKey) =>
    client.change(channel, key, false),
  ),
  "drop own": byClient((client, { channel, key }: ByClient & OnKey) =>
    client.change(channel, key, true),
  ),

  // Values that grow.
  /** The producer of a key appends further pieces, one after the other. */
  append: ({ producers }, action: OnKey & PieceTraits) =>
    producers.append(action.channel, action.key, action),
  /** Somebody appends a piece without saying where. */
  "append blind": ({ producers }, action: OnChannel & { readonly keyed: boolean }) =>
    producers.appendBlind(action.channel, action.keyed),
  /** A client appends a piece to where the producer is. */
  "append own": byClient((client, { channel, key }: ByClient & OnKey) =>
    client.calls.append(channel, key),
  ),
  /** Somebody replaces the value by the beginning of another text, removes it or reads it. */
  "begin text": ({ producers }, { channel, key }: OnKey) => producers.begin(channel, key),
  "remove text": ({ producers }, { channel, key }: OnKey) => producers.remove(channel, key),
  "read text": ({ producers }, { channel, key }: OnKey) => producers.read(channel, key),
  "forget texts": ({ producers }, { channel }: OnChannel) => producers.forget(channel),

  // Banks.
  transfer: ({ teller }, { channel, ...transfer }: OnChannel & PlannedTransfer) =>
    teller.transfer(channel, transfer),
  "transfer own": byClient(
    ({ bank }, { channel, from, to, amount, ...traits }: ByClientOnChannel & PlannedTransfer) =>
      bank.transfer(channel, { from, to, amount, ...traits }),
  ),
  promise: ({ teller }, { channel, ...promise }: OnChannel & PlannedPromise) =>
    teller.promise(channel, promise),
  "promise own": byClient(
    ({ bank }, { channel, account, afterMs, ...traits }: ByClientOnChannel & PlannedPromise) =>
      bank.asker.promise(channel, { account, afterMs, ...traits }),
  ),
  "read bank": ({ teller }, { channel }: OnChannel) => teller.read(channel),
  "fail bank": ({ teller }, { channel, account }: OnChannel & { readonly account: string }) =>
    teller.fail(channel, account),

  // Publications that are changed, by their number among those that can be.
  say: ({ changing }, { channel, user }: OnChannel & { readonly user: string }) =>
    changing.publish(channel, user),
  edit: ({ changing }, { channel, index }: OnIndex) => changing.edit(channel, index),
  delete: ({ changing }, { channel, index }: OnIndex) => changing.remove(channel, index),
  erase: ({ changing }, { channel, index }: OnIndex) => changing.erase(channel, index),
  "erase user": ({ changing }, { channel, user }: OnChannel & { readonly user: string }) =>
    changing.eraseUser(channel, user),
  "read said": ({ changing }, { channel }: OnChannel) => changing.read(channel),

  // Shared polls, and their backend.
  "set value": ({ polls }, { channel, key }: OnKey) => polls.set(channel, key),
  "publish value": ({ polls }, { channel, key }: OnKey) => polls.publish(channel, key),
  "remove value": ({ polls }, { channel, key }: OnKey) => polls.remove(channel, key),
  "begin epoch": ({ polls }, { channel }: OnChannel) => polls.beginEpoch(channel),
  behave: ({ polls }, action: OnChannel & { readonly mood: PollMood; readonly forMs: number }) =>
    polls.behave(action.channel, action.mood, action.forMs),
  track: byClient(
    (
      client,
      {
        channel,
        keys,
        seconds,
      }: ByClientOnChannel & {
        readonly keys: readonly string[];
        /** How long the signature is valid, seconds; absent: for ever. */
        readonly seconds?: number;
      },
    ) => pollOf(client, channel)?.track(keys, seconds),
  ),
  untrack: byClient((client, action: ByClientOnChannel & { readonly keys: readonly string[] }) =>
    pollOf(client, action.channel)?.untrack(action.keys),
  ),

  // What users have got and read. The user is that of the client.
  "mark own": byClient(
    (
      client,
      {
        channel,
        back,
        epoch,
        sends,
      }: Marked & {
        /** Whether the client sends the mark, and gets no answer. */
        readonly sends: boolean;
      },
    ) => client.calls.mark(channel, back, epoch, sends),
  ),
  "mark for": byClient(({ user }, { channel, back, epoch: name }: Marked, world) => {
    const { epoch, offset } = world.channel(channel).top ?? { epoch: "", offset: 0 };
    const named = { known: epoch, none: "", other: "another" }[name];
    world.cursors.mark(channel, user, Math.max(offset - back, 0), named);
  }),
  "count own unread": byClient(({ calls }, { channel }: ByClientOnChannel) =>
    calls.countUnread(channel),
  ),
  "count unread for": byClient(({ user }, { channel }: ByClientOnChannel, { cursors }) =>
    cursors.countUnread(channel, user),
  ),
  "ask delivered for": byClient(({ user }, { channel }: ByClientOnChannel, { cursors }) =>
    cursors.askDelivered(channel, user),
  ),
  "watch ping": byClient(watchPing),
  /** For so many ms, nothing arrives at the client. */
  stall: byClient(({ connected }, { forMs }: ByClient & { readonly forMs: number }) =>
    connected?.socket?.stall(forMs),
  ),
  "add to audience": byClient(({ user }, { channel }: ByClientOnChannel, { cursors }) =>
    cursors.changeAudience(channel, "add_audience", [user]),
  ),
  "remove from audience": byClient(({ user }, { channel }: ByClientOnChannel, { cursors }) =>
    cursors.changeAudience(channel, "remove_audience", [user]),
  ),
  /** The users of these clients are the audience. */
  "set audience": (world, action: OnChannel & { readonly clients: readonly number[] }) => {
    const users = action.clients.map((client) => world.clients[client]?.user ?? "");
    world.cursors.changeAudience(action.channel, "set_audience", [...new Set(users)]);
  },
  "forget user": byClient(({ user }, _: ByClient, { cursors }) => cursors.forget(user)),

  // What a backend orders.
  "disconnect user": order(
    (
      users,
      target,
      {
        user,
        spares,
        returns,
      }: ForUser & {
        /** The client whose connection is left alone. */
        readonly spares?: number;
        /** Whether clients may reconnect by themselves. */
        readonly returns: boolean;
      },
      world,
    ) => {
      const spared = spares === undefined ? undefined : idOf(world, spares);
      const whitelist = spared === undefined ? {} : { whitelist: [spared] };
      users.disconnect(user, { ...target, ...whitelist }, returns);
    },
  ),
  "unsubscribe user": order((users, target, { user, channel }: ForUser & OnChannel) =>
    users.order(user, { method: "unsubscribe", channel, ...target }),
  ),
  "subscribe user": order(
    (
      users,
      target,
      {
        user,
        channel,
        back,
      }: ForUser &
        OnChannel & {
          /** How many publications before the top the subscription begins; absent for at the top, without recovery. */
          readonly back?: number;
        },
      world,
    ) => {
      const top = back === undefined ? undefined : world.channel(channel).top;
      const since = top && { epoch: top.epoch, offset: Math.max(top.offset - (back ?? 0), 0) };
      users.order(user, {
        method: "subscribe",
        subscription: { channel, override: {} },
        expireAtSeconds: 0,
        ...target,
        ...(since === undefined ? {} : { recoverSince: since }),
      });
    },
  ),
  "refresh user": order(
    (users, target, { user, expired }: ForUser & { readonly expired: boolean }) =>
      users.order(user, { method: "refresh", expired, expireAtSeconds: 0, ...target }),
  ),
  /** For so many ms, or without an end. */
  "block user": order((users, _, { user, forMs }: ForUser & { readonly forMs?: number }) =>
    users.block(user, forMs),
  ),
  "unblock user": order((users, _, { user }: ForUser) =>
    users.order(user, { method: "unblock_user" }),
  ),
  /** The token of the connection that is named. */
  "revoke token": order((users, _, { only }: ForUser, { clients }) =>
    users.revoke(only === undefined ? undefined : clients[only]?.tokenUid),
  ),
  "invalidate user": order((users, _, { user }: ForUser) => users.invalidate(user)),

  // Clients that the plan doesn't list, and keep-alive.
  "recover beside removals": recoverBesideRemovals,
  wave: startWave,
  /** A client sends the keep-alive text of the first release, which the object answers and not the platform (rule K3). */
  keepalive: byClient<ByClient>((client) => client.sendKeepalive()),
  "meet ping": byClient((client, action: ByClient & MetPing, world) =>
    meetPing(world, client, action),
  ),

  ...pusherActions,

  // Faults.
  evict: (world, { object }: OnObject) => void objectOf(world, object)?.evict(),
  crash: (world, { object }: OnObject) => objectOf(world, object)?.crash(),
  close: (world, { object }: OnObject) => holderOf(world, object)?.close(),
  "crash at commit": ({ channels, homes }, { object }: OnObject) => {
    const storing = channels.get(object) ?? homes.get(object);
    if (storing !== undefined) storing.crashesAtCommit = true;
  },
  /** The write after so many successful ones fails. */
  fail: ({ channels, homes }, { object, writes }: OnObject & { readonly writes: number }) =>
    (channels.get(object) ?? homes.get(object))?.failAfter(writes),
  /** The platform doesn't set an object's alarm the next so many times that the object asks for it. */
  "fail alarm": (world, { object, times }: OnObject & { readonly times: number }) =>
    objectOf(world, object)?.failAlarms(times),
  "turn clock": (world, { object, byMs }: OnObject & { readonly byMs: number }) =>
    holderOf(world, object)?.turnClock(byMs),
  /** For so many ms, the object's calls of this kind to another one fail. */
  cut: (
    { network },
    {
      object,
      kind,
      to,
      forMs,
    }: OnObject & { readonly kind: CallKind; readonly to: string; readonly forMs: number },
  ) => network.cut({ kind, from: object, to }, forMs),
} satisfies Record<string, (world: World, action: never) => void>;

/** All kinds of actions. */
export const actionKinds: readonly string[] = Object.keys(actions);

/** What the client of an action does, if there is one. */
function byClient<Given extends ByClient>(
  work: (client: WorldClient, action: Given, world: World) => void,
): (world: World, action: Given) => void {
  return (world, action) => {
    const client = world.clients[action.client];
    if (client !== undefined) work(client, action, world);
  };
}

/** An order. One for a connection that doesn't exist isn't given. */
function order<Given extends ForUser>(
  give: (users: UserBackend, target: OrderTarget, action: Given, world: World) => void,
): (world: World, action: Given) => void {
  return (world, action) => {
    const { users } = world;
    const client = action.only === undefined ? undefined : idOf(world, action.only);
    if (users === undefined || (action.only !== undefined && client === undefined)) return;
    give(users, client === undefined ? {} : { client }, action, world);
  };
}

function idOf({ clients }: World, client: number): string | undefined {
  return clients[client]?.connected?.id;
}

function pollOf(client: WorldClient, channel: string): PollSubscription | undefined {
  const subscription = client.subscription(channel);
  return subscription instanceof PollSubscription ? subscription : undefined;
}

/** An object that holds sockets. */
function holderOf({ channels, gateways }: World, name: string) {
  return channels.get(name) ?? gateways.get(name);
}

function objectOf(world: World, name: string) {
  return holderOf(world, name) ?? world.homes.get(name);
}
