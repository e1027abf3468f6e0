import type { Subscriber } from "../hub/subscriber.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import { type TagsFilter, tagsFilter } from "../hub/tags-filter.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import type { Connection } from "./ports.ts";
import type {
  Cursor,
  SessionIdentity,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";

/** What a subscription needs of the session it belongs to. */
export interface SubscriptionOwner {
  /** The publications that replies had to wait for went out. */
  flushed(channel: string): void;
  disconnect(code: DisconnectCode): void;
  /** Something of the stream is missing and can't be had: the client is told, and the subscription ends. */
  insufficientState(channel: string): void;
  /** Notes how far a gateway is with the channel, where it survives sleep; false when there is no room for that. */
  keep(channel: string, cursor: Cursor): boolean;
  /** Something is different about a subscription, and has to survive sleep. */
  changed(granted: SubscriptionSnapshot): void;
}

/** One session's subscription to one channel, as the hub and the relay see it. */
export class Subscription implements Subscriber {
  /** Changes when a refreshed token says something else of the client. */
  info: ClientInfo;
  /** Changes, but for the channel's name, when its token is renewed. */
  granted: SubscriptionSnapshot;
  /** The client has been told, or is about to be, that it is subscribed. */
  begun = false;
  /** How far the gateway is with the channel, if it is this subscription that has to remember it across sleep. */
  cursor: Cursor | undefined;
  /** What it counts for in the gateway that holds it, as its texts were then; undefined where it doesn't count. */
  heldBytes: number | undefined;
  readonly codec: Codec;
  readonly filter: TagsFilter | undefined;
  deltaBase: Payload | undefined;
  readonly #connection: Connection;
  readonly #session: SubscriptionOwner;
  /** Frames that must wait for the reply that tells of the subscription; absent once it was sent. */
  #waiting: Message[] | undefined;
  #waitingBytes = 0;
  #replaceable: boolean;

  constructor(
    info: ClientInfo,
    granted: SubscriptionSnapshot,
    codec: Codec,
    connection: Connection,
    session: SubscriptionOwner,
    cursor?: Cursor,
  ) {
    this.info = info;
    this.granted = granted;
    this.codec = codec;
    this.filter = granted.filter === undefined ? undefined : tagsFilter(granted.filter);
    this.cursor = cursor;
    this.#replaceable = !this.exclusive;
    this.#connection = connection;
    this.#session = session;
  }

  get channel(): string {
    return this.granted.channel;
  }

  get present(): boolean {
    return this.granted.present;
  }

  get announced(): boolean {
    return this.granted.announced;
  }

  get hearsJoinLeave(): boolean {
    return this.granted.hearsJoinLeave;
  }

  get delta(): boolean {
    return this.granted.delta === true;
  }

  /** Also notes, where it survives sleep, whether the client has the newest of the stream: what has no offset isn't in it. */
  taking({ data, offset }: Publication): void {
    this.deltaBase = data;
    const hasNewest = offset > 0;
    if (hasNewest === (this.granted.hasNewest === true)) return;
    this.granted = { ...this.granted, hasNewest };
    this.#session.changed(this.granted);
  }

  /** The client doesn't have it after all. */
  forgetBase(): void {
    this.deltaBase = undefined;
    this.granted = { ...this.granted, hasNewest: false };
  }

  /** The user's other connections on this channel give way to this one. */
  get exclusive(): boolean {
    return this.granted.sole === true;
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
    this.#session.flushed(this.channel);
  }

  disconnect(code: DisconnectCode): void {
    this.#session.disconnect(code);
  }

  /** Slept, and so was heard of by the others long ago. */
  restored(): void {
    this.#replaceable = true;
  }

  /**
   * A connection of the same user wants to be the only one. Of two that come at once the later one stays: so nobody gives
   * way before its own wish was heard.
   */
  replacedBy(client: string): void {
    if (client === this.info.client) this.#replaceable = true;
    else if (this.#replaceable) this.#session.disconnect(disconnectCodes.connectionLimit);
  }

  insufficientState(): void {
    this.#session.insufficientState(this.channel);
  }

  keep(cursor: Cursor): boolean {
    return this.#session.keep(this.channel, cursor);
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
