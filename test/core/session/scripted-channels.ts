import type { HistoryQuery, PublicationRequest } from "../../../src/contract/channel-call.ts";
import { type ResolvedChannel, resolveChannel } from "../../../src/channel/channel-name.ts";
import type { SubscribeOptions } from "../../../src/channel/channel.ts";
import type { ChannelConfig } from "../../../src/config/config.ts";
import type { PresenceAnswer, PresenceQuestion } from "../../../src/channel/shared-presence.ts";
import type { Message } from "../../../src/protocol/codec.ts";
import type { MapChange, MapPageQuery } from "../../../src/contract/map-call.ts";
import type { ErrorCode } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import type { ClientInfo } from "../../../src/protocol/publication.ts";
import type {
  Channels,
  HistoryReply,
  MapPageReply,
  MapStreamPage,
  SubscribeReply,
  PublishReply,
} from "../../../src/session/channels.ts";
import type { Subscription } from "../../../src/session/subscription.ts";
import { textOf } from "../../support/text-of.ts";
import { json } from "../api/channel-config.ts";

type Subscribed = Extract<SubscribeReply, { readonly outcome: "subscribed" }>;

interface PendingSubscribe {
  readonly subscription: Subscription;
  readonly options: SubscribeOptions;
  readonly done: (outcome: SubscribeReply) => void;
}

interface PendingCall<Answer> {
  readonly channel: string;
  readonly done: (outcome: Answer) => void;
}

interface PendingPublish extends PendingCall<PublishReply> {
  readonly info: ClientInfo;
  readonly request: PublicationRequest;
}

interface PendingHistory extends PendingCall<HistoryReply> {
  readonly query: HistoryQuery;
}

interface PendingPage extends PendingCall<MapPageReply> {
  readonly query: MapPageQuery;
}

interface PendingStream extends PendingCall<HistoryReply> {
  readonly query: MapStreamPage;
}

interface PendingChange extends PendingCall<PublishReply> {
  readonly change: MapChange;
  readonly info: ClientInfo;
}

/**
 * Many channels as a gateway has them. Calls are answered when the test says so, in any order. A use against the
 * contract throws.
 */
export class ScriptedChannels implements Channels {
  /** All calls since the last {@link takeCalls}, such as `join news`. */
  #calls: string[] = [];
  readonly #config: ChannelConfig;
  readonly #pendingSubscribes: PendingSubscribe[] = [];
  readonly #publishes: PendingPublish[] = [];
  readonly #histories: PendingHistory[] = [];
  readonly #presences: PendingCall<PresenceAnswer>[] = [];
  readonly #pages: PendingPage[] = [];
  readonly #streams: PendingStream[] = [];
  readonly #changes: PendingChange[] = [];
  readonly #subscribers = new Set<Subscription>();
  readonly #collecting = new Map<string, Message[]>();
  /** How many of the collected publications a subscription was sent alone. */
  readonly #caughtUp = new Map<Subscription, number>();

  constructor(config: ChannelConfig) {
    this.#config = config;
  }

  /** The object is created anew: calls in progress are lost, and no subscription exists before it is restored. */
  forget(): void {
    this.#pendingSubscribes.length = 0;
    this.#subscribers.clear();
    this.#collecting.clear();
    this.takeCalls();
  }

  /** The sessions' calls since the last time, in order. */
  takeCalls(): readonly string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  position(): undefined {
    return undefined;
  }

  /** All subscriptions, pending ones included: connection and channel. */
  get known(): readonly string[] {
    const joining = this.#pendingSubscribes.map(({ subscription }) => subscription);
    return [...this.#subscribers, ...joining].map(
      ({ info, channel }) => `${info.client} ${channel}`,
    );
  }

  /** The subscription of a connection, or its only one. */
  subscription(channel: string, client?: string): Subscription {
    for (const subscription of this.#subscribers) {
      const { info } = subscription;
      if (subscription.channel === channel && (client ?? info.client) === info.client) {
        return subscription;
      }
    }
    throw new Error(`nobody is subscribed to ${channel}`);
  }

  /** The options of the oldest pending subscribe to a channel. */
  optionsOf(channel: string): SubscribeOptions {
    const pending = this.#pendingSubscribes.find(
      ({ subscription }) => subscription.channel === channel,
    );
    if (pending === undefined) throw new Error(`nobody joins ${channel}`);
    return pending.options;
  }

  /** Answers the oldest join to a channel. */
  acceptSubscribe(channel: string, more: Partial<Subscribed> = {}): void {
    const pending = this.#takeSubscribe(channel);
    this.#subscribers.add(pending.subscription);
    pending.done({ outcome: "subscribed", recovered: false, publications: [], ...more });
  }

  refuseSubscribe(channel: string, error: ErrorCode): void {
    this.#takeSubscribe(channel).done({ outcome: "failed", error });
  }

  /** The oldest publish to a channel that isn't answered. */
  published(channel: string): PublicationRequest {
    const pending = this.#publishes.find((publish) => publish.channel === channel);
    if (pending === undefined) throw new Error(`nobody publishes to ${channel}`);
    return pending.request;
  }

  /** Answers the oldest publish to a channel. */
  answerPublish(channel: string, error?: ErrorCode): void {
    take(this.#publishes, channel).done(
      error === undefined ? { outcome: "published" } : { outcome: "failed", error },
    );
  }

  /** Answers the oldest question for a channel's history: there is none. */
  answerHistory(channel: string): void {
    const position = { epoch: "e", offset: 0 };
    take(this.#histories, channel).done({ outcome: "history", publications: [], position });
  }

  /** The oldest page of a map that isn't answered. */
  pageOf(channel: string): MapPageQuery {
    return first(this.#pages, channel).query;
  }

  /** Answers the oldest page of a map. */
  answerPage(channel: string, reply: MapPageReply): void {
    take(this.#pages, channel).done(reply);
  }

  /** The oldest page of a map's stream that isn't answered. */
  streamOf(channel: string): MapStreamPage {
    return first(this.#streams, channel).query;
  }

  /** Answers the oldest page of a map's stream. */
  answerStream(channel: string, reply: HistoryReply): void {
    take(this.#streams, channel).done(reply);
  }

  /** The oldest change of a map that isn't answered. */
  changed(channel: string): MapChange {
    return first(this.#changes, channel).change;
  }

  /** Answers the oldest change of a map. */
  answerChange(channel: string, error?: ErrorCode): void {
    take(this.#changes, channel).done(
      error === undefined ? { outcome: "published" } : { outcome: "failed", error },
    );
  }

  /** Answers the oldest presence request for a channel with no clients. */
  answerPresence(channel: string): void {
    take(this.#presences, channel).done(nobodyIsPresent);
  }

  /** A publication without history comes to all subscribers of a channel; while it collects, later. */
  push(channel: string, data: string): void {
    const publication = { data: json(data), offset: 0 };
    const frame = jsonCodec.encodePush({ type: "publication", channel, publication });
    const collected = this.#collecting.get(channel);
    if (collected === undefined) this.#send(channel, frame);
    else collected.push(frame);
  }

  /** From here on the channel's publications are collected, until {@link flush}. */
  collect(channel: string): void {
    this.#collecting.set(channel, []);
  }

  flush(channel: string): void {
    const collected = this.#collecting.get(channel) ?? [];
    this.#collecting.delete(channel);
    for (const subscription of this.#subscribers) {
      if (subscription.channel !== channel) continue;
      for (const frame of collected.slice(this.#caughtUp.get(subscription) ?? 0)) {
        subscription.send(frame);
      }
      this.#caughtUp.delete(subscription);
    }
  }

  find(name: string): ResolvedChannel {
    return resolveChannel(name, this.#config);
  }

  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    _nowMs: number,
    answer: (outcome: SubscribeReply) => void,
  ): void {
    this.#note("join", subscription);
    this.#pendingSubscribes.push({ subscription, options, done: answer });
  }

  restore(subscription: Subscription): void {
    this.#note("restore", subscription);
    this.#subscribers.add(subscription);
  }

  announce(subscription: Subscription): void {
    this.#note("announce", subscription);
    if (!this.#subscribers.has(subscription)) throw new Error("announced without having joined");
    // As other subscribers receive it, and this one as one of them.
    const { channel, info } = subscription;
    if (subscription.announced) {
      this.#send(channel, jsonCodec.encodePush({ type: "join", channel, info }));
    }
  }

  unsubscribe(subscription: Subscription): void {
    this.#note("leave", subscription);
    const index = this.#pendingSubscribes.findIndex(
      (pending) => pending.subscription === subscription,
    );
    if (index >= 0) this.#pendingSubscribes.splice(index, 1);
    else if (!this.#subscribers.delete(subscription)) throw new Error("left without having joined");
  }

  publish(
    channel: string,
    request: PublicationRequest,
    info: ClientInfo,
    _subscription: Subscription | undefined,
    _nowMs: number,
    answer: (outcome: PublishReply) => void,
  ): void {
    this.#calls.push(`publish ${channel} ${textOf(request.data)}`);
    this.#publishes.push({ channel, info, request, done: answer });
  }

  history(
    channel: string,
    query: HistoryQuery,
    _bytesMax: number,
    _nowMs: number,
    answer: (outcome: HistoryReply) => void,
  ): void {
    this.#calls.push(`history ${channel}`);
    this.#histories.push({ channel, query, done: answer });
  }

  readMap(
    channel: string,
    query: MapPageQuery,
    _bytesMax: number,
    _nowMs: number,
    done: (outcome: MapPageReply) => void,
  ): void {
    this.#calls.push(`page ${channel}`);
    this.#pages.push({ channel, query, done });
  }

  readMapStream(
    channel: string,
    query: MapStreamPage,
    _bytesMax: number,
    _nowMs: number,
    done: (outcome: HistoryReply) => void,
  ): void {
    this.#calls.push(`stream ${channel}`);
    this.#streams.push({ channel, query, done });
  }

  changeMap(
    channel: string,
    change: MapChange,
    info: ClientInfo,
    _subscription: Subscription | undefined,
    _nowMs: number,
    done: (outcome: PublishReply) => void,
  ): void {
    this.#calls.push(`${change.method} ${channel} ${change.request.key}`);
    this.#changes.push({ channel, change, info, done });
  }

  presence(channel: string, { codec, done }: PresenceQuestion): void {
    if (codec === undefined) {
      done(nobodyIsPresent);
      return;
    }
    this.#calls.push(`presence ${channel}`);
    this.#presences.push({ channel, done });
  }

  catchUp(subscription: Subscription): void {
    const collected = this.#collecting.get(subscription.channel);
    if (collected === undefined) return;
    for (const frame of collected.slice(this.#caughtUp.get(subscription) ?? 0)) {
      subscription.send(frame);
    }
    this.#caughtUp.set(subscription, collected.length);
  }

  #note(what: string, { channel }: Subscription): void {
    this.#calls.push(`${what} ${channel}`);
  }

  #send(channel: string, frame: Message): void {
    for (const subscription of this.#subscribers) {
      if (subscription.channel === channel) subscription.send(frame);
    }
  }

  #takeSubscribe(channel: string): PendingSubscribe {
    const index = this.#pendingSubscribes.findIndex(
      ({ subscription }) => subscription.channel === channel,
    );
    const [pending] = index < 0 ? [] : this.#pendingSubscribes.splice(index, 1);
    if (pending === undefined) throw new Error(`nobody joins ${channel}`);
    return pending;
  }
}

const nobodyIsPresent: PresenceAnswer = {
  outcome: "present",
  result: { parts: [] },
  stats: { clientCount: 0, userCount: 0 },
};

function first<Asked extends { readonly channel: string }>(
  requests: readonly Asked[],
  channel: string,
): Asked {
  const request = requests.find((one) => one.channel === channel);
  if (request === undefined) throw new Error(`nobody asks ${channel}`);
  return request;
}

function take<Asked extends { readonly channel: string }>(
  requests: Asked[],
  channel: string,
): Asked {
  const index = requests.findIndex((request) => request.channel === channel);
  const [request] = index < 0 ? [] : requests.splice(index, 1);
  if (request === undefined) throw new Error(`nobody asks ${channel}`);
  return request;
}
