import type { Recipient } from "../hub/recipient.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import type { Message } from "../protocol/codec.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import type { Connection } from "./connection.ts";
import type { KeptPosition, SessionIdentity, SubscriptionSnapshot } from "./snapshot.ts";

/** What a subscription needs of the session it belongs to. */
export interface Subscriber {
  /** The publications that replies had to wait for went out. */
  flushed(channel: string): void;
  disconnect(code: DisconnectCode): void;
  /** Something of the stream is missing and can't be had: the client is told, and the subscription ends. */
  lost(channel: string): void;
  /** Notes how far a gateway is with the channel, where it survives sleep; false when there is no room for that. */
  keep(channel: string, position: KeptPosition): boolean;
}

/** One session's subscription to one channel, as the hub and the relay see it. */
export class Subscription implements Recipient {
  readonly channel: string;
  /** Changes when a refreshed token says something else of the client. */
  info: ClientInfo;
  readonly present: boolean;
  readonly announced: boolean;
  readonly hearsJoinLeave: boolean;
  /** The user's other connections on this channel give way to this one. */
  readonly sole: boolean;
  /** How far a gateway was with the channel when it fell asleep, if it was this subscription that had to remember it. */
  readonly kept: KeptPosition | undefined;
  readonly #connection: Connection;
  readonly #session: Subscriber;
  /** Frames that must wait for the reply that tells of the subscription; absent once it was sent. */
  #held: Message[] | undefined;
  #heldBytes = 0;
  #replaceable: boolean;

  constructor(
    info: ClientInfo,
    granted: SubscriptionSnapshot,
    connection: Connection,
    session: Subscriber,
    kept?: KeptPosition,
  ) {
    this.channel = granted.channel;
    this.info = info;
    this.present = granted.present;
    this.announced = granted.announced;
    this.hearsJoinLeave = granted.hearsJoinLeave;
    this.sole = granted.sole === true;
    this.kept = kept;
    this.#replaceable = !this.sole;
    this.#connection = connection;
    this.#session = session;
  }

  /** From here on frames wait, until {@link release}: the subscription begins before the client hears of it (rule O3). */
  hold(): void {
    this.#held = [];
  }

  /** The client knows of the subscription: what waited goes out. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#heldBytes = 0;
    for (const frame of held) this.#connection.send(frame);
  }

  send(frame: Message): void {
    if (this.#held === undefined) {
      this.#connection.send(frame);
      return;
    }
    this.#held.push(frame);
    this.#heldBytes += frame.length;
  }

  backlogBytes(): number {
    return this.#connection.backlogBytes() + this.#heldBytes;
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

  lost(): void {
    this.#session.lost(this.channel);
  }

  keep(position: KeptPosition): boolean {
    return this.#session.keep(this.channel, position);
  }
}

/** What others may know of a session: in a channel with its channel info, elsewhere without. */
export function clientInfo(session: SessionIdentity, granted?: SubscriptionSnapshot): ClientInfo {
  const { client, claims } = session;
  return {
    user: claims?.user ?? "",
    client,
    ...(claims?.info === undefined ? {} : { connInfo: claims.info }),
    ...(granted?.chanInfo === undefined ? {} : { chanInfo: granted.chanInfo }),
  };
}
