import type { Subscriber } from "../hub/subscriber.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import { type TagsFilter, tagsFilter } from "../hub/tags-filter.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import type {
  Cursor,
  SessionIdentity,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";

/** What a subscription needs of the session it belongs to. */
export interface SubscriptionSession {
  /** The replies that may wait for the subscription's publications. */
  readonly outbox: { flushed(channel: string): void };
  /** Whether the session's attachment has room for one more cursor (rule L7). */
  hasRoomForCursor(): boolean;
  /** Saves the session, so that it survives hibernation. */
  save(): void;
  /** The subscription began, or its grant changed: the same as {@link save}, with the new grant. */
  subscriptionChanged(): void;
  disconnect(code: DisconnectCode): void;
  /** Ends the subscription, or the connection, because publications are missing and can't be had (rule L3). */
  insufficientState(subscription: Subscription): void;
}

/** The socket of a subscription's session. */
interface Socket {
  send(frame: Message): void;
  backlogBytes(): number;
}

/** One session's subscription to one channel, as the hub and the relay see it. */
export class Subscription implements Subscriber {
  /** Changes when a refreshed token says something else of the client. */
  info: ClientInfo;
  /** What it counts for in the gateway that holds it, as its texts were then; undefined where it doesn't count. */
  heldBytes: number | undefined;
  readonly codec: Codec;
  readonly filter: TagsFilter | undefined;
  deltaBase: Payload | undefined;
  readonly #connection: Socket;
  readonly #session: SubscriptionSession;
  #granted: SubscriptionSnapshot;
  #begun = false;
  #cursor: Cursor | undefined;
  /** Frames that must wait for the reply that tells of the subscription; absent once it was sent. */
  #waiting: Message[] | undefined;
  #waitingBytes = 0;
  #replaceable: boolean;

  constructor(
    info: ClientInfo,
    granted: SubscriptionSnapshot,
    codec: Codec,
    connection: Socket,
    session: SubscriptionSession,
    cursor?: Cursor,
  ) {
    this.info = info;
    this.codec = codec;
    this.filter = granted.filter === undefined ? undefined : tagsFilter(granted.filter);
    this.#granted = granted;
    this.#cursor = cursor;
    this.#replaceable = !this.exclusive;
    this.#connection = connection;
    this.#session = session;
  }

  /** As it is saved. Changes, but for the channel's name, when its token is renewed. */
  get granted(): SubscriptionSnapshot {
    return this.#granted;
  }

  /** The client has been told, or is about to be, that it is subscribed. */
  get begun(): boolean {
    return this.#begun;
  }

  /** How far the gateway is with the channel, if it is this subscription that has to remember it across sleep. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  get channel(): string {
    return this.#granted.channel;
  }

  get present(): boolean {
    return this.#granted.present;
  }

  get announced(): boolean {
    return this.#granted.announced;
  }

  get hearsJoinLeave(): boolean {
    return this.#granted.hearsJoinLeave;
  }

  get delta(): boolean {
    return this.#granted.delta === true;
  }

  /** The user's other connections on this channel give way to this one. */
  get exclusive(): boolean {
    return this.#granted.sole === true;
  }

  /** From here on it counts among the session's subscriptions, and survives sleep. */
  begin(): void {
    this.#begun = true;
    this.#session.subscriptionChanged();
  }

  /** Slept, and so began, and was heard of by the others, long ago. */
  restored(): void {
    this.#begun = true;
    this.#replaceable = true;
  }

  /** Its token was renewed. */
  renew(granted: SubscriptionSnapshot, identity: SessionIdentity): void {
    this.#granted = granted;
    this.#session.subscriptionChanged();
    this.updateInfo(identity);
  }

  /** Shows others what the session's token says of the client now. */
  updateInfo(identity: SessionIdentity): void {
    this.info = clientInfo(identity, this.#granted);
  }

  /** Also notes, where it survives sleep, whether the client has the newest of the stream: what has no offset isn't in it. */
  taking({ data, offset }: Publication): void {
    this.deltaBase = data;
    const hasNewest = offset > 0;
    if (hasNewest === (this.#granted.hasNewest === true)) return;
    this.#granted = { ...this.#granted, hasNewest };
    this.#session.subscriptionChanged();
  }

  /** The client doesn't have it after all. */
  forgetBase(): void {
    this.deltaBase = undefined;
    this.#granted = { ...this.#granted, hasNewest: false };
  }

  /** From here on frames wait, until {@link resume}: the subscription begins before the client hears of it (rule O3). */
  pause(): void {
    this.#waiting = [];
  }

  /** The client knows of the subscription: what waited goes out. */
  resume(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    for (const frame of waiting) this.#connection.send(frame);
  }

  send(frame: Message): void {
    if (this.#waiting === undefined) {
      this.#connection.send(frame);
      return;
    }
    this.#waiting.push(frame);
    this.#waitingBytes += frame.length;
  }

  backlogBytes(): number {
    return this.#connection.backlogBytes() + this.#waitingBytes;
  }

  flushed(): void {
    this.#session.outbox.flushed(this.channel);
  }

  disconnect(code: DisconnectCode): void {
    this.#session.disconnect(code);
  }

  /**
   * A connection of the same user wants to be the only one. Of two that come at once the later one stays: so nobody gives
   * way before its own wish was heard.
   */
  replacedBy(client: string): void {
    if (client === this.info.client) this.#replaceable = true;
    else if (this.#replaceable) this.#session.disconnect(disconnectCodes.connectionLimit);
  }

  /** Something of the stream is missing and can't be had: the client is told, and the subscription ends. */
  insufficientState(): void {
    this.#session.insufficientState(this);
  }

  /** Notes how far the gateway is with the channel, where it survives sleep; false when there is no room for that. */
  keep(cursor: Cursor): boolean {
    // An older cursor must not be left behind: what came after it would be passed on again.
    this.#cursor = undefined;
    const fits = this.#session.hasRoomForCursor();
    if (fits) this.#cursor = cursor;
    this.#session.save();
    return fits;
  }
}

/** What others may know of a session: in a channel with its channel info, elsewhere without. */
export function clientInfo(session: SessionIdentity, granted?: SubscriptionSnapshot): ClientInfo {
  const { client, claims } = session;
  const user = claims?.user ?? "";
  if (claims?.info === undefined && granted?.chanInfo === undefined) return { user, client };
  return {
    user,
    client,
    ...(claims?.info === undefined ? {} : { connInfo: claims.info }),
    ...(granted?.chanInfo === undefined ? {} : { chanInfo: granted.chanInfo }),
  };
}
