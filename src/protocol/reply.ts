import type { DisconnectCode, ErrorCode, UnsubscribeCode } from "./codes.ts";
import type { ClientInfo, Publication, StreamPosition } from "./publication.ts";
import type { JsonText } from "./json/text.ts";

/** An answer to one command; `id` is the command's own (docs/protocol.md 1.2). */
export type Reply =
  | { readonly id: number; readonly error: ErrorCode }
  | { readonly id: number; readonly method: "connect"; readonly result: ConnectResult }
  | { readonly id: number; readonly method: "subscribe"; readonly result: SubscribeResult }
  | { readonly id: number; readonly method: "unsubscribe" }
  | { readonly id: number; readonly method: "publish" }
  | { readonly id: number; readonly method: "presence"; readonly result: PresenceResult }
  | { readonly id: number; readonly method: "presence_stats"; readonly result: PresenceStatsResult }
  | { readonly id: number; readonly method: "history"; readonly result: HistoryResult }
  | { readonly id: number; readonly method: "rpc" }
  | { readonly id: number; readonly method: "refresh"; readonly result: Expiry }
  | { readonly id: number; readonly method: "sub_refresh"; readonly result: Expiry };

/** What the server sends unasked, about one channel or about the connection itself. */
export type Push =
  | { readonly type: "publication"; readonly channel: string; readonly publication: Publication }
  | { readonly type: "join"; readonly channel: string; readonly info: ClientInfo }
  | { readonly type: "leave"; readonly channel: string; readonly info: ClientInfo }
  | { readonly type: "unsubscribe"; readonly channel: string; readonly code: UnsubscribeCode }
  /** Where there is no close frame to say it (docs/protocol.md 1.4, item 12). */
  | { readonly type: "disconnect"; readonly code: DisconnectCode };

/** When a credential ends: whole seconds from now; 0 says that it never does. */
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
  /** Subscriptions the server made, by channel; absent when there are none. */
  readonly subscriptions?: ReadonlyMap<string, SubscribeResult>;
  /** The secret by which what the client posts is known to be its own; absent on a WebSocket (docs/protocol.md 4.3). */
  readonly session?: string;
  /** Where it is to be posted to; absent where nothing can be. */
  readonly node?: string;
}

export interface SubscribeResult extends Expiry {
  readonly recoverable: boolean;
  readonly positioned: boolean;
  readonly wasRecovering: boolean;
  readonly recovered: boolean;
  readonly publications: readonly Publication[];
  /** Absent when the subscription has no position: then neither offset nor epoch is on the wire. */
  readonly position?: StreamPosition;
  /** The publications, and those to come, are patches where that is shorter (docs/protocol.md 3.1). */
  readonly delta?: boolean;
  /** From the subscription token's `data`. */
  readonly data?: JsonText;
}

export interface PresenceResult {
  readonly clients: readonly ClientInfo[];
  /** Some gateway didn't answer in time: there may be more. */
  readonly incomplete?: boolean;
}

export interface PresenceStatsResult {
  readonly clientCount: number;
  readonly userCount: number;
  /** Some gateway didn't answer in time: there may be more. */
  readonly incomplete?: boolean;
}

export interface HistoryResult {
  readonly publications: readonly Publication[];
  readonly position: StreamPosition;
}
