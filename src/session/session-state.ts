import { type DisconnectCode, disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import { codecNamed } from "../protocol/codecs.ts";
import type { Reply } from "../protocol/reply.ts";
import { fitsInside, fitsKept, fitsRow } from "../contract/attachment.ts";
import type { Connection, SessionContext } from "./ports.ts";
import type { Changes } from "./decision.ts";
import { Outbox } from "./outbox.ts";
import type {
  Cursor,
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";
import { clientInfo, type SubscriptionOwner, Subscription } from "./subscription.ts";
import { Subscriptions } from "./subscriptions.ts";

/** What one client is, has and was sent: the part of a session that its commands share. */
export class SessionState {
  readonly context: SessionContext;
  readonly codec: Codec;
  readonly subscriptions = new Subscriptions();
  /** Who the client is. What it is subscribed to is in `subscriptions`. */
  identity: SessionIdentity;
  /** A connect waits for the server's subscriptions; until then nothing is remembered. */
  connecting = false;
  readonly #connection: Connection;
  readonly #outbox: Outbox;

  constructor(snapshot: SessionSnapshot, connection: Connection, context: SessionContext) {
    const { subscriptions: _, cursors: __, ...identity } = snapshot;
    this.identity = compact(identity);
    this.codec = codecNamed(identity.codec);
    this.context = context;
    this.#connection = connection;
    this.#outbox = new Outbox(connection, context.config.client.queueMaxSizeBytes);
  }

  get closed(): boolean {
    return this.identity.phase === "closed";
  }

  /** Whether the client only listens: then nothing is answered. */
  get unidirectional(): boolean {
    return this.codec.name === "one_way";
  }

  get user(): string {
    return this.identity.claims?.user ?? "";
  }

  get snapshot(): SessionSnapshot {
    const { list, cursors } = this.subscriptions;
    return { ...this.identity, subscriptions: list, ...(cursors === undefined ? {} : { cursors }) };
  }

  /** When the client was last heard; see {@link HeldConnection}. */
  get lastHeardMs(): number | undefined {
    return this.#connection.lastHeardMs();
  }

  change(changes: Changes | undefined): void {
    if (changes === undefined) return;
    this.identity = compact({ ...this.identity, ...changes });
    this.save();
  }

  save(): void {
    this.#connection.save(this.snapshot);
  }

  /** Something is different about a subscription; one that hasn't begun is remembered when it does. */
  changed(granted: SubscriptionSnapshot): void {
    this.subscriptions.replace(granted);
    if (!this.connecting && !this.closed) this.save();
  }

  /** Notes how far the gateway is with a channel; false when there is no room for that. */
  keep(channel: string, cursor: Cursor): boolean {
    const { cursors } = this.subscriptions;
    const others = (cursors?.size ?? 0) - (cursors?.has(channel) === true ? 1 : 0);
    const fits = fitsKept(this.identity.claims, others + 1);
    // An older position must not be left behind: what came after it would be passed on again.
    this.subscriptions.keep(channel, fits ? cursor : undefined);
    if (!this.connecting) this.save();
    return fits;
  }

  /** Whether a session with these subscriptions, or claims, could be remembered (rules S1, G2). */
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

  newSubscription(
    granted: SubscriptionSnapshot,
    subscriber: SubscriptionOwner,
    cursor?: Cursor,
  ): Subscription {
    const info = clientInfo(this.identity, granted);
    return new Subscription(info, granted, this.codec, this.#connection, subscriber, cursor);
  }

  /**
   * A reply that is larger than all that may wait for the client is an error instead (rule B1).
   *
   * @param after the channel whose collected publications have to go out first
   */
  reply(reply: Reply, after?: string): void {
    const { codec } = this;
    const { config } = this.context;
    const message = codec.encodeReply(reply);
    const fits = message.length <= config.client.queueMaxSizeBytes;
    const refusal: Reply = { id: reply.id, error: errorCodes.limitExceeded };
    this.send(fits ? message : codec.encodeReply(refusal), after);
  }

  /** @param sent is called when the message went out: at once, or when those before it did */
  send(message: Message, after?: string, sent?: () => void): void {
    // Carrying out a command can cut its own sender as too slow; a closed socket is sent nothing (rule S4).
    if (this.closed) return;
    // One small frame can ask for much: who doesn't take the answers gets no more of them (rule F4).
    if (this.#outbox.wouldExceed(0)) this.disconnect(disconnectCodes.slow);
    else this.#outbox.send(message, after, sent);
  }

  /** Whether an answer of this size has to wait until the client has taken what is under way to it. */
  mustWait(message: Message): boolean {
    return this.#outbox.behind && this.#outbox.wouldExceed(message.length);
  }

  /** Asks the client whether it is there. */
  ping(nowMs: number): void {
    // Who only listens has no way to answer.
    this.change({ pingedAtMs: nowMs, awaitingPong: !this.unidirectional });
    this.#connection.send(this.codec.ping);
  }

  flushed(channel: string): void {
    this.#outbox.flushed(channel);
  }

  /** Closes the connection from our side. */
  disconnect(code: DisconnectCode): void {
    if (this.closed) return;
    this.end();
    this.#connection.close(code);
  }

  /** The connection is over, and so are its subscriptions. */
  end(): void {
    if (this.closed) return;
    const all = this.subscriptions.all;
    this.subscriptions.clear();
    this.change({ phase: "closed" });
    for (const subscription of all) this.context.channels.unsubscribe(subscription);
    this.#outbox.clear();
  }
}

/** The same, but made in one go: an object that grew name by name takes more memory, and each connection has one of these. */
function compact(identity: SessionIdentity): SessionIdentity {
  const { phase, client, openedAtMs, keepalive, claims, ...others } = identity;
  if (claims === undefined) return identity;
  return { phase, client, openedAtMs, keepalive, claims, ...others };
}
