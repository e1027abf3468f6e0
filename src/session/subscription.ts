import type { Recipient } from "../hub/recipient.ts";
import type { DisconnectCode } from "../protocol/codes.ts";
import type { Message } from "../protocol/codec.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import type { Connection } from "./connection.ts";
import type { SessionSnapshot, SubscriptionSnapshot } from "./snapshot.ts";

/** What a subscription needs of the session it belongs to. */
export interface Subscriber {
  flushed(): void;
  disconnect(code: DisconnectCode): void;
}

/** One session's subscription, as the hub sees it. */
export class Subscription implements Recipient {
  /** Changes when a refreshed token says something else of the client. */
  info: ClientInfo;
  readonly present: boolean;
  readonly announced: boolean;
  readonly hearsJoinLeave: boolean;
  readonly #connection: Connection;
  readonly #session: Subscriber;

  constructor(
    info: ClientInfo,
    granted: SubscriptionSnapshot,
    connection: Connection,
    session: Subscriber,
  ) {
    this.info = info;
    this.present = granted.present;
    this.announced = granted.announced;
    this.hearsJoinLeave = granted.hearsJoinLeave;
    this.#connection = connection;
    this.#session = session;
  }

  send(frame: Message): void {
    this.#connection.send(frame);
  }

  backlogBytes(): number {
    return this.#connection.backlogBytes();
  }

  flushed(): void {
    this.#session.flushed();
  }

  disconnect(code: DisconnectCode): void {
    this.#session.disconnect(code);
  }
}

/** What others may know of a session: in a channel with its channel info, elsewhere without. */
export function clientInfo(snapshot: SessionSnapshot, granted?: SubscriptionSnapshot): ClientInfo {
  const { client, claims } = snapshot;
  return {
    user: claims?.user ?? "",
    client,
    ...(claims?.info === undefined ? {} : { connInfo: claims.info }),
    ...(granted?.chanInfo === undefined ? {} : { chanInfo: granted.chanInfo }),
  };
}
