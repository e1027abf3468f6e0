import type { ClientInfo } from "../../protocol/publication.ts";

declare module "../../contract/channel-call.ts" {
  interface ChannelOperations {
    /** Marks how far a user has read (rule CU1). */
    readonly mark_read: Changing<MarkRequest>;
    /** Counts what a user hasn't read (rule CU4). */
    readonly unread: { readonly request: UserRequest; readonly info?: ClientInfo };
    /** Says what a user is known to have got (rule CU10). */
    readonly delivered: { readonly request: UserRequest };
    /** Lists what users have read, in pages, and counts who has read up to an offset (rule CU35). */
    readonly marks: Reading<MarksQuery> & { readonly info?: ClientInfo };
  }
}

/** A page of what users have read. */
export interface MarksQuery {
  /** The most marks of the page. */
  readonly limit: number;
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
  /** Up to where those have read who are counted; undefined if nobody is. */
  readonly offset: number | undefined;
}

/** How far a user has read. */
export interface MarkRequest extends UserRequest {
  readonly offset: number;
  /** Of the offset; "" for the epoch of now. */
  readonly epoch: string;
}

/** A question about a user, or a change of what is kept of one. */
export interface UserRequest {
  readonly user: string;
  /** A client asks that isn't subscribed: it may only if the channel keeps something of its user (rule CU7). */
  readonly ifKept?: true;
}
