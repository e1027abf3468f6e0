import type { ErrorReply } from "./endpoint.ts";

/** A message from the server, as far as a raw subscriber looks into one. */
export interface RawReply {
  readonly id?: number;
  readonly error?: ErrorReply;
  readonly connect?: { readonly client: string; readonly pong?: boolean };
  readonly subscribe?: SubscribeReply;
  readonly push?: {
    readonly channel: string;
    readonly pub?: HeardPublication;
    readonly unsubscribe?: { readonly code: number };
  };
}

export interface SubscribeReply {
  readonly positioned?: boolean;
  readonly recoverable?: boolean;
  readonly epoch?: string;
  readonly offset?: number;
  readonly recovered?: boolean;
  readonly publications?: readonly HeardPublication[];
}

export interface HeardPublication {
  readonly data: unknown;
  readonly offset?: number;
}
