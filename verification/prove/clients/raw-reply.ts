import type { ErrorReply } from "./endpoint.ts";

/** A message from the server, as far as a raw subscriber looks into one. */
export interface RawReply {
  readonly id?: number;
  readonly error?: ErrorReply;
  readonly connect?: ConnectReply;
  readonly subscribe?: SubscribeReply;
  readonly push?: {
    readonly channel: string;
    readonly pub?: ReceivedPublication;
    readonly unsubscribe?: { readonly code: number };
  };
}

export interface ConnectReply {
  readonly client: string;
  readonly pong?: boolean;
  /** What the server subscribes to. */
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
