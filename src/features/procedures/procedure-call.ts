import type { Changing } from "../../contract/channel-call.ts";
import type { JsonText } from "../../protocol/json/text.ts";

declare module "../../contract/channel-call.ts" {
  interface ChannelOperations {
    readonly call: ProcedureCalling;
  }
}

/** A call of a procedure of the channel's code (rule PC1). */
export interface ProcedureCalling extends Changing<ProcedureRequest> {
  /** Whether a client calls, as a method: it gets the result as the reply. Absent: a backend calls. */
  readonly asMethod?: true;
}

/** Which procedure is called. */
export interface ProcedureRequest {
  readonly procedure: string;
  /** The arguments; absent without any. */
  readonly data?: JsonText;
  /** "" for none. */
  readonly idempotencyKey: string;
  /** The trace that the call belongs to (rule X1), see `traceparent.ts`; absent without one. */
  readonly traceparent?: string;
}
