import type { DisconnectCode } from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication } from "../protocol/publication.ts";
import type { TagsFilter } from "./tags-filter.ts";

/** A subscriber as the hub sees it: somebody to send to, and what others may know of it. */
export interface Subscriber {
  readonly info: ClientInfo;
  /** Listed among those present. */
  readonly present: boolean;
  /** Its coming and going is told to others. */
  readonly announced: boolean;
  /** Is told of others' coming and going. */
  readonly hearsJoinLeave: boolean;
  /** What its connection speaks. */
  readonly codec: Codec;
  /** Which publications it wants; undefined for all of them. */
  readonly filter: TagsFilter | undefined;
  /** It gets patches where they are shorter. Never together with a filter. */
  readonly delta: boolean;
  /** The payload it got last, against which the next one may be a patch; undefined when it is to get a full one. */
  readonly deltaBase: Payload | undefined;
  /** Whoever gets patches is about to be sent this publication, after all before it. */
  taking(publication: Publication): void;
  send(frame: Message): void;
  /** Bytes handed to its socket that the peer has not taken yet. */
  backlogBytes(): number;
  /** The collected publications went out; replies that had to come after them may go now. */
  flushed(): void;
  disconnect(code: DisconnectCode): void;
  /** A connection of the same user wants to be the only one on the channel; it may be this one. */
  replacedBy(client: string): void;
}
