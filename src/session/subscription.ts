import type { Subscriber } from "../hub/subscriber.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import { type TagsFilter, tagsFilter } from "../protocol/tags-filter.ts";
import type {
  Cursor,
  DeliveryNote,
  SessionIdentity,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";

/**
 * One session's subscription to one channel. The hub sends to it, and a gateway stores its cursor in it. A subscription
 * owns its grant, its cursor and the frames that wait for the connect reply; its session saves and disconnects.
 */
export class Subscription implements Subscriber {
  /** Shown to other clients. Changes when a refreshed token carries other info. */
  info: ClientInfo;
  /**
   * The memory for which the gateway counts the subscription, in bytes; undefined while the gateway doesn't count it.
   */
  heldBytes: number | undefined;
  readonly codec: Codec;
  readonly filter: TagsFilter | undefined;
  deltaBase: Payload | undefined;
  recoveredTo: number | undefined;
  /** What is known to have arrived at the client; undefined where nobody wants to know it. */
  note: DeliveryNote | undefined;
  readonly #connection: Socket;
  readonly #session: SubscriptionSession;
  #granted: SubscriptionSnapshot;
  #begun = false;
  #cursor: Cursor | undefined;
  /** Frames that wait for the connect reply; undefined once it is sent, and for client-side subscriptions. */
  #waiting: Message[] | undefined;
  #waitingBytes = 0;
  /** See {@link replacedBy}. */
  #replaceable: boolean;

  constructor(
    info: ClientInfo,
    granted: SubscriptionSnapshot,
    codec: Codec,
    connection: Socket,
    session: SubscriptionSession,
    { cursor, note }: RestoredParts = {},
  ) {
    this.info = info;
    this.codec = codec;
    this.filter = filterOf(granted);
    this.#granted = granted;
    this.#cursor = cursor;
    this.note = note;
    this.#connection = connection;
    this.#session = session;
    this.#replaceable = !this.exclusive;
  }

  /** As it is saved. A renewed token changes everything but the channel's name. */
  get granted(): SubscriptionSnapshot {
    return this.#granted;
  }

  /** Whether the client has received that it is subscribed, or is about to receive it. */
  get begun(): boolean {
    return this.#begun;
  }

  /** How far the gateway is with the channel, if this subscription stores that for the gateway (rule L7). */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  get channel(): string {
    return this.#granted.channel;
  }

  /** The session, for those who ask whether the client has answered a ping. */
  get answering(): AnsweringSession {
    return this.#session;
  }

  /** Whether it is an onlooker's (rule N26): whatever was granted, others aren't shown it. */
  get onlooks(): boolean {
    return this.#session.identity.onlooker === true;
  }

  get present(): boolean {
    return this.#granted.present && !this.onlooks;
  }

  get hidden(): boolean {
    return this.#granted.hidden === true || this.onlooks;
  }

  get announced(): boolean {
    return this.#granted.announced && !this.onlooks;
  }

  get hearsJoinLeave(): boolean {
    return this.#granted.hearsJoinLeave;
  }

  get delta(): boolean {
    return this.#granted.delta === true;
  }

  /** Whether the server holds publications back, which the client mustn't read in the history either (rule A17). */
  get serverFiltered(): boolean {
    return this.#granted.serverFilter !== undefined;
  }

  /** Whether the user's other connections on this channel are closed for this one (rule C10). Stored as `sole`. */
  get exclusive(): boolean {
    return this.#granted.sole === true && !this.onlooks;
  }

  /** From here on the subscription is saved with the session. */
  begin(): void {
    this.#begun = true;
    this.#session.subscriptionChanged();
  }

  /** Marks a subscription that began, and was announced, before the object hibernated. */
  restored(): void {
    this.#begun = true;
    this.#replaceable = true;
  }

  /** Replaces the grant after a `sub_refresh`. */
  renew(granted: SubscriptionSnapshot, identity: SessionIdentity): void {
    this.#granted = granted;
    this.#session.subscriptionChanged();
    this.updateInfo(identity);
  }

  /** Shows other clients what the session's current token says of this client. */
  updateInfo(identity: SessionIdentity): void {
    this.info = clientInfo(identity, this.#granted);
  }

  /**
   * Notes the payload that a delta subscriber is about to be sent, as base of the next delta (rule D2). Also saves
   * whether that is the newest publication of the history; a publication without an offset isn't in the history.
   */
  noteSent({ data, offset, key }: Publication): void {
    // The base of a map's delta is what the client holds of the key, which each publication brings itself.
    if (key !== undefined) return;
    this.deltaBase = data;
    const hasNewest = offset > 0;
    if (hasNewest === (this.#granted.hasNewest === true)) return;
    this.#granted = { ...this.#granted, hasNewest };
    this.#session.subscriptionChanged();
  }

  /** Reverts {@link noteSent}: the publication isn't sent after all. */
  forgetBase(): void {
    this.deltaBase = undefined;
    this.#granted = { ...this.#granted, hasNewest: false };
  }

  /**
   * Stores whether the subscription tracks keys: if these are lost, the server has to end the subscription (rule SP8).
   */
  tracksKeys(tracks: boolean): void {
    if (tracks === (this.#granted.tracks === true)) return;
    const { tracks: _, ...others } = this.#granted;
    this.#granted = tracks ? { ...others, tracks } : others;
    this.#session.subscriptionChanged();
  }

  /** Holds frames back until {@link resume}: a server-side subscription begins before the connect reply (rule O3). */
  pause(): void {
    this.#waiting = [];
  }

  /** Sends the frames that waited: the reply has been sent. */
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

  disconnect(code: DisconnectCode): void {
    this.#session.disconnect(code);
  }

  /**
   * Closes the connection for another exclusive connection of the same user (rule C10). Of two that open at the same
   * time the later one stays: so an exclusive connection isn't closed before its own entry has come.
   *
   * @param client the exclusive connection, which may be this one
   */
  replacedBy(client: string): void {
    if (this.onlooks) return;
    if (client === this.info.client) this.#replaceable = true;
    else if (this.#replaceable) this.#session.disconnect(disconnectCodes.connectionLimit);
  }

  /** Ends the subscription, and tells the client, because publications are missing and can't be read (rule L3). */
  insufficientState(): void {
    this.#session.insufficientState(this);
  }

  /**
   * Stores how far the gateway is with the channel, so that it survives hibernation; false if there is no room (rule
   * L7).
   */
  keep(cursor: Cursor): boolean {
    // Without room the old cursor must go, too: a gateway restored from it would repeat all entries after it.
    this.#cursor = undefined;
    const fits = this.#session.hasRoomForCursor();
    if (fits) this.#cursor = cursor;
    this.#session.save();
    return fits;
  }
}

/** The filters of the client and of the server together; undefined without both, and if one of them can't be read. */
function filterOf({ filter, serverFilter }: SubscriptionSnapshot): TagsFilter | undefined {
  const own = filter === undefined ? undefined : tagsFilter(filter);
  if (serverFilter === undefined) return own;
  const server = tagsFilter(serverFilter);
  if (server === undefined || filter === undefined) return server;
  return own === undefined
    ? undefined
    : {
        text: `${server.text} ${own.text}`,
        matches: (tags) => server.matches(tags) && own.matches(tags),
      };
}

/** What a subscription had when the object hibernated. */
export interface RestoredParts {
  readonly cursor?: Cursor | undefined;
  readonly note?: DeliveryNote | undefined;
}

/** A session, as far as the answers to its pings are concerned. */
export interface AnsweringSession {
  readonly identity: SessionIdentity;
  /** When the platform last answered the client, or the edge in its place, ms since 1970; undefined for never. */
  readonly answeredAtMs: number | undefined;
}

/** The session as its subscriptions see it. */
export interface SubscriptionSession extends AnsweringSession {
  /** Whether the session's attachment has room for one more cursor (rule L7). */
  hasRoomForCursor(): boolean;
  /** Saves the session, so that it survives hibernation (rule S1). */
  save(): void;
  /** Saves the session after the subscription has begun, or its grant has changed. */
  subscriptionChanged(): void;
  disconnect(code: DisconnectCode): void;
  /** Ends the subscription, or the connection, because publications are missing and can't be read (rule L3). */
  insufficientState(subscription: Subscription): void;
}

/** The socket of a subscription's session. */
interface Socket {
  send(frame: Message): void;
  backlogBytes(): number;
}

/** The client info that other clients are shown: with the channel's info if it is subscribed, without otherwise. */
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
