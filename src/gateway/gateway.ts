import { type ResolvedChannel, resolveServedChannel } from "../channel/channel-name.ts";
import { type ClientOperation, errorOf, type OperationReply } from "../contract/channel-call.ts";
import type { SubscribeOptions } from "../channel/channel-outcomes.ts";
import { presentClients, shownClients } from "../channel/presence.ts";
import {
  type PresenceQuestion,
  type PresenceSource,
  SharedPresence,
} from "../channel/shared-presence.ts";
import type { KeyedStream } from "../channel/keyed-stream.ts";
import type { ChannelOptions } from "../config/config.ts";
import type { HubSetup, TakeJoin } from "../hub/hub.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { RelayBatch, RelayBatchReply, RelayEntry } from "../contract/relay-batch.ts";
import type { ChannelsQuery } from "../contract/listing.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { ChannelListing } from "./channel-listing.ts";
import { Follower } from "./follower.ts";
import type { GatewaySetup } from "./gateway-setup.ts";
import type { FollowerGateway } from "./follower-gateway.ts";
import { SubscriptionMemory, textBytes } from "./memory.ts";
import type { RelayReply, GatewayPresence, RelayRequest } from "../contract/relay-request.ts";
import { type PendingRequest, ChannelClient } from "./channel-client.ts";
import type { Channels, SubscribeReply, SubscriptionPart } from "../session/channels.ts";
import type { Subscription } from "../session/subscription.ts";
import { ReplayBudget } from "./replay-buffer.ts";

/**
 * The channels of a gateway's connections. A gateway owns no channel: it follows each channel once, for all its
 * subscribers (rule L6), and sends requests to the channels' objects. Of a channel without subscribers or pending
 * subscribes it holds only how far it was, until the channel's object calls, which then learns that nobody is left (rule
 * L9).
 */
export class Gateway implements Channels {
  readonly #setup: GatewaySetup;
  readonly #followers = new Map<string, Follower>();
  /** The gateway's cursors in channels without subscribers whose objects still count on it; the oldest first. */
  readonly #resting = new Map<string, Cursor>();
  readonly #channelClients = new Map<string, ChannelClient>();
  /** Clients of overloaded channels, which wait until they may send the next call. */
  readonly #backingOff = new Set<ChannelClient>();
  readonly #presences = new Map<string, SharedPresence>();
  /** Subscriptions whose join was announced, so that their leave has to be, too (rule O5). */
  readonly #announced = new Set<Subscription>();
  readonly parts: readonly SubscriptionPart[];
  /** The part that carries operations out; undefined if none does. */
  readonly #asking: SubscriptionPart | undefined;
  readonly #unsettled = new Set<Follower>();
  /** Those that onlookers see, or have seen. */
  readonly #onlooked = new Set<Follower>();
  /** The followers with a frame on its way, in the order in which they send their slices (rule F6). */
  readonly #sending = new Set<Follower>();
  readonly #replayBudget = new ReplayBudget();
  readonly #memory = new SubscriptionMemory();
  readonly #forFollowers: FollowerGateway<Follower>;
  /** The bytes of the followed channels' names. */
  #nameBytes = 0;

  constructor(setup: GatewaySetup) {
    this.#setup = setup;
    this.parts = setup.parts ?? [];
    this.#asking = this.parts.find((part) => "request" in part);
    this.#forFollowers = {
      client: setup.config.client,
      hubSetup: (channel) => this.#hubSetup(channel),
      recoveryLimit: (channel) => this.#recoveryLimit(channel),
      amends: (channel) => setup.amends?.(this.optionsOf(channel)) === true,
      ...(setup.batches && { batches: setup.batches }),
      memory: this.#memory,
      request: (channel, requests) => this.#requestAll(channel, requests),
      changed: (follower) => this.#changed(follower),
    };
  }

  /** The number of channels that the gateway follows, but for those that only onlookers see (rule N26). */
  get channelCount(): number {
    let count = this.#followers.size;
    for (const follower of this.#onlooked) if (!follower.occupied) count--;
    return count;
  }

  /**
   * Whether the gateway holds so much that it refuses new connections. Those that it has may still subscribe (rule G7).
   */
  get nearlyFull(): boolean {
    return this.heldBytes > limits.gatewayHeldBytesMax / 2;
  }

  /** Takes a channel object's batch. The caller has to call {@link settle} next, in the same synchronous run. */
  receive(batch: RelayBatch, nowMs: number): RelayBatchReply {
    this.#resting.delete(batch.channel);
    return this.#followers.get(batch.channel)?.receive(batch, nowMs) ?? { outcome: "left" };
  }

  /** The channel of the frame that {@link sendSlice} has to send next, in another turn of the event loop. */
  get sending(): FollowedChannel | undefined {
    const [follower] = this.#sending;
    return follower;
  }

  /**
   * Whether the object of a channel is to wait with its next batch: because too much waits to be sent, or because
   * something does behind a frame that takes a while yet (rules F6 and F8).
   */
  full(channel: string): boolean {
    const follower = this.#followers.get(channel);
    if (follower === undefined) return false;
    return this.#sending.size > limits.busyChannelsMax ? follower.collecting : follower.full;
  }

  /** Sends one slice of one frame that is on its way: the channels take turns (rule F6). */
  sendSlice(): void {
    const [follower] = this.#sending;
    if (follower === undefined) return;
    this.#sending.delete(follower);
    follower.sendSlice();
    if (follower.sending) this.#sending.add(follower);
  }

  /**
   * Starts to send what was collected, and ends what has waited too long. It has to be called after every {@link receive},
   * every {@link sendSlice}, every reply of a port and every command.
   *
   * @returns in how many ms this must be called again; undefined if there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    this.#replayBudget.expire(nowMs);
    let settleInMs = Number.POSITIVE_INFINITY;
    for (const client of this.#backingOff) {
      const ms = client.settle(nowMs);
      if (ms === undefined) this.#backingOff.delete(client);
      else settleInMs = Math.min(settleInMs, ms);
    }
    for (const follower of this.#unsettled) {
      const ms = follower.settle(nowMs);
      if (!follower.unsettled) this.#unsettled.delete(follower);
      if (follower.sending) this.#sending.add(follower);
      if (ms !== undefined) settleInMs = Math.min(settleInMs, ms);
    }
    return settleInMs === Number.POSITIVE_INFINITY ? undefined : settleInMs;
  }

  /** The clients of this gateway that are present on a channel (rule P1), or that a presence map shows. */
  present(channel: string, shown = false): GatewayPresence {
    const subscriptions = this.#followers.get(channel)?.subscriptions ?? [];
    return { clients: shown ? shownClients(subscriptions) : presentClients(subscriptions) };
  }

  /** Lists the channels that have subscribers here, in slices (rule U24). */
  channels(query: ChannelsQuery): ChannelListing {
    return new ChannelListing(this.#followers, query);
  }

  resolve(name: string): ResolvedChannel {
    const { config, only } = this.#setup;
    // To a client, this gateway looks like the channel's own object, which has no other channel (rules C6 and G4).
    return resolveServedChannel(name, config.channel, only);
  }

  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    nowMs: number,
    done: (outcome: SubscribeReply) => void,
  ): void {
    if (this.heldBytes > limits.gatewayHeldBytesMax) {
      done(tooMuchHeld);
      return;
    }
    const noted = (reply: SubscribeReply): void => {
      if (!subscription.onlooks) this.#setup.clients?.subscribed(subscription, options, reply);
      done(reply);
    };
    this.#follower(subscription).subscribe(subscription, options, nowMs, noted);
  }

  /** The follower of a channel, for callers that ask how far it is; undefined if the gateway doesn't follow it. */
  follower(channel: string): FollowedChannel | undefined {
    return this.#followers.get(channel);
  }

  /** The memory that the channels and their subscribers take, estimated. */
  get heldBytes(): number {
    return this.#memory.bytes + this.#followers.size * channelBytes + this.#nameBytes;
  }

  restore(subscription: Subscription): void {
    if (subscription.announced) this.#announced.add(subscription);
    this.#follower(subscription).restore(subscription);
    if (!subscription.onlooks) for (const part of this.parts) part.restore?.(subscription);
  }

  announce(subscription: Subscription): void {
    const { announced, exclusive, info } = subscription;
    const entries: RelayEntry[] = [];
    if (announced) {
      this.#announced.add(subscription);
      entries.push({ type: "join", info });
    }
    if (exclusive) entries.push({ type: "sole", user: info.user, client: info.client });
    this.#announce(subscription, entries, "entryOfBegin");
  }

  unsubscribe(subscription: Subscription): void {
    if (!subscription.onlooks) for (const part of this.parts) part.leave?.(subscription);
    this.#followers.get(subscription.channel)?.unsubscribe(subscription);
    const entries: RelayEntry[] = [];
    if (this.#announced.delete(subscription))
      entries.push({ type: "leave", info: subscription.info });
    this.#announce(subscription, entries, "entryOfEnd");
  }

  request(
    channel: string,
    operation: ClientOperation,
    by: Subscription | undefined,
    nowMs: number,
    done: (reply: OperationReply) => void,
  ): void {
    if (this.#asking?.request?.(channel, operation, nowMs, done) === true) return;
    this.ask(channel, operation, (reply) => {
      if (reply.outcome === "published" || reply.outcome === "answered")
        this.#published(channel, reply, by, nowMs, done);
      else if (reply.outcome === "history") done(reply);
      else done({ outcome: "failed", error: errorOf(reply) });
    });
  }

  presence(channel: string, question: PresenceQuestion): void {
    const shared = this.#presences.get(channel) ?? this.#newPresence(channel);
    shared.ask(question);
  }

  position(channel: string): StreamPosition | undefined {
    return this.#followers.get(channel)?.position;
  }

  catchUp(subscription: Subscription): void {
    this.#followers.get(subscription.channel)?.catchUp(subscription);
  }

  /** Answers a publisher, if it is a subscriber here after the publication has reached it (rule O4). */
  #published(
    channel: string,
    reply: Published,
    subscription: Subscription | undefined,
    nowMs: number,
    done: (reply: OperationReply) => void,
  ): void {
    const follower = this.#followers.get(channel);
    const after = reply.outcome === "published" ? reply : reply.after;
    if (subscription === undefined || follower === undefined || after === undefined) {
      done(reply);
      return;
    }
    const { instance, sequence } = after;
    follower.awaitPublication({
      subscription,
      instance,
      sequence,
      dueAtMs: nowMs + limits.objectAnswerMs,
      done: () => done(reply),
    });
  }

  #newPresence(channel: string): SharedPresence {
    const { ports } = this.#setup;
    const forgetIfIdle = (): void => {
      if (shared.idle) this.#presences.delete(channel);
    };
    const source: PresenceSource = {
      later: (waitMs, work) =>
        ports.later(waitMs, () => {
          work();
          forgetIfIdle();
        }),
      gather: (done) =>
        ports.presence(channel, (gathered) => {
          done(gathered);
          forgetIfIdle();
        }),
      // The channel's object asks this gateway, too.
      subscribers: () => [],
    };
    const shared = new SharedPresence(source, { ...limits, ...this.#setup.fanOut });
    this.#presences.set(channel, shared);
    return shared;
  }

  /** Tells the channel's object of a subscription, if there is anything to tell. */
  #announce(
    subscription: Subscription,
    entries: RelayEntry[],
    which: "entryOfBegin" | "entryOfEnd",
  ): void {
    if (subscription.onlooks) return;
    const { channel } = subscription;
    const options = this.optionsOf(channel);
    for (const part of this.parts) {
      const entry = options && part[which]?.(subscription, options);
      if (entry !== undefined) entries.push(entry);
    }
    if (entries.length > 0) this.ask(channel, { method: "announce", entries }, ignoreReply);
  }

  /**
   * Sends a request to a channel's object, after those before it.
   *
   * @param shares whether the same request of others that waits may do for this one, too
   */
  ask(
    channel: string,
    request: RelayRequest,
    done: (reply: RelayReply) => void,
    shares = false,
  ): void {
    this.#requestAll(channel, [{ request, done, ...(shares && { shares }) }]);
  }

  #requestAll(channel: string, requests: readonly PendingRequest[]): void {
    const known = this.#channelClients.get(channel);
    const client: ChannelClient =
      known ??
      new ChannelClient(
        channel,
        this.#setup.ports,
        () => this.#channelClients.delete(channel),
        () => this.#backingOff.add(client),
      );
    if (known === undefined) this.#channelClients.set(channel, client);
    client.ask(requests);
  }

  #follower({ channel, onlooks }: Subscription): Follower {
    const followed = this.#followers.get(channel);
    // The channel's object is told in the request to follow whether only onlookers are here.
    const cursor = onlooks ? undefined : this.#resting.get(channel);
    const follower = followed ?? new Follower(channel, this.#forFollowers, cursor);
    if (onlooks) this.#onlooked.add(follower);
    if (followed !== undefined) return followed;
    this.#resting.delete(channel);
    this.#followers.set(channel, follower);
    this.#nameBytes += textBytes(channel.length);
    return follower;
  }

  #hubSetup(channel: string): HubSetup {
    const { fanOut, deliveries, frames, joins } = this.#setup;
    const { hidesOffsets } = this.#keyedStream(channel) ?? {};
    return {
      ...(hidesOffsets && { hidesOffsets }),
      ...(frames && { frames }),
      ...(joins && { joins: (send: TakeJoin) => joins(channel, send) }),
      ...(fanOut !== undefined && { fanOut }),
      ...(deliveries !== undefined && { deliveries: deliveries(channel) }),
    };
  }

  /** How many missed publications are too many, as the channel's object has it. */
  #recoveryLimit(channel: string): number {
    const { client } = this.#setup.config;
    return this.#keyedStream(channel)?.recoveryLimit ?? client.recoveryMaxPublicationLimit;
  }

  #keyedStream(channel: string): KeyedStream | undefined {
    const options = this.optionsOf(channel);
    return options && this.#setup.keyedStreamOf?.(options);
  }

  /** The options of a channel; undefined if the configuration hasn't its namespace. */
  optionsOf(channel: string): ChannelOptions | undefined {
    const found = this.resolve(channel);
    return found.outcome === "resolved" ? found.options : undefined;
  }

  /** Keeps how far the gateway is, for the next subscriber, which then needs no call to the channel's object. */
  #rest(channel: string, cursor: Cursor): void {
    this.#resting.set(channel, cursor);
    const [oldest = ""] = this.#resting.keys();
    if (this.#resting.size > limits.restingChannelsMax) this.#resting.delete(oldest);
  }

  #changed(follower: Follower): void {
    const { channel } = follower;
    // A reply came for a follower that has been dropped already.
    if (this.#followers.get(channel) !== follower) return;
    if (follower.idle) {
      this.#followers.delete(channel);
      this.#sending.delete(follower);
      const wasOnlooked = this.#onlooked.delete(follower);
      this.#nameBytes -= textBytes(channel.length);
      this.#replayBudget.forget(follower);
      const options = this.optionsOf(channel);
      const isAwaited =
        options && this.parts.some((part) => part.awaitsEnd?.(options, channel) === true);
      if (this.#setup.awaitsEnd?.(channel) === true || isAwaited === true)
        this.ask(channel, { method: "check" }, ignoreReply);
      else if (!wasOnlooked && follower.cursorAtRest !== undefined)
        this.#rest(channel, follower.cursorAtRest);
      return;
    }
    if (follower.unsettled) this.#unsettled.add(follower);
    this.#replayBudget.note(follower);
  }
}

/** A follower, for callers that ask how far it is. */
export type FollowedChannel = Pick<
  Follower,
  | "subscriptions"
  | "cursor"
  | "position"
  | "firstWaitingOffset"
  | "pendingCount"
  | "subscriberCount"
  | "sending"
  | "collecting"
>;

type Published = Extract<OperationReply, { readonly outcome: "published" | "answered" }>;

function ignoreReply(): void {
  // The announcement comes back as an entry, for the client that it is about, too. No reply waits for it.
}

const tooMuchHeld = { outcome: "failed", error: errorCodes.tooManyRequests } as const;

/** Measured on Node 26: 720 to 780 bytes for a channel without pending subscribes, and more with them. */
const channelBytes = 1_024;
