import type { DisconnectCode, ErrorCode, UnsubscribeCode } from "./codes.ts";
import type { Command } from "./command.ts";
import type { ClientInfo, Publication, StreamPosition } from "./publication.ts";
import type { JsonText } from "./json/text.ts";
import type { Payload } from "./payload.ts";

/**
 * The reply to one command, with the command's `id` (docs/protocol.md 1.2). Its fields on the wire are in
 * `reply-fields.ts`.
 */
export type Reply =
  | {
      readonly id: number;
      readonly error: ErrorCode;
      /** The command, for dialects whose commands have no numbers. */
      readonly to?: Command;
    }
  | { readonly id: number; readonly method: "connect"; readonly result: ConnectResult }
  | {
      readonly id: number;
      readonly method: "subscribe";
      readonly result: SubscribeResult;
      /** The channel, for dialects whose commands have no numbers. */
      readonly channel?: string;
    }
  | { readonly id: number; readonly method: "unsubscribe" }
  | { readonly id: number; readonly method: "publish" }
  | { readonly id: number; readonly method: "presence"; readonly result: PresenceResult }
  | { readonly id: number; readonly method: "presence_stats"; readonly result: PresenceStatsResult }
  | { readonly id: number; readonly method: "history"; readonly result: HistoryResult }
  | { readonly id: number; readonly method: "rpc"; readonly data?: Payload }
  | { readonly id: number; readonly method: "refresh"; readonly result: Expiry }
  | { readonly id: number; readonly method: "sub_refresh"; readonly result: SubRefreshResult };

/** A message that answers no command: about one channel, or about the connection itself (docs/protocol.md 1.2). */
export type Push =
  | { readonly type: "publication"; readonly channel: string; readonly publication: Publication }
  | { readonly type: "join"; readonly channel: string; readonly info: ClientInfo }
  | { readonly type: "leave"; readonly channel: string; readonly info: ClientInfo }
  | { readonly type: "unsubscribe"; readonly channel: string; readonly code: UnsubscribeCode }
  /** The server subscribed the client, after its connect (docs/protocol.md 2.7). */
  | { readonly type: "subscribe"; readonly channel: string; readonly result: PushedSubscription }
  /** For unidirectional clients: when the connection ends now (docs/protocol.md 1.3). */
  | { readonly type: "refresh"; readonly expiry: Expiry }
  /** For streams, which have no close frame to carry the code (docs/protocol.md 1.4, item 12). */
  | { readonly type: "disconnect"; readonly code: DisconnectCode };

/** The lifetime of a credential, in whole seconds from now; 0 if it doesn't end. */
export interface Expiry {
  readonly ttlSeconds: number;
}

export interface ConnectResult extends Expiry {
  readonly client: string;
  readonly version: string;
  /** Seconds between the server's pings. */
  readonly pingSeconds: number;
  /** Whether the client must answer pings. */
  readonly pong: boolean;
  /** Server time, ms since 1970; absent unless the configuration asks for it. */
  readonly timeMs?: number;
  /** The data of the backend's connect hook; absent if there is none. */
  readonly data?: JsonText;
  /** The server-side subscriptions, by channel; absent if there are none. */
  readonly subscriptions?: ReadonlyMap<string, SubscribeResult>;
  /** The secret that the client's posted frames carry (rule T4); absent on a WebSocket (docs/protocol.md 4.3). */
  readonly session?: string;
  /** The address of the session for posted frames; absent if the client can't post any. */
  readonly node?: string;
}

export interface SubscribeResult extends Expiry {
  readonly recoverable: boolean;
  readonly positioned: boolean;
  readonly wasRecovering: boolean;
  readonly recovered: boolean;
  readonly publications: readonly Publication[];
  /** Absent if the subscription isn't positioned: then neither offset nor epoch is on the wire. */
  readonly position?: StreamPosition;
  /** Whether these publications and later ones are deltas where a delta is shorter (docs/protocol.md 3.1). */
  readonly delta?: boolean;
  /** The `data` of the subscription token. */
  readonly data?: JsonText;
  /** One of `subscriptionTypes`; absent on a stream. */
  readonly type?: number;
  /** One of `mapPhases`; absent if the subscription is live (docs/protocol.md 3.4). */
  readonly phase?: number;
  /** From which the next page of a map's state begins; absent on the last page. */
  readonly cursor?: string;
  /** A page of a map's state: the newest publication of each key, none of which is removed. */
  readonly state?: readonly Publication[];
  /** How long the client collects the publishes of one key before it sends the last of them; absent for no time. */
  readonly publishDebounceMs?: number;
}

/** The result of a subscribe of which there is nothing to say, such as one that only reads a page of a map. */
export const bareSubscribeResult: SubscribeResult = {
  ttlSeconds: 0,
  recoverable: false,
  positioned: false,
  wasRecovering: false,
  recovered: false,
  publications: [],
};

/** When a subscription expires, and of a shared poll's keys what the client hasn't got (docs/protocol.md 3.5). */
export interface SubRefreshResult extends Expiry {
  readonly items?: readonly Publication[];
}

/** The fields of a push about a subscription that the server made. */
export type PushedSubscription = Pick<
  SubscribeResult,
  "recoverable" | "positioned" | "position" | "data"
>;

export interface PresenceResult {
  /** The clients that are present, in parts that are encoded once for all receivers (rule P5). */
  readonly parts: readonly (readonly ClientInfo[])[];
  /** Whether a gateway didn't answer in time, so that there may be more clients (rule G6). */
  readonly incomplete?: boolean;
}

export interface PresenceStatsResult {
  readonly clientCount: number;
  readonly userCount: number;
  /** Whether a gateway didn't answer in time, so that there may be more clients (rule G6). */
  readonly incomplete?: boolean;
}

/** Where a change is; nothing for one without history. Of one that did nothing, also why (rules Z7 and Z13). */
export interface ChangeResult extends Partial<StreamPosition> {
  readonly reason?: string;
  readonly currentOffset?: number;
}

/** The present clients as a list and in numbers. All questions of one census get the same objects. */
export type PresenceAnswer =
  | {
      readonly outcome: "present";
      readonly result: PresenceResult;
      readonly stats: PresenceStatsResult;
    }
  | { readonly outcome: "failed"; readonly error: ErrorCode };

export interface HistoryResult {
  readonly publications: readonly Publication[];
  readonly position: StreamPosition;
}
