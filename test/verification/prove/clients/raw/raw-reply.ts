import type { ErrorReply } from "../endpoint.ts";

/** The fields of a server message that a raw subscriber reads. */
export interface RawReply {
  readonly id?: number;
  readonly error?: ErrorReply;
  readonly connect?: ConnectReply;
  readonly subscribe?: SubscribeReply;
  readonly rpc?: { readonly data?: unknown };
  readonly push?: {
    readonly channel: string;
    readonly pub?: ReceivedPublication;
    /** An order's: it has no publications and doesn't say whether it recovers. */
    readonly subscribe?: SubscribeReply;
    readonly unsubscribe?: { readonly code: number };
  };
}

export interface ConnectReply {
  readonly client: string;
  readonly pong?: boolean;
  /** The server-side subscriptions. */
  readonly subs?: Readonly<Record<string, SubscribeReply>>;
}

export interface SubscribeReply {
  readonly positioned?: boolean;
  readonly recoverable?: boolean;
  readonly epoch?: string;
  readonly offset?: number;
  readonly recovered?: boolean;
  readonly publications?: readonly ReceivedPublication[];
}

export interface ReceivedPublication {
  readonly data: unknown;
  readonly offset?: number;
}
