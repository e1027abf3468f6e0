import type { TransferResult } from "../bank/bank.ts";
import type { AppendResult } from "./growth-rules.ts";
import type { CursorResult } from "./client-calls.ts";
import type { ReceivedPublication, ReceivedResult } from "./client-subscription.ts";

/** A reply or a push, as a client received it. */
export interface ReceivedFrame {
  readonly id?: number;
  readonly error?: { readonly code: number; readonly temporary?: boolean };
  readonly connect?: {
    readonly client: string;
    readonly subs?: Readonly<Record<string, ReceivedResult>>;
  };
  readonly subscribe?: ReceivedResult;
  /** Of a shared poll: what is newer than what the client has. Of others: in how many seconds the subscription ends. */
  readonly sub_refresh?: { readonly items?: readonly ReceivedPublication[]; readonly ttl?: number };
  readonly rpc?: { readonly data: CursorResult & Partial<AppendResult & TransferResult> };
  readonly push?: ReceivedPush;
}

/** A push, with what it is about. */
export interface ReceivedPush {
  /** Absent in a refresh push. */
  readonly channel?: string;
  readonly pub?: ReceivedPublication;
  readonly join?: { readonly info: { readonly client: string } };
  readonly leave?: { readonly info: { readonly client: string } };
  readonly subscribe?: ReceivedResult;
  readonly unsubscribe?: { readonly code: number };
}
