import {
  type DisconnectCode,
  disconnectCodes,
  errorCodes,
  type UnsubscribeCode,
  unsubscribeCodes,
} from "../protocol/codes.ts";
import type { Codec } from "../protocol/codec.ts";
import type { Command } from "../protocol/command.ts";
import { type CommandContext, publish, readHistory, seePresence } from "./channel-commands.ts";
import { CommandRateLimit } from "./rate-limit.ts";
import {
  channelOf,
  orderedBy,
  ReplyOrder,
  type ReceivedCommand,
  CommandQueue,
} from "./command-queue.ts";
import { endMs } from "./expiry.ts";
import { carryOutConnect } from "./connect.ts";
import type { Connection, SessionContext, VerifiedTokens } from "./ports.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import { heartbeat, pingDueAtMs, pong } from "./heartbeat.ts";
import { carryOutRefresh, carryOutSubRefresh } from "./refresh.ts";
import { unidirectionalDisconnect } from "./unidirectional.ts";
import { SessionState } from "./session-state.ts";
import type {
  Cursor,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";
import { carryOutSubscribe } from "./subscribe.ts";
import type { SubscriptionOwner } from "./subscription.ts";

/**
 * One client's connection, from its first command to its last (rules C1 to C10).
 * What it holds beyond its snapshot belongs to commands under way, and an object with any of those doesn't sleep: so a
 * session thrown away and made again from the snapshot goes on as if nothing had happened.
 */
export class Session implements SubscriptionOwner {
  readonly #context: SessionContext;
  readonly #state: SessionState;
  /** Undefined while no command has to wait for another. */
  #commands: CommandQueue | undefined;
  /** Undefined while every answer was given. */
  #replyOrder: ReplyOrder | undefined;
  /** Undefined until the first command. */
  #rateLimit: CommandRateLimit | undefined;

  /** Also takes up a session that slept: a subscription in the snapshot is a subscription again. */
  constructor(snapshot: SessionSnapshot, connection: Connection, context: SessionContext) {
    this.#context = context;
    this.#state = new SessionState(snapshot, connection, context);
    if (snapshot.phase !== "connected") return;
    for (const granted of snapshot.subscriptions) {
      const cursor = snapshot.cursors?.get(granted.channel);
      const subscription = this.#state.newSubscription(granted, this, cursor);
      subscription.restored();
      this.#state.subscriptions.add(subscription, true);
      context.channels.restore(subscription);
      // Another release understood its filter: without it the client would get everything (rule D4).
      if (granted.filter && !subscription.filter) this.insufficientState(granted.channel);
    }
  }

  get closed(): boolean {
    return this.#state.closed;
  }

  /** Whether whatever comes counts for nothing: the connection is closed, was refused (rule C4), or only listens (rule C11). */
  get ignoresCommands(): boolean {
    const { identity, unidirectional: oneWay } = this.#state;
    if (identity.phase === "closed" || identity.phase === "refused") return true;
    return oneWay && !this.awaitsConnect;
  }

  /** Whether nothing but connect may come. */
  get awaitsConnect(): boolean {
    return this.#state.identity.phase === "new" && !this.#state.connecting;
  }

  /** What its frames are. */
  get codec(): Codec {
    return this.#state.codec;
  }

  /** The connection's ID. */
  get client(): string {
    return this.#state.identity.client;
  }

  /**
   * Carries out one command, or lets it wait for an earlier one. What it published is sent when the hub settles; its reply
   * waits for that.
   *
   * @param busy too much waits already: a publish is refused (rule B6)
   */
  receive(command: Command, tokens: VerifiedTokens, nowMs: number, busy = false): void {
    if (this.ignoresCommands) return;
    if ((command.method === "connect") !== this.awaitsConnect) {
      this.disconnect(disconnectCodes.badRequest);
      return;
    }
    this.#rateLimit ??= new CommandRateLimit();
    switch (this.#rateLimit.take(command.method, nowMs)) {
      case "granted":
        this.#enter({ command, tokens, nowMs, busy });
        return;
      case "over":
        this.#apply(command, failWith(errorCodes.tooManyRequests));
        return;
      case "far-over":
        this.disconnect(disconnectCodes.tooManyRequests);
    }
  }

  /** Does what is due: gives up who is stale, expired or gone, and pings. */
  tick(pingTick: boolean, nowMs: number): void {
    const { identity, connecting, subscriptions } = this.#state;
    const { client } = this.#context.config;
    if (identity.phase === "closed" || connecting) return;
    if (this.#rateLimit?.isWhole(nowMs) === true) this.#rateLimit = undefined;
    if (identity.phase !== "connected") {
      if (nowMs >= this.#staleAtMs()) this.disconnect(disconnectCodes.stale);
      return;
    }
    if (nowMs >= endMs(identity.claims?.expireAtSeconds, client.expiredCloseDelayMs)) {
      this.disconnect(disconnectCodes.connectionExpired);
      return;
    }
    if (nowMs >= endMs(subscriptions.expireAtSeconds, client.expiredSubCloseDelayMs)) {
      this.#endExpired(nowMs);
    }
    const { lastHeardMs } = this.#state;
    switch (heartbeat(identity, client.pingIntervalMs, pingTick, lastHeardMs, nowMs)) {
      case "nothing":
        return;
      case "ping":
        this.#state.ping(nowMs);
        return;
      case "no-pong":
      case "gone":
        this.disconnect(disconnectCodes.noPong);
    }
  }

  /** When the next ping is due, ms since 1970; Infinity for never. */
  get pingDueAtMs(): number {
    return pingDueAtMs(this.#state.identity, this.#context.config.client.pingIntervalMs);
  }

  /** When {@link tick} has something to do, ms since 1970; Infinity for never. */
  get dueAtMs(): number {
    const { identity, connecting, subscriptions } = this.#state;
    const { client } = this.#context.config;
    if (identity.phase === "closed" || connecting) return Number.POSITIVE_INFINITY;
    if (identity.phase !== "connected") return this.#staleAtMs();
    return Math.min(
      this.pingDueAtMs,
      endMs(identity.claims?.expireAtSeconds, client.expiredCloseDelayMs),
      endMs(subscriptions.expireAtSeconds, client.expiredSubCloseDelayMs),
    );
  }

  /** Closes the connection from our side. */
  disconnect(code: DisconnectCode): void {
    this.#commands = undefined;
    this.#replyOrder?.clear();
    this.#state.disconnect(code);
  }

  /** The socket is gone, whoever closed it. */
  ended(): void {
    this.#commands = undefined;
    this.#replyOrder?.clear();
    this.#state.end();
  }

  flushed(channel: string): void {
    this.#state.flushed(channel);
  }

  insufficientState(channel: string): void {
    const granted = this.#state.subscriptions.list.find((one) => one.channel === channel);
    // A subscription that the server made can only be made anew by connecting anew (docs/protocol.md 2.6).
    if (this.#state.connecting || granted?.serverSide === true) {
      this.disconnect(disconnectCodes.insufficientState);
    } else if (granted !== undefined) {
      this.#unsubscribe(channel, unsubscribeCodes.insufficientState);
    }
  }

  changed(granted: SubscriptionSnapshot): void {
    this.#state.changed(granted);
  }

  keep(channel: string, cursor: Cursor): boolean {
    return this.#state.keep(channel, cursor);
  }

  #enter(received: ReceivedCommand): void {
    const { command } = received;
    const key = this.#state.connecting ? connectKey : channelOf(command);
    // Its reply doesn't wait, for publications follow it: so it begins when all before it is answered (rules O3, O6).
    const isLate =
      key !== undefined && command.method === "subscribe" && this.#replyOrder?.isOpen(key) === true;
    if (isLate && this.#commands?.isOpen(key) !== true) this.#open(key);
    if (key === undefined || this.#commands?.isOpen(key) !== true) {
      this.#carryOut(received);
    } else if (!this.#commands.add(key, received)) {
      this.#apply(command, failWith(errorCodes.tooManyRequests));
    }
  }

  #open(key: string): void {
    this.#commands ??= new CommandQueue();
    this.#commands.open(key);
  }

  /** Carries out what waited, in order; the first of it may make the rest wait again. After a refused connect nothing is. */
  #resume(key: string): void {
    const waited = this.#commands?.close(key) ?? [];
    if (this.#commands?.idle === true) this.#commands = undefined;
    for (const received of waited) {
      if (this.#state.identity.phase === "connected") this.#enter(received);
    }
  }

  #inOrder(channel: string, apply: (decision: Decision) => void): (decision: Decision) => void {
    this.#replyOrder ??= new ReplyOrder((answered) => {
      if (this.#replyOrder?.idle === true) this.#replyOrder = undefined;
      this.#resume(answered);
    });
    return this.#replyOrder.reserve(channel, apply);
  }

  #carryOut(received: ReceivedCommand): void {
    const { command, nowMs } = received;
    const apply = (decision: Decision): void => {
      this.#apply(command, decision);
    };
    const channel = orderedBy(command);
    const answer = channel === undefined ? apply : this.#inOrder(channel, apply);
    const decide = (decision: Decision): void => {
      if (decision.outcome === "disconnect") apply(decision);
      else answer(decision);
    };
    switch (command.method) {
      case "connect":
      case "subscribe":
      case "unsubscribe":
      case "refresh":
      case "sub_refresh":
        this.#carryOutOwn(received, command, decide);
        return;
      case "publish":
        if (received.busy) decide(failWith(errorCodes.tooManyRequests));
        else publish(this.#asking(command, nowMs), command.request, decide);
        return;
      case "presence":
      case "presence_stats":
        seePresence(this.#asking(command, nowMs), command.request, command.method, decide);
        return;
      case "history":
        readHistory(this.#asking(command, nowMs), command.request, decide);
        return;
      case "rpc":
        decide(
          this.#context.config.rpc.pingEnabled && command.request.method === "ping"
            ? { outcome: "reply", reply: { id: command.id, method: "rpc" } }
            : failWith(errorCodes.notAvailable),
        );
        return;
      case "send":
        decide(disconnectWith(disconnectCodes.notAvailable));
        return;
      case "ping":
        decide(disconnectWith(disconnectCodes.badRequest));
        return;
      case "pong":
        decide(pong(this.#state.identity.awaitingPong));
    }
  }

  /** What changes the session itself. */
  #carryOutOwn(
    { tokens, nowMs }: ReceivedCommand,
    command: OwnCommand,
    decide: (decision: Decision) => void,
  ): void {
    const state = this.#state;
    const { id } = command;
    // What waits for a subscribe is carried out once it is answered, whatever it came to.
    const finish = (failure?: Decision): void => decide(failure ?? { outcome: "silent" });
    switch (command.method) {
      case "connect": {
        const { connection } = tokens;
        this.#open(connectKey);
        carryOutConnect(state, this, id, command.request, connection, nowMs, (failure) => {
          finish(failure);
          this.#resume(connectKey);
        });
        return;
      }
      case "subscribe": {
        const { channel } = command.request;
        const { subscription } = tokens;
        this.#open(channel);
        carryOutSubscribe(state, this, id, command.request, subscription, nowMs, finish);
        return;
      }
      case "unsubscribe": {
        const { channel } = command.request;
        if (channel !== "") this.#leave(channel);
        const reply = { id, method: "unsubscribe" } as const;
        decide(
          channel === "" ? disconnectWith(disconnectCodes.badRequest) : { outcome: "reply", reply },
        );
        return;
      }
      case "refresh":
        decide(carryOutRefresh(state, id, tokens.connection, nowMs));
        return;
      case "sub_refresh":
        decide(carryOutSubRefresh(state, id, command.request, tokens.subscription, nowMs));
    }
  }

  #asking(
    { id, request }: { readonly id: number; readonly request: { readonly channel: string } },
    nowMs: number,
  ): CommandContext {
    const { channels, config } = this.#context;
    const subscription = this.#state.subscriptions.get(request.channel);
    return { id, session: this.#state.identity, channels, config, subscription, nowMs };
  }

  #apply(command: Command, decision: Decision): void {
    const state = this.#state;
    if (state.closed) return;
    switch (decision.outcome) {
      case "disconnect":
        this.disconnect(decision.code);
        return;
      case "silent":
        state.change(decision.changes);
        return;
      case "error":
        if (state.unidirectional) {
          this.disconnect(unidirectionalDisconnect(decision.error));
          return;
        }
        state.change(decision.changes);
        // It has no number that an error could be for, and comes to this anyway.
        if (command.method === "send") this.disconnect(disconnectCodes.notAvailable);
        else if (command.method !== "pong") state.reply({ id: command.id, error: decision.error });
        return;
      case "reply":
        state.change(decision.changes);
        state.reply(
          decision.reply,
          command.method === "publish" ? this.#collecting(command.request.channel) : undefined,
        );
    }
  }

  /** The channel, if a publication that its subscriber must get before a reply is still being collected (rule O4). */
  #collecting(channel: string): string | undefined {
    const subscription = this.#state.subscriptions.get(channel);
    if (subscription === undefined) return undefined;
    return this.#context.channels.awaitFlush(subscription) ? channel : undefined;
  }

  #endExpired(nowMs: number): void {
    const { expiredSubCloseDelayMs } = this.#context.config.client;
    for (const { channel, expireAtSeconds } of this.#state.subscriptions.list) {
      if (nowMs < endMs(expireAtSeconds, expiredSubCloseDelayMs)) continue;
      this.#unsubscribe(channel, unsubscribeCodes.subscriptionExpired);
    }
  }

  #unsubscribe(channel: string, code: UnsubscribeCode): void {
    this.#leave(channel);
    this.#state.send(this.#state.codec.encodePush({ type: "unsubscribe", channel, code }));
  }

  #leave(channel: string): void {
    const subscription = this.#state.subscriptions.get(channel);
    if (subscription === undefined) return;
    this.#state.subscriptions.remove(channel);
    this.#state.save();
    this.#context.channels.unsubscribe(subscription);
  }

  #staleAtMs(): number {
    return this.#state.identity.openedAtMs + this.#context.config.client.staleCloseDelayMs;
  }
}

type OwnCommand = Extract<
  Command,
  { readonly method: "connect" | "subscribe" | "unsubscribe" | "refresh" | "sub_refresh" }
>;

/** No channel has this name. */
const connectKey = "";
