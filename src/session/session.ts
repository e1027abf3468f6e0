import type { ConnectionVerdict, SubscriptionVerdict } from "../access/claims.ts";
import type { Channel } from "../channel/channel.ts";
import type { Config } from "../config/config.ts";
import {
  type DisconnectCode,
  disconnectCodes,
  errorCodes,
  unsubscribeCodes,
} from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import {
  type Command,
  flagErrorOnUnrecoverable,
  type SubscribeRequest,
} from "../protocol/command.ts";
import type { Reply, SubscribeResult } from "../protocol/reply.ts";
import { type Asking, named, publish, readHistory, seePresence } from "./channel-commands.ts";
import { connect, fitsSnapshot, ttlSeconds } from "./connect-command.ts";
import type { Connection } from "./connection.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import { grantSubscription } from "./grant.ts";
import { heartbeat, pingDueAtMs } from "./heartbeat.ts";
import { refresh, subRefresh } from "./refresh-commands.ts";
import type { SessionSnapshot } from "./snapshot.ts";
import { clientInfo, Subscription } from "./subscription.ts";

/** What all sessions of an object share. */
export interface SessionContext {
  readonly config: Config;
  readonly channel: Channel;
  readonly codec: Codec;
  /** What the server calls itself to clients; never empty. */
  readonly version: string;
}

/** What became of the token that came with a command, already verified: that takes time, and a session takes none. */
export interface Verdicts {
  readonly connection?: ConnectionVerdict;
  readonly subscription?: SubscriptionVerdict;
}

/**
 * One client's connection to one channel, from its first command to its last (rules C1 to C8).
 * It holds nothing that its snapshot doesn't hold: thrown away and made again from the snapshot it goes on as if nothing
 * had happened.
 */
export class Session {
  readonly #context: SessionContext;
  readonly #connection: Connection;
  #snapshot: SessionSnapshot;
  #subscription: Subscription | undefined;
  /** Replies that must not overtake a publication that is still being collected; absent when none must wait. */
  #held: Message[] | undefined;
  #heldBytes = 0;

  /** Also takes up a session that slept: a subscription in the snapshot is a subscription again. */
  constructor(snapshot: SessionSnapshot, connection: Connection, context: SessionContext) {
    this.#snapshot = snapshot;
    this.#connection = connection;
    this.#context = context;
    if (snapshot.phase === "connected" && snapshot.subscription !== undefined) {
      const info = clientInfo(snapshot, snapshot.subscription);
      this.#subscription = new Subscription(info, snapshot.subscription, connection, this);
      context.channel.hub.add(this.#subscription);
    }
  }

  get closed(): boolean {
    return this.#snapshot.phase === "closed";
  }

  /**
   * Carries out one command. What it published is sent when the hub settles; its reply waits for that.
   *
   * @param busy too much waits already: a publish is refused (rule B6)
   */
  receive(command: Command, verdicts: Verdicts, nowMs: number, busy = false): void {
    const { phase } = this.#snapshot;
    if (phase === "closed" || phase === "refused") return;
    if (phase === "new" && command.method !== "connect") {
      this.disconnect(disconnectCodes.badRequest);
      return;
    }
    const refused = busy && command.method === "publish";
    const decision = refused
      ? failWith(errorCodes.tooManyRequests)
      : this.#decide(command, verdicts, nowMs);
    this.#apply(command, decision);
  }

  /** Does what is due: gives up who is stale, expired or gone, and pings. */
  tick(pingTick: boolean, nowMs: number): void {
    const { phase, claims, subscription } = this.#snapshot;
    const { client } = this.#context.config;
    if (phase === "closed") return;
    if (phase !== "connected") {
      if (nowMs >= this.#staleAtMs()) this.disconnect(disconnectCodes.stale);
      return;
    }
    if (nowMs >= endMs(claims?.expireAtSeconds, client.expiredCloseDelayMs)) {
      this.disconnect(disconnectCodes.connectionExpired);
      return;
    }
    if (nowMs >= endMs(subscription?.expireAtSeconds, client.expiredSubCloseDelayMs)) {
      this.#unsubscribeExpired();
    }
    const lastHeardMs = this.#connection.lastHeardMs();
    switch (heartbeat(this.#snapshot, client.pingIntervalMs, pingTick, lastHeardMs, nowMs)) {
      case "nothing":
        return;
      case "ping":
        this.#save({ ...this.#snapshot, pingedAtMs: nowMs, awaitingPong: true });
        this.#connection.send(this.#context.codec.ping);
        return;
      case "no-pong":
      case "gone":
        this.disconnect(disconnectCodes.noPong);
    }
  }

  /** When the next ping is due, ms since 1970; Infinity for never. */
  get pingDueAtMs(): number {
    return pingDueAtMs(this.#snapshot, this.#context.config.client.pingIntervalMs);
  }

  /** When {@link tick} has something to do, ms since 1970; Infinity for never. */
  get dueAtMs(): number {
    const { phase, claims, subscription } = this.#snapshot;
    const { client } = this.#context.config;
    if (phase === "closed") return Number.POSITIVE_INFINITY;
    if (phase !== "connected") return this.#staleAtMs();
    return Math.min(
      this.pingDueAtMs,
      endMs(claims?.expireAtSeconds, client.expiredCloseDelayMs),
      endMs(subscription?.expireAtSeconds, client.expiredSubCloseDelayMs),
    );
  }

  /** Closes the connection from our side. */
  disconnect(code: DisconnectCode): void {
    if (this.closed) return;
    this.#end();
    this.#connection.close(code);
  }

  /** The socket is gone, whoever closed it. */
  ended(): void {
    if (!this.closed) this.#end();
  }

  /** The publications that replies had to wait for went out. */
  flushed(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#heldBytes = 0;
    for (const message of held) this.#connection.send(message);
  }

  #decide(command: Command, verdicts: Verdicts, nowMs: number): Decision {
    const { config, channel, version } = this.#context;
    const snapshot = this.#snapshot;
    if (command.method === "pong") return pong(snapshot);
    const { id } = command;
    const asking: Asking = { id, snapshot, channel, config, nowMs };
    switch (command.method) {
      case "connect":
        return connect(id, snapshot, verdicts.connection, config.client, version, nowMs);
      case "subscribe":
        return this.#subscribe(id, command.request, verdicts.subscription, nowMs);
      case "unsubscribe": {
        if (command.request.channel === "") return disconnectWith(disconnectCodes.badRequest);
        const reply = { id, method: "unsubscribe" } as const;
        if (command.request.channel !== snapshot.subscription?.channel)
          return { outcome: "reply", reply };
        return { outcome: "left", reply, snapshot: withoutSubscription(snapshot) };
      }
      case "publish":
        return publish(asking, command.request);
      case "presence":
      case "presence_stats":
        return seePresence(asking, command.request, command.method);
      case "history":
        return readHistory(asking, command.request);
      case "refresh":
        return refresh(id, snapshot, verdicts.connection, nowMs);
      case "sub_refresh":
        return subRefresh(id, command.request, snapshot, verdicts.subscription, nowMs);
      case "rpc":
        return failWith(errorCodes.notAvailable);
      case "send":
        return disconnectWith(disconnectCodes.notAvailable);
      case "ping":
        return disconnectWith(disconnectCodes.badRequest);
    }
  }

  #subscribe(
    id: number,
    request: SubscribeRequest,
    verdict: SubscriptionVerdict | undefined,
    nowMs: number,
  ): Decision {
    const { config, channel } = this.#context;
    const found = named(request.channel, channel, config.channel);
    if (found.outcome !== "resolved") return found;
    if (this.#subscription !== undefined) return failWith(errorCodes.alreadySubscribed);
    const { client, claims } = this.#snapshot;
    const grant = grantSubscription(
      request,
      found,
      { client, user: claims?.user ?? "" },
      verdict,
      nowMs,
    );
    if (grant.outcome !== "granted") return grant;
    const snapshot: SessionSnapshot = { ...this.#snapshot, subscription: grant.subscription };
    if (!fitsSnapshot(snapshot)) return failWith(errorCodes.limitExceeded);
    const info = clientInfo(snapshot, grant.subscription);
    const subscription = new Subscription(info, grant.subscription, this.#connection, this);
    const recovering = grant.recoverable && request.recover;
    const joined = channel.join(
      subscription,
      {
        positioned: grant.positioned,
        orFail: (request.flag & flagErrorOnUnrecoverable) !== 0,
        ...(recovering ? { since: { offset: request.offset, epoch: request.epoch } } : {}),
      },
      nowMs,
    );
    if (joined.outcome !== "joined") return failWith(errorCodes.unrecoverablePosition);
    this.#subscription = subscription;
    const { position, recovered, publications } = joined;
    const result: SubscribeResult = {
      ttlSeconds: ttlSeconds(grant.subscription.expireAtSeconds, nowMs),
      recoverable: grant.recoverable,
      positioned: grant.positioned,
      wasRecovering: recovering,
      recovered,
      publications,
      // A client that recovered walks from where it was through the publications to the top (reference 2.2).
      ...(position === undefined
        ? {}
        : { position: recovered ? { ...position, offset: request.offset } : position }),
      ...(grant.data === undefined ? {} : { data: grant.data }),
    };
    return { outcome: "joined", reply: { id, method: "subscribe", result }, snapshot };
  }

  #apply(command: Command, decision: Decision): void {
    const { channel, codec } = this.#context;
    switch (decision.outcome) {
      case "disconnect":
        this.disconnect(decision.code);
        return;
      case "silent":
        this.#save(decision.snapshot);
        return;
      case "error":
        this.#save(decision.snapshot);
        if (command.method !== "pong") this.#reply({ id: command.id, error: decision.error });
        return;
      case "reply":
        this.#save(decision.snapshot);
        if (command.method.endsWith("refresh")) this.#showRefreshed();
        if (command.method === "publish") this.#holdUntilFlushed();
        this.#reply(decision.reply);
        return;
      case "joined":
        this.#save(decision.snapshot);
        // Never too large: the channel measured what is recovered.
        this.#send(codec.encodeReply(decision.reply));
        if (this.#subscription?.announced === true)
          channel.hub.announce("join", this.#subscription.info);
        return;
      case "left":
        this.#save(decision.snapshot);
        this.#leave();
        this.#reply(decision.reply);
    }
  }

  /** Holds back what follows a publication that is still to be sent, until it is (rule O4). */
  #holdUntilFlushed(): void {
    const { hub } = this.#context.channel;
    if (!hub.collecting || this.#subscription === undefined || this.#held !== undefined) return;
    this.#held = [];
    hub.callAfterFlush(this.#subscription);
  }

  /** A reply that is larger than all that may wait for the client is an error instead (rule B1). */
  #reply(reply: Reply): void {
    const { codec, config } = this.#context;
    const message = codec.encodeReply(reply);
    const fits = message.length <= config.client.queueMaxSizeBytes;
    const refusal: Reply = { id: reply.id, error: errorCodes.limitExceeded };
    this.#send(fits ? message : codec.encodeReply(refusal));
  }

  #send(message: Message): void {
    // Carrying out a command can cut its own sender as too slow; a closed socket is sent nothing (rule S4).
    if (this.closed) return;
    // One small frame can ask for much: who doesn't take the answers gets no more of them (rule F4).
    const behindBytes = this.#connection.backlogBytes() + this.#heldBytes;
    if (behindBytes > this.#context.config.client.queueMaxSizeBytes) {
      this.disconnect(disconnectCodes.slow);
      return;
    }
    if (this.#held === undefined) this.#connection.send(message);
    else {
      this.#held.push(message);
      this.#heldBytes += message.length;
    }
  }

  #unsubscribeExpired(): void {
    const { channel, codec } = this.#context;
    this.#save(withoutSubscription(this.#snapshot));
    this.#leave();
    const code = unsubscribeCodes.subscriptionExpired;
    this.#send(codec.encodePush({ type: "unsubscribe", channel: channel.name, code }));
  }

  #end(): void {
    this.#save({ ...withoutSubscription(this.#snapshot), phase: "closed" });
    this.#leave();
    this.#held = undefined;
  }

  /** The new token's info is what others see from now on, as they would after sleep (rule S2). */
  #showRefreshed(): void {
    if (this.#subscription === undefined) return;
    this.#subscription.info = clientInfo(this.#snapshot, this.#snapshot.subscription);
  }

  #leave(): void {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    if (subscription !== undefined) this.#context.channel.leave(subscription);
  }

  #save(snapshot: SessionSnapshot | undefined): void {
    if (snapshot === undefined) return;
    this.#snapshot = snapshot;
    this.#connection.save(snapshot);
  }

  #staleAtMs(): number {
    return this.#snapshot.openedAtMs + this.#context.config.client.staleCloseDelayMs;
  }
}

function pong(snapshot: SessionSnapshot): Decision {
  // An answer nobody asked for keeps a dead connection looking alive (reference 1.4, item 7).
  if (snapshot.awaitingPong !== true) return disconnectWith(disconnectCodes.badRequest);
  return { outcome: "silent", snapshot: { ...snapshot, awaitingPong: false } };
}

function withoutSubscription(snapshot: SessionSnapshot): SessionSnapshot {
  const { subscription: _, ...rest } = snapshot;
  return rest;
}

function endMs(expireAtSeconds: number | undefined, delayMs: number): number {
  if (expireAtSeconds === undefined || expireAtSeconds === 0) return Number.POSITIVE_INFINITY;
  return expireAtSeconds * 1000 + delayMs;
}
