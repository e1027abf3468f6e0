import {
  type DisconnectCode,
  disconnectCodes,
  errorCodes,
  type UnsubscribeCode,
  unsubscribeCodes,
} from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import { codecNamed } from "../protocol/codecs.ts";
import type { Command } from "../protocol/command.ts";
import type { Reply } from "../protocol/reply.ts";
import { fitsCursors, fitsInside, fitsRow } from "../contract/attachment.ts";
import type {
  Cursor,
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";
import { CommandExecutor } from "./command-executor.ts";
import type { Changes } from "./decision.ts";
import { endMs } from "./expiry.ts";
import { heartbeat, pingDueAtMs } from "./heartbeat.ts";
import { Outbox } from "./outbox.ts";
import type { CommandSession, Connection, SessionContext, VerifiedTokens } from "./ports.ts";
import { clientInfo, Subscription, type SubscriptionSession } from "./subscription.ts";
import { Subscriptions } from "./subscriptions.ts";

/**
 * One client's connection, from its first command to its last (rules C1 to C10).
 * What it holds beyond its snapshot belongs to commands under way, and an object with any of those doesn't sleep: so a
 * session thrown away and made again from the snapshot goes on as if nothing had happened.
 */
export class Session implements CommandSession, SubscriptionSession {
  readonly context: SessionContext;
  readonly codec: Codec;
  readonly subscriptions = new Subscriptions();
  readonly outbox: Outbox;
  identity: SessionIdentity;
  connecting = false;
  readonly #connection: Connection;
  /** Undefined until the first command, and again once nothing of the commands is left. */
  #executor: CommandExecutor | undefined;

  /** Also takes up a session that slept: a subscription in the snapshot is a subscription again. */
  constructor(snapshot: SessionSnapshot, connection: Connection, context: SessionContext) {
    const { subscriptions, cursors, ...identity } = snapshot;
    this.identity = compact(identity);
    this.codec = codecNamed(identity.codec);
    this.context = context;
    this.outbox = new Outbox(connection, context.config.client.queueMaxSizeBytes);
    this.#connection = connection;
    if (snapshot.phase !== "connected") return;
    for (const granted of subscriptions) {
      const subscription = this.newSubscription(granted, cursors?.get(granted.channel));
      subscription.restored();
      this.subscriptions.add(subscription);
      context.channels.restore(subscription);
      // Another release understood its filter: without it the client would get everything (rule D4).
      if (granted.filter && !subscription.filter) this.insufficientState(subscription);
    }
  }

  get closed(): boolean {
    return this.identity.phase === "closed";
  }

  get ignoresCommands(): boolean {
    const { phase } = this.identity;
    if (phase === "closed" || phase === "refused") return true;
    return this.unidirectional && !this.awaitsConnect;
  }

  get awaitsConnect(): boolean {
    return this.identity.phase === "new" && !this.connecting;
  }

  get unidirectional(): boolean {
    return this.codec.name === "one_way";
  }

  /** The connection's ID. */
  get client(): string {
    return this.identity.client;
  }

  get user(): string {
    return this.identity.claims?.user ?? "";
  }

  get snapshot(): SessionSnapshot {
    const { list, cursors } = this.subscriptions;
    return { ...this.identity, subscriptions: list, ...(cursors === undefined ? {} : { cursors }) };
  }

  /**
   * Carries out one command, or lets it wait for an earlier one. What it published is sent when the hub settles; its reply
   * waits for that.
   *
   * @param busy too much waits already: a publish is refused (rule B6)
   */
  receive(command: Command, tokens: VerifiedTokens, nowMs: number, busy = false): void {
    this.#executor ??= new CommandExecutor(this);
    this.#executor.receive(command, tokens, nowMs, busy);
  }

  /** Does what is due: gives up who is stale, expired or gone, and pings. */
  tick(pingTick: boolean, nowMs: number): void {
    const { identity } = this;
    const { client } = this.context.config;
    if (this.closed || this.connecting) return;
    if (this.#executor?.isIdle(nowMs) === true) this.#executor = undefined;
    if (identity.phase !== "connected") {
      if (nowMs >= this.#staleAtMs()) this.disconnect(disconnectCodes.stale);
      return;
    }
    if (nowMs >= endMs(identity.claims?.expireAtSeconds, client.expiredCloseDelayMs)) {
      this.disconnect(disconnectCodes.connectionExpired);
      return;
    }
    if (nowMs >= endMs(this.subscriptions.expireAtSeconds, client.expiredSubCloseDelayMs)) {
      this.#endExpired(nowMs);
    }
    const lastHeardMs = this.#connection.lastHeardMs();
    switch (heartbeat(this.identity, client.pingIntervalMs, pingTick, lastHeardMs, nowMs)) {
      case "nothing":
        return;
      case "ping":
        this.#ping(nowMs);
        return;
      case "no-pong":
      case "gone":
        this.disconnect(disconnectCodes.noPong);
    }
  }

  /** When the next ping is due, ms since 1970; Infinity for never. */
  get pingDueAtMs(): number {
    return pingDueAtMs(this.identity, this.context.config.client.pingIntervalMs);
  }

  /** When {@link tick} has something to do, ms since 1970; Infinity for never. */
  get dueAtMs(): number {
    const { identity } = this;
    const { client } = this.context.config;
    if (this.closed || this.connecting) return Number.POSITIVE_INFINITY;
    if (identity.phase !== "connected") return this.#staleAtMs();
    return Math.min(
      this.pingDueAtMs,
      endMs(identity.claims?.expireAtSeconds, client.expiredCloseDelayMs),
      endMs(this.subscriptions.expireAtSeconds, client.expiredSubCloseDelayMs),
    );
  }

  /** Closes the connection from our side. */
  disconnect(code: DisconnectCode): void {
    if (this.closed) return;
    this.ended();
    this.#connection.close(code);
  }

  /** The socket is gone, whoever closed it: the connection is over, and so are its subscriptions. */
  ended(): void {
    if (this.closed) return;
    this.#executor?.clear();
    const { all } = this.subscriptions;
    this.subscriptions.clear();
    this.identity = compact({ ...this.identity, phase: "closed" });
    // Also while a connect is under way: after hibernation the platform may list the socket again (rule S4).
    this.#connection.save(this.snapshot);
    for (const subscription of all) this.context.channels.unsubscribe(subscription);
    this.outbox.clear();
  }

  insufficientState(subscription: Subscription): void {
    const { channel, granted } = subscription;
    const isCurrent = this.subscriptions.get(channel) === subscription;
    // A subscription that the server made can only be made anew by connecting anew (docs/protocol.md 2.6).
    if (this.connecting || (isCurrent && granted.serverSide === true)) {
      this.disconnect(disconnectCodes.insufficientState);
    } else if (isCurrent) {
      this.#unsubscribe(channel, unsubscribeCodes.insufficientState);
    }
  }

  change(changes: Changes | undefined): void {
    if (changes === undefined) return;
    this.identity = compact({ ...this.identity, ...changes });
    this.save();
  }

  save(): void {
    if (!this.connecting && !this.closed) this.#connection.save(this.snapshot);
  }

  subscriptionChanged(): void {
    this.subscriptions.changed();
    this.save();
  }

  hasRoomForCursor(): boolean {
    return fitsCursors(this.identity.claims, this.subscriptions.cursorCount + 1);
  }

  hasRoom(
    subscriptions: readonly SubscriptionSnapshot[],
    claims: SessionSnapshot["claims"] = this.identity.claims,
  ): boolean {
    return this.context.storesRows
      ? fitsRow(subscriptions)
      : fitsInside({
          ...this.identity,
          ...(claims === undefined ? {} : { claims }),
          subscriptions,
        });
  }

  newSubscription(granted: SubscriptionSnapshot, cursor?: Cursor): Subscription {
    const info = clientInfo(this.identity, granted);
    return new Subscription(info, granted, this.codec, this.#connection, this, cursor);
  }

  reply(reply: Reply, after?: string): void {
    const { codec } = this;
    const { config } = this.context;
    const message = codec.encodeReply(reply);
    // A reply that is larger than all that may wait for the client is an error instead (rule F4).
    const fits = message.length <= config.client.queueMaxSizeBytes;
    const refusal: Reply = { id: reply.id, error: errorCodes.limitExceeded };
    this.send(fits ? message : codec.encodeReply(refusal), after);
  }

  send(message: Message, after?: string, sent?: () => void): void {
    // Carrying out a command can cut its own sender as too slow; a closed socket is sent nothing (rule S4).
    if (this.closed) return;
    // One small frame can ask for much: who doesn't take the answers gets no more of them (rule F4).
    if (this.outbox.wouldExceed(0)) this.disconnect(disconnectCodes.slow);
    else this.outbox.send(message, after, sent);
  }

  mustWait(message: Message): boolean {
    return this.outbox.behind && this.outbox.wouldExceed(message.length);
  }

  leave(channel: string): void {
    const subscription = this.subscriptions.get(channel);
    if (subscription === undefined) return;
    this.subscriptions.remove(channel);
    this.save();
    this.context.channels.unsubscribe(subscription);
  }

  #unsubscribe(channel: string, code: UnsubscribeCode): void {
    this.leave(channel);
    this.send(this.codec.encodePush({ type: "unsubscribe", channel, code }));
  }

  #endExpired(nowMs: number): void {
    const { expiredSubCloseDelayMs } = this.context.config.client;
    for (const { channel, expireAtSeconds } of this.subscriptions.list) {
      if (nowMs < endMs(expireAtSeconds, expiredSubCloseDelayMs)) continue;
      this.#unsubscribe(channel, unsubscribeCodes.subscriptionExpired);
    }
  }

  /** Asks the client whether it is there. */
  #ping(nowMs: number): void {
    // Who only listens has no way to answer.
    this.change({ pingedAtMs: nowMs, awaitingPong: !this.unidirectional });
    this.#connection.send(this.codec.ping);
  }

  #staleAtMs(): number {
    return this.identity.openedAtMs + this.context.config.client.staleCloseDelayMs;
  }
}

/** The same, but made in one go: an object that grew name by name takes more memory, and each connection has one of these. */
function compact(identity: SessionIdentity): SessionIdentity {
  const { phase, client, openedAtMs, keepalive, claims, ...others } = identity;
  if (claims === undefined) return identity;
  return { phase, client, openedAtMs, keepalive, claims, ...others };
}
