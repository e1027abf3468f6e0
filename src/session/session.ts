import {
  connectionLost,
  type DisconnectCode,
  disconnectCodes,
  errorCodes,
  type UnsubscribeCode,
  unsubscribeCodes,
} from "../protocol/codes.ts";
import { onlookerContext } from "./onlooker.ts";
import { endDependents } from "./dependence/dependents.ts";
import { limits } from "../limits.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Command } from "../protocol/command.ts";
import type { Reply } from "../protocol/reply.ts";
import { fitsCursors, fitsInside, fitsRow } from "../contract/attachment.ts";
import type {
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";
import { CommandExecutor } from "./command-executor.ts";
import { closingOf, codecOf } from "./dialect/dialect.ts";
import type { Changes } from "./decision.ts";
import { endExpired, expiryDueAtMs, heartbeat, pingDueAtMs, staleAtMs } from "./liveness.ts";
import type { AdmittedSession, Connection, SessionContext, VerifiedTokens } from "./ports.ts";
import { clientInfo, Subscription } from "./subscription.ts";
import type { RestoredParts, SubscriptionSession } from "./subscription.ts";
import { Subscriptions, WaitingWork } from "./subscriptions.ts";
import { readInVain, type VainReads } from "./rate-limit.ts";
import { toldClose } from "../access/told-reason.ts";

/**
 * One client's connection from open to close: the client's identity and subscriptions, the messages to it, the snapshot
 * that is saved, and the times of pings and closes (rules C1 to C11, K1 to K5). `CommandExecutor` carries out its
 * commands.
 *
 * All other state belongs to commands under way, and an object with a command under way doesn't hibernate. So a session
 * that is restored from its snapshot behaves as if the object had never hibernated (rule S2).
 */
export class Session implements AdmittedSession, SubscriptionSession {
  readonly context: SessionContext;
  readonly codec: Codec;
  readonly subscriptions = new Subscriptions();
  identity: SessionIdentity;
  connecting = false;
  held = false;
  vainReads: VainReads;
  readonly #connection: Connection;
  /** Undefined until the first command, and again once the executor is idle. */
  #executor: CommandExecutor | undefined;
  /** Undefined where nobody watches. */
  readonly observer: ReturnType<NonNullable<SessionContext["observe"]>>;
  /** The work that waits while the session is held, or while its subscriptions begin; undefined while none does. */
  #waiting: WaitingWork | undefined;
  /** Replies to publishes that waited for a subscription which the server ends: they follow its push (rule O4). */
  #deferred: Message[] | undefined;

  /** Also restores a session after hibernation: each subscription in the snapshot is restored. */
  constructor(snapshot: SessionSnapshot, connection: Connection, context: SessionContext) {
    const { subscriptions: _, cursors: __, notes: ___, asking, ...identity } = snapshot;
    this.identity = compact(identity);
    this.context = identity.onlooker === true ? onlookerContext(context) : context;
    this.codec = codecOf(this);
    this.#connection = connection;
    if (snapshot.phase === "connected") this.#restore(snapshot);
    // The command for which somebody was asked was lost with the object's memory, and would never be answered.
    if (asking === true) this.disconnect(disconnectCodes.internalServerError);
    this.observer = this.context.observe?.(this);
  }

  #restore({ subscriptions, cursors, notes }: SessionSnapshot): void {
    const { context, identity } = this;
    for (const granted of subscriptions) {
      const { channel } = granted;
      const restored = { cursor: cursors?.get(channel), note: notes?.get(channel) };
      const subscription = this.newSubscription(granted, restored);
      subscription.restored();
      this.subscriptions.add(subscription);
      context.channels.restore(subscription);
      // Only another release can read a filter. Without it the client would get every publication (rules D4, A17).
      const isFiltered = (granted.filter ?? granted.serverFilter) !== undefined;
      if (isFiltered && !subscription.filter) this.insufficientState(subscription);
    }
    this.accepted(identity.openedAtMs);
  }

  /** Whether the client's connect was accepted and the connection is open. */
  get hasConnected(): boolean {
    return this.identity.phase === "connected";
  }

  get closed(): boolean {
    return this.identity.phase === "closed";
  }

  get ignoresCommands(): boolean {
    const isOver = this.closed || this.identity.phase === "refused";
    return isOver || (this.unidirectional && !this.awaitsConnect);
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
    const { begunSnapshots: subscriptions, cursors } = this.subscriptions;
    const notes = this.context.deliveries && this.subscriptions.notes;
    return {
      ...this.identity,
      subscriptions,
      ...(cursors && { cursors }),
      ...(notes && { notes }),
    };
  }

  /**
   * Carries out one command, or queues it behind an earlier one. The hub sends what the command published when its
   * owner settles, but to this client before the publish reply (rule O4).
   *
   * @param tokens the command's own, verified already
   * @param busy   too much waits in the object already: a publish is refused (rule B6)
   */
  receive(command: Command, tokens: VerifiedTokens, nowMs: number, busy = false): void {
    this.#executor ??= new CommandExecutor(this);
    this.#executor.receive(command, tokens, nowMs, busy);
  }

  /**
   * Takes a keep-alive text that reached the object, because the platform answers another one or none at the moment, and
   * answers it as the platform would (rule K9). Unlike there, the rate is limited (rule B7).
   *
   * @param answer what the client is sent
   */
  answerKeepalive(answer: Message, nowMs: number): void {
    if (this.closed) return;
    this.#executor ??= new CommandExecutor(this);
    if (!this.#executor.allowsKeepalive(nowMs)) return;
    const { keepalive, awaitingPong } = this.identity;
    if (keepalive === "client") this.change({ pingedAtMs: nowMs });
    else if (awaitingPong === true) this.change({ awaitingPong: false });
    this.send(answer);
  }

  /**
   * Does what is due: closes a connection that is stale, expired or dead, ends expired subscriptions, and pings.
   *
   * @param pingTick whether some session of the object is due for a ping
   */
  tick(pingTick: boolean, nowMs: number): void {
    if (this.closed || this.connecting || this.held) return;
    if (this.#executor?.isIdle(nowMs) === true) this.#executor = undefined;
    if (this.identity.phase !== "connected") {
      if (nowMs >= staleAtMs(this, nowMs)) this.disconnect(disconnectCodes.stale);
      return;
    }
    if (endExpired(this, nowMs)) return;
    const { pingIntervalMs } = this.context.config.client;
    const heardAtMs = this.#heardAtMs();
    switch (heartbeat(this.identity, pingIntervalMs, pingTick, heardAtMs, nowMs)) {
      case "nothing":
        return;
      case "ping":
        this.#ping(heardAtMs, nowMs);
        return;
      case "no-pong":
      case "gone":
        this.disconnect(disconnectCodes.noPong);
        return;
      case "unknown":
        this.change({ pingedAtMs: nowMs });
    }
  }

  /** When the next ping is due, ms since 1970; Infinity for never. */
  pingDueAtMs(nowMs: number): number {
    return pingDueAtMs(this.identity, this.context.config.client.pingIntervalMs, nowMs);
  }

  /** When {@link tick} has to be called next, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    if (this.closed || this.connecting || this.held) return Number.POSITIVE_INFINITY;
    if (this.identity.phase !== "connected") return staleAtMs(this, nowMs);
    return Math.min(this.pingDueAtMs(nowMs), expiryDueAtMs(this));
  }

  /** Closes the connection from the server's side. */
  disconnect(code: DisconnectCode): void {
    if (this.closed) return;
    this.context.counts?.disconnected(code);
    this.ended(code, "server");
    this.#connection.close(...closingOf(this, code));
  }

  /**
   * The socket is closed, by either side: ends the session and its subscriptions.
   *
   * @param code of the close frame, if there was one
   */
  ended(code: DisconnectCode = connectionLost, by: "client" | "server" = "client"): void {
    if (this.closed) return;
    this.observer?.ended(code);
    this.context.clients?.ended(this, code.code, by);
    this.#executor?.clear();
    this.#waiting = undefined;
    const { joined } = this.subscriptions;
    this.subscriptions.clear();
    const hadConnected = this.hasConnected;
    if (hadConnected) this.context.counts?.ended();
    this.identity = compact({ ...this.identity, phase: "closed" });
    // Not by save(), which does nothing while a connect is under way: the platform may list the socket again after
    // hibernation, and the session has to be closed then, too (rule S4).
    this.#connection.save(this.snapshot);
    for (const subscription of joined) this.context.channels.unsubscribe(subscription);
    this.context.registrar?.ended(this, hadConnected);
  }

  accepted(nowMs: number): void {
    const { registrar } = this.context;
    registrar?.admit(this, nowMs);
    if (registrar && !this.closed) this.identity = compact(this.identity);
  }

  hold(): void {
    this.held = true;
    this.#connection.hold();
  }

  admitted(): void {
    if (this.closed) return;
    this.held = false;
    this.identity = compact(this.identity);
    this.save();
    this.observer?.accepted();
    this.#connection.release();
    for (const one of this.#waiting?.announcements.splice(0) ?? []) this.announce(one);
    this.#executor?.admitted();
  }

  refuse(rule: string, reason: string, code: DisconnectCode): void {
    if (this.closed) return;
    this.context.refused?.({ refused: "connect", rule, reason, code: code.code, user: this.user });
    this.disconnect(toldClose(code, reason, this.context.config.client));
  }

  whenConnected(work: () => void): void {
    if (this.connecting) this.#wait().works.push(work);
    else work();
  }

  unsubscribe(channel: string, code: UnsubscribeCode): void {
    this.subscriptions.dropFlow(channel);
    if (this.subscriptions.has(channel) && this.subscriptions.get(channel) === undefined)
      this.#wait().cancelled.add(channel);
    if (this.connecting) {
      this.leave(channel, code);
      this.#wait().pushes.push(this.codec.encodePush({ type: "unsubscribe", channel, code }));
    } else this.#unsubscribe(channel, code);
  }

  takeCancelled(channel: string): boolean {
    return this.#waiting?.cancelled.delete(channel) === true;
  }

  reportBegun(begun: readonly Subscription[]): void {
    this.observer?.begun(begun);
  }

  announce(subscription: Subscription): void {
    // It may have ended while the session was held.
    if (this.closed || this.subscriptions.get(subscription.channel) !== subscription) return;
    if (this.held) this.#wait().announcements.push(subscription);
    else this.context.channels.announce(subscription);
  }

  connected(): void {
    this.context.counts?.connected();
    for (const push of this.#waiting?.pushes.splice(0) ?? []) this.send(push);
    for (const work of this.#waiting?.works.splice(0) ?? []) work();
  }

  #wait(): WaitingWork {
    return (this.#waiting ??= new WaitingWork());
  }

  insufficientState(subscription: Subscription): void {
    const { channel, granted } = subscription;
    const isCurrent = this.subscriptions.get(channel) === subscription;
    // A client can renew a server-side subscription only by connecting again (docs/protocol.md 2.6), and in a dialect any.
    const isServers = granted.serverSide ?? this.identity.dialect !== undefined;
    if (this.connecting || (isCurrent && isServers))
      this.disconnect(disconnectCodes.insufficientState);
    else if (isCurrent) this.unsubscribe(channel, unsubscribeCodes.insufficientState);
  }

  awaitAnswer(isAwaited: boolean): void {
    const { asking: _, ...identity } = this.identity;
    this.identity = compact(isAwaited ? { ...identity, asking: true } : identity);
    // Not by save(), which does nothing while a connect is under way, for which somebody may be asked.
    if (isAwaited && !this.held && !this.closed) this.#connection.save(this.snapshot);
    else this.save();
  }

  change(changes: Changes | undefined): void {
    if (changes === undefined) return;
    this.identity = compact({ ...this.identity, ...changes });
    this.save();
  }

  save(): void {
    if (!this.connecting && !this.held && !this.closed) this.#connection.save(this.snapshot);
  }

  subscriptionChanged(): void {
    this.subscriptions.changed();
    this.save();
  }

  hasRoomForCursor(): boolean {
    return fitsCursors(this.identity, this.subscriptions.cursorCount + 1);
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

  newSubscription(granted: SubscriptionSnapshot, restored?: RestoredParts): Subscription {
    const info = clientInfo(this.identity, granted);
    return new Subscription(info, granted, this.codec, this.#connection, this, restored);
  }

  get answeredAtMs(): number | undefined {
    return this.#connection.answeredAtMs();
  }

  reply(reply: Reply, nowMs: number): boolean {
    const message = this.codec.encodeReply(reply);
    // A reply larger than `client.queue_max_size` could never be taken, so an error replaces it (rule F4).
    const isTooLarge = message.length > this.context.config.client.queueMaxSizeBytes;
    if (!isTooLarge && !this.#overloads(message)) {
      this.send(message);
      return true;
    }
    readInVain(this, nowMs);
    const error = isTooLarge ? errorCodes.limitExceeded : errorCodes.tooManyRequests;
    this.send(this.codec.encodeReply({ id: reply.id, error }));
    return false;
  }

  send(message: Message): void {
    // A command can end its own sender, and a closed socket is sent nothing (rule S4). In dialects some replies are empty.
    if (this.closed || message.length === 0) return;
    if (this.#deferred !== undefined) {
      this.#deferred.push(message);
      return;
    }
    // One small frame can request large replies, so a client that doesn't take its replies gets no more (rule F4).
    if (this.#wouldExceed(0)) this.disconnect(disconnectCodes.slow);
    else {
      this.#connection.send(message);
      this.context.backlog.sent(message.length);
    }
  }

  mustWait(message: Message): boolean {
    const isBehind = this.#connection.backlogBytes() > 0;
    return (isBehind && this.#wouldExceed(message.length)) || this.#overloads(message);
  }

  /** Whether the message is large, and the object's clients together have too large a backlog for it (rule B26). */
  #overloads({ length }: Message): boolean {
    return length > limits.smallReplyBytes && this.context.backlog.overloaded(length);
  }

  /** Whether the backlog would be too large with so many bytes more. */
  #wouldExceed(bytes: number): boolean {
    const { queueMaxSizeBytes } = this.context.config.client;
    return this.#connection.backlogBytes() + bytes > queueMaxSizeBytes;
  }

  leave(channel: string, code?: UnsubscribeCode): void {
    const subscription = this.subscriptions.get(channel);
    if (subscription === undefined) {
      this.subscriptions.dropFlow(channel);
      return;
    }
    this.observer?.unsubscribed(channel, code);
    this.context.clients?.unsubscribed(subscription, code?.code ?? 0);
    this.subscriptions.remove(channel);
    this.save();
    this.context.channels.unsubscribe(subscription);
    endDependents(this, channel, code);
  }

  #unsubscribe(channel: string, code: UnsubscribeCode): void {
    const replies: Message[] = [];
    const before = this.#deferred;
    this.#deferred = replies;
    this.context.counts?.unsubscribed(code);
    this.leave(channel, code);
    this.#deferred = before;
    this.send(this.codec.encodePush({ type: "unsubscribe", channel, code }));
    for (const reply of replies) this.send(reply);
  }

  #ping(answeredAtMs: number | undefined, nowMs: number): void {
    const isAsked = this.identity.noPongs !== true && !this.unidirectional;
    if (isAsked) this.context.deliveries?.pinging(this, answeredAtMs, nowMs);
    this.change({ pingedAtMs: nowMs, awaitingPong: isAsked });
    this.#connection.send(this.codec.ping);
  }

  /** See {@link heartbeat}. Of server-driven clients only what survives hibernation counts (rule S2). */
  #heardAtMs(): number | undefined {
    return this.identity.keepalive === "client"
      ? this.#connection.lastHeardMs()
      : this.#connection.answeredAtMs();
  }
}

/**
 * A copy made by one literal: V8 stores an object that grew name by name in more memory, and each connection has one.
 */
function compact(identity: SessionIdentity): SessionIdentity {
  const { phase, client, openedAtMs, keepalive, claims, ...others } = identity;
  if (claims === undefined) return identity;
  return { phase, client, openedAtMs, keepalive, claims, ...others };
}
