import type {
  ClientOperation,
  OperationReply,
  PublicationRequest,
} from "../../../src/contract/channel-call.ts";
import { type ResolvedChannel, resolveChannel } from "../../../src/channel/channel-name.ts";
import type { SubscribeOptions } from "../../../src/channel/channel-outcomes.ts";
import type { ChannelConfig } from "../../../src/config/config.ts";
import type { PresenceQuestion } from "../../../src/channel/shared-presence.ts";
import type { PresenceAnswer } from "../../../src/protocol/reply.ts";
import type { Message } from "../../../src/protocol/codec.ts";
import type {
  MapAppendRequest,
  MapChange,
  MapPageQuery,
} from "../../../src/features/maps/map-call.ts";
import type { ErrorCode } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import type { Channels, SubscribeReply } from "../../../src/session/channels.ts";
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

interface PendingOperation extends PendingCall<OperationReply> {
  readonly operation: ClientOperation;
}

/**
 * Many channels as a gateway has them. Calls are answered when the test says so, in any order. A use against the
 * contract throws.
 */
export class ScriptedChannels implements Channels {
  readonly parts = [];
  /** All calls since the last {@link takeCalls}, such as `join news`. */
  #calls: string[] = [];
  readonly #config: ChannelConfig;
  readonly #pendingSubscribes: PendingSubscribe[] = [];
  readonly #operations: PendingOperation[] = [];
  readonly #presences: PendingCall<PresenceAnswer>[] = [];
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
    return this.#first(channel, "publish").operation.request;
  }

  /** The oldest edit on a channel that isn't answered. */
  edited(channel: string): Operation<"update_publication">["request"] {
    return this.#first(channel, "update_publication").operation.request;
  }

  /** Answers the oldest publish to a channel. */
  answerPublish(channel: string, error?: ErrorCode): void {
    this.#take(channel, "publish").done(publishReply(error));
  }

  /** Answers the oldest question for a channel's history: there is none. */
  answerHistory(channel: string): void {
    const position = { epoch: "e", offset: 0 };
    this.#take(channel, "history").done({ outcome: "history", publications: [], position });
  }

  /** Answers the oldest question about what users have read of a channel. */
  answerCursors(channel: string): void {
    const data = trustedJsonText("{}");
    this.#take(channel, "unread", "marks").done({ outcome: "answered", data });
  }

  /** The oldest page of a map that isn't answered. */
  pageOf(channel: string): MapPageQuery {
    return this.#first(channel, "map_state").operation.request;
  }

  /** Answers the oldest page of a map. */
  answerPage(channel: string, reply: OperationReply): void {
    this.#take(channel, "map_state").done(reply);
  }

  /** The oldest page of a map's stream that isn't answered. */
  streamOf(channel: string): Operation<"map_stream">["request"] {
    return this.#first(channel, "map_stream").operation.request;
  }

  /** Answers the oldest page of a map's stream. */
  answerStream(channel: string, reply: OperationReply): void {
    this.#take(channel, "map_stream").done(reply);
  }

  /** The oldest change of a map that isn't answered. */
  changed(channel: string): MapChange {
    const { info: _, ...change } = this.#first(channel, "map_publish", "map_remove").operation;
    return change;
  }

  /** Answers the oldest change of a map. */
  answerChange(channel: string, error?: ErrorCode): void {
    this.#take(channel, "map_publish", "map_remove").done(publishReply(error));
  }

  /** The oldest append to a value of a map that isn't answered. */
  appended(channel: string): MapAppendRequest {
    return this.#first(channel, "map_append").operation.request;
  }

  /** Answers the oldest append, with a result as JSON or with an error. */
  answerAppend(channel: string, answer: string | ErrorCode): void {
    const { done } = this.#take(channel, "map_append");
    if (typeof answer === "string") done({ outcome: "answered", data: trustedJsonText(answer) });
    else done({ outcome: "failed", error: answer });
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

  resolve(name: string): ResolvedChannel {
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

  request(
    channel: string,
    operation: ClientOperation,
    _by: Subscription | undefined,
    _nowMs: number,
    done: (reply: OperationReply) => void,
  ): void {
    this.#calls.push(noteOf(channel, operation));
    this.#operations.push({ channel, operation, done });
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

  #first<Method extends ClientOperation["method"]>(
    channel: string,
    ...methods: readonly Method[]
  ): PendingOperation & { readonly operation: Operation<Method> } {
    const isAsked = (
      pending: PendingOperation,
    ): pending is PendingOperation & { readonly operation: Operation<Method> } =>
      pending.channel === channel && methods.some((method) => method === pending.operation.method);
    const pending = this.#operations.find(isAsked);
    if (pending === undefined) throw new Error(`nobody asks ${channel} for ${methods.join()}`);
    return pending;
  }

  #take(channel: string, ...methods: readonly ClientOperation["method"][]): PendingOperation {
    const pending = this.#first(channel, ...methods);
    this.#operations.splice(this.#operations.indexOf(pending), 1);
    return pending;
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

type Operation<Method extends ClientOperation["method"]> = Extract<
  ClientOperation,
  { readonly method: Method }
>;

function publishReply(error: ErrorCode | undefined): OperationReply {
  return error === undefined
    ? { outcome: "published", instance: 1, sequence: 1 }
    : { outcome: "failed", error };
}

function noteOf(channel: string, operation: ClientOperation): string {
  switch (operation.method) {
    case "publish":
      return `publish ${channel} ${textOf(operation.request.data)}`;
    case "map_publish":
    case "map_remove":
    case "map_append":
      return `${operation.method} ${channel} ${operation.request.key}`;
    case "history":
      return `history ${channel}`;
    case "map_state":
      return `page ${channel}`;
    case "map_stream":
      return `stream ${channel}`;
    case "call":
    case "map_read_state":
    case "map_read_stream":
    case "shared_poll_publish":
    case "unread":
    case "marks":
    case "mark_read":
    case "update_publication":
    case "delete_publication":
    case "erase":
      return `${operation.method} ${channel}`;
    case "delivered":
    case "set_audience":
    case "add_audience":
    case "remove_audience":
    case "audience":
      throw new Error(`no client asks for ${operation.method}`);
  }
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
