import type { ChannelOperations } from "../../contract/channel-call.ts";
import type { Payload } from "../../protocol/payload.ts";
import type { Tags } from "../../protocol/publication.ts";

/** The operations on a channel's object, with their arguments (rule V1: fields are only added). */
declare module "../../contract/channel-call.ts" {
  interface ChannelOperations {
    readonly update_publication: Changing<UpdateRequest> & AsMethod;
    readonly delete_publication: Changing<DeleteRequest> & AsMethod;
    readonly erase: Changing<EraseRequest>;
  }
}

/** An operation that changes a publication. */
export type ChangeOperation = {
  [Method in "update_publication" | "delete_publication"]: {
    readonly method: Method;
  } & ChannelOperations[Method];
}["update_publication" | "delete_publication"];

/** An operation that erases publications. */
export type EraseOperation = { readonly method: "erase" } & ChannelOperations["erase"];

interface AsMethod {
  /** A client called it as a method, and gets the result as data. Absent: it didn't. */
  readonly asMethod?: true;
}

/** Which publication is changed, and under which conditions. */
export interface ChangeRequest {
  /** Of the publication. */
  readonly offset: number;
  /** Of the offset; "" for the epoch of now. */
  readonly epoch: string;
  /** The change is made only if the publication has this version; absent: whichever it has. */
  readonly ifVersion?: number;
  /** A client asks that may change publications of its own user only. Absent: it may change all. */
  readonly ownOnly?: true;
  /** "" for none. */
  readonly idempotencyKey: string;
  /** The trace that the change belongs to (rule X1), see `traceparent.ts`; absent without one. */
  readonly traceparent?: string;
}

/** New contents for a publication. */
interface UpdateRequest extends ChangeRequest {
  readonly data: Payload;
  /** Absent: the publication keeps its tags. */
  readonly tags?: Tags;
  /** Whether delta subscribers may get the change as a delta. */
  readonly delta: boolean;
}

/** The end of a publication. */
interface DeleteRequest extends ChangeRequest {
  /** Why, for everybody; "" for no reason. */
  readonly reason: string;
}

/** The publications that are to be erased. */
export interface EraseRequest {
  /** Of the publication, or of a change of it. Absent: all of the user. */
  readonly offset?: number;
  /** Of the offset; "" for the epoch of now. */
  readonly epoch: string;
  /** The user whose clients have published them; "" for whoever has published the one at the offset. */
  readonly user: string;
}
