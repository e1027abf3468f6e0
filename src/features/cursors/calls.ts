/**
 * The calls between objects, and the operations on a channel's object, with what each takes and gives. During a deploy the
 * two sides of a call may be one release apart (rule V1): fields are only added, and the absence of an added field has a
 * meaning.
 */
import type { Ordered } from "../../contract/user-order.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { UserProof } from "./coverage.ts";
import type { MirrorToldReply } from "../maps/mirror/mirror-map.ts";
import type { JsonText } from "../../protocol/json/text.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedGatewayCalls {
    /** Says what users with connections here are known to have received of a channel (rule CU15). */
    arrivedOnGateway(question: ArrivedQuestion): Promise<ArrivedOnGateway>;
  }
  interface AddedChannelCalls {
    /** Deletes everything that the channel keeps of a user (rule CU30). @returns when that is durable */
    forgetUserHere(request: ForgottenHere): Promise<object>;
    /** Takes what users of another channel have read, of which this channel is the receipts (rule CU39). */
    receiptsTold(told: ReceiptsTold): Promise<MirrorToldReply>;
    /** Lists what the channel's receipts show (rule CU38). */
    listReceipts(question: ReceiptsQuestion): Promise<ReceiptsAnswer>;
  }
  interface AddedHomeCalls {
    /** Takes the users of whom a channel keeps something (rule CU31). */
    keepUsers(told: ToldUsers): Promise<KeptAnswer>;
    /** Makes all channels forget a user. @returns when all have, or when the time is over */
    forgetUser(request: ForgottenHere): Promise<Ordered>;
  }
}

declare module "../../contract/channel-call.ts" {
  interface ChannelOperations {
    /** Marks how far a user has read (rule CU1). */
    readonly mark_read: Changing<MarkRequest>;
    /** Counts what a user hasn't read (rule CU4). */
    readonly unread: { readonly request: UserRequest; readonly info?: ClientInfo };
    /** Says what a user is known to have received (rule CU10). */
    readonly delivered: { readonly request: UserRequest };
    /** Lists what users have read, in pages, and counts who has read up to an offset (rule CU35). */
    readonly marks: Reading<MarksQuery> & { readonly info?: ClientInfo };
    /** Makes these users, and nobody else, the audience of a channel (rule CU21). */
    readonly set_audience: Changing<MembersRequest>;
    readonly add_audience: Changing<MembersRequest>;
    readonly remove_audience: Changing<MembersRequest>;
    /** Lists the audience, in pages. */
    readonly audience: Reading<AudienceQuery>;
  }
}

declare module "../../contract/relay-batch.ts" {
  interface RelayEntries {
    /** Users become members of the channel's audience. It goes to the channel's object only. */
    readonly members: { readonly users: readonly string[] };
  }
}

type CursorCallers = {
  readonly [
    Name in "arrivedOnGateway" | "forgetUserHere" | "keepUsers" | "forgetUser"
  ]: MakeCall<Name>;
};

/** Makes the calls of cursors. */
export const cursorCallers: CursorCallers = {
  arrivedOnGateway: (objects, to, request) =>
    objects.gateway(to, (object) => object.arrivedOnGateway(...request)),
  forgetUserHere: (objects, to, request) =>
    objects.channel(to, (object) => object.forgetUserHere(...request)),
  keepUsers: (objects, to, request) => objects.home(to, (object) => object.keepUsers(...request)),
  forgetUser: (objects, to, request) => objects.home(to, (object) => object.forgetUser(...request)),
};

/** Makes the calls between a channel and its receipts. */
export const receiptsCallers: {
  readonly [Name in "receiptsTold" | "listReceipts"]: MakeCall<Name>;
} = {
  receiptsTold: (objects, to, request) =>
    objects.channel(to, (object) => object.receiptsTold(...request)),
  listReceipts: (objects, to, request) =>
    objects.channel(to, (object) => object.listReceipts(...request)),
};

/** A page of what users have read. */
export interface MarksQuery {
  /** The most marks of the page. */
  readonly limit: number;
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
  /** The answer counts the users who have read up to this offset; undefined: it counts nobody. */
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
  /** A client asks that isn't subscribed. It may only ask if the channel keeps something of its user (rule CU7). */
  readonly ifKept?: true;
}

/** Users, each named once. */
interface MembersRequest {
  readonly users: readonly string[];
}

/** A page of an audience. */
export interface AudienceQuery {
  /** The most members of the page, at least 1. */
  readonly limit: number;
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
}

/** The questions of a channel's object to a gateway. */
interface ArrivedQuestion {
  readonly channel: string;
  /** Absent: all. */
  readonly users?: readonly string[];
  /**
   * The answer names the users who may still prove that they have received everything up to this offset. Absent: it
   * names nobody.
   */
  readonly upTo?: number;
}

/** The answer of a gateway. Users of whom it knows nothing are left out, and one has a proof for each stretch. */
interface ArrivedOnGateway {
  readonly proofs: readonly UserProof[];
  /** Those who can still prove more. Absent: nobody can. */
  readonly unsure?: readonly string[];
}

/** A user of whom a channel keeps something, as the channel's object reports it to the user's home (rule CU31). */
export interface KeptUser {
  readonly user: string;
  /** For how long already, ms by the clock of the channel's object. */
  readonly forMs: number;
}

/** The report of a channel's object to a home: all users of the channel whose home this is. */
export interface ToldUsers {
  readonly channel: string;
  readonly kept: readonly KeptUser[];
}

/** The user to be forgotten. */
export interface ForgottenHere {
  readonly user: string;
}

/** The answer of a home. The home now knows that the channel keeps something of the other users. */
export interface KeptAnswer {
  /** The users of whom the channel is to delete everything (rules CU32 and CU34). */
  readonly forget: readonly string[];
}

/** Changes of marks that a channel's object reports to the object of its receipts (rules CU38 and CU39). */
export interface ReceiptsTold {
  /** The channel. */
  readonly source: string;
  /** Names the kind of the keys and their epoch. If it differs from that of the last list, a new list is needed. */
  readonly edition: string;
  /** In the order in which they happened, one for each key. */
  readonly changes: readonly ReceiptKey[];
}

/** The question for everything that receipts show. */
interface ReceiptsQuestion {
  /** The channel of the receipts. */
  readonly receipts: string;
}

/** The answer to it. none: the channel has no such receipts. */
export type ReceiptsAnswer =
  | {
      readonly outcome: "listed";
      readonly edition: string;
      readonly keys: readonly ReceiptKey[];
    }
  | { readonly outcome: "none" };

/** A key of receipts: a user, or an offset up to which users have read. */
export interface ReceiptKey {
  readonly key: string;
  /** The value, a JSON object. Absent: the key is gone. */
  readonly data?: JsonText;
}
