import type { DisconnectCode } from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { Piece } from "../protocol/piece.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import type { Push } from "../protocol/reply.ts";
import type { TagsFilter } from "../protocol/tags-filter.ts";

/** An event that the subscribers of a channel are sent, in the order in which the events happened. */
export type ChannelPush =
  | PublicationPush
  | Extract<Push, { readonly type: "join" | "leave" }>
  | PiecePush;

/** A piece by which a value has grown, for delta subscribers that have the value up to there (rule Z39). */
export interface PiecePush {
  readonly type: "piece";
  readonly channel: string;
  readonly piece: Piece;
  readonly late: LateSubscribers;
}

/**
 * A publication. If it makes pieces durable that were sent to subscribers, it has the subscribers that came late, and
 * the offset of the key's publication before.
 */
export type PublicationPush = Extract<Push, { readonly type: "publication" }> & {
  readonly late?: LateSubscribers;
  readonly base?: number;
};

/** The subscribers that came after the first piece of a window, and are sent none of its pieces. */
type LateSubscribers = ReadonlySet<Subscriber>;

/** A subscriber as the hub sees it: how to send to it, and what other subscribers get to know of it. */
export interface Subscriber {
  readonly info: ClientInfo;
  /** Whether presence lists it. */
  readonly present: boolean;
  /** Whether no presence map shows it (rule Z35); absent: they do. */
  readonly hidden?: boolean;
  /** Whether it is an onlooker's, which counts nowhere (rule N26); absent: it isn't. */
  readonly onlooks?: boolean;
  /** Whether its join and its leave are announced. */
  readonly announced: boolean;
  /** Whether it gets the joins and leaves of others. */
  readonly hearsJoinLeave: boolean;
  /** The codec of its connection. */
  readonly codec: Codec;
  /** Lets through the publications that it gets; undefined for all publications. */
  readonly filter: TagsFilter | undefined;
  /** Whether it gets deltas where they are shorter. Never together with a filter. */
  readonly delta: boolean;
  /**
   * The payload that it holds, of which the next publication may be a delta; undefined when that must be sent in full.
   */
  readonly deltaBase: Payload | undefined;
  /**
   * The offset up to which it has recovered what it had missed, with values of its own. It may have pieces of windows
   * that were open then, of which the hub doesn't know (rule Z39). Absent, or undefined: it has read all values.
   */
  readonly recoveredTo?: number | undefined;
  /** Notes that a delta subscriber is sent this publication, as the last one of a frame: it is then its `deltaBase`. */
  noteSent(publication: Publication): void;
  send(frame: Message): void;
  /** Its backlog: the bytes handed to its socket that the client has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
  /** The stream that it follows has ended: its subscription ends with a code that makes the client begin anew. */
  insufficientState(): void;
  /** A connection of the same user is to be the only one on the channel (rule C10); it may be this one. */
  replacedBy(client: string): void;
}
