import { type Erased, holeOf } from "./erased.ts";
import type { Piece } from "../protocol/piece.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";

/**
 * A call of a channel's object to a gateway, with {@link RelayBatchReply} as reply (rule L1). During a deploy the two
 * sides may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 *
 * Each instance of the channel's object numbers its entries from 1, with the same numbers for all gateways. So a
 * gateway knows which entries it has already, however often a call is repeated, and sees which are missing.
 */
export interface RelayBatch {
  readonly v: 1;
  readonly channel: string;
  /** When the channel's instance began, ms since 1970. A later instance numbers its entries from 1 again. */
  readonly instance: number;
  /** The number of the first entry; without entries, the number of the next one. */
  readonly first: number;
  readonly entries: readonly RelayEntry[];
  /** Whether the channel's object knows that the gateway has taken everything before `first`. */
  readonly certain: boolean;
  /** The top after these entries; absent on a channel without history. */
  readonly top?: StreamPosition;
}

/** One event of a channel. Two releases agree on the types' names, "sole" for an exclusive connection among them. */
export type RelayEntry = {
  [Type in keyof RelayEntries]: { readonly type: Type } & RelayEntries[Type];
}[keyof RelayEntries];

/** The entries by their `type`. A feature adds those that only its parts of a channel take. @public */
export interface RelayEntries {
  readonly publication: { readonly publication: Publication };
  readonly join: { readonly info: ClientInfo };
  readonly leave: { readonly info: ClientInfo };
  /** The user's other connections on the channel are closed with 3504 for this client's (rule C10). */
  readonly sole: { readonly user: string; readonly client: string };
  /**
   * A value has grown by a piece that isn't durable yet. The piece is sent to subscribers with deltas only (rule Z39).
   */
  readonly piece: { readonly piece: Piece };
  /** The history was removed: no gateway may serve it from memory any more. */
  readonly removed: object;
  /** Publications are erased: gateways blank those that they hold, and have sent the rest, before they take it (rule ED14). */
  readonly erased: Erased;
}

/** An entry without what was erased; the same one if nothing was. */
export function withoutErased(entry: RelayEntry, erased: Erased): RelayEntry {
  if (entry.type !== "publication") return entry;
  const publication = holeOf(entry.publication, erased);
  return publication === undefined ? entry : { type: "publication", publication };
}

/** A gateway's reply to a batch. */
export type RelayBatchReply =
  /** New entries are sent to the subscribers, or wait in order for missing ones. */
  | {
      readonly outcome: "taken";
      /** All subscribers here are onlookers (rule N26). Absent: they aren't. */
      readonly onlooks?: true;
    }
  /**
   * The gateway has no subscriber to the channel: it is to be forgotten, unless it has followed again meanwhile (rule
   * L5).
   */
  | { readonly outcome: "left" }
  /** The gateway is overloaded and took nothing: the batch is to be sent again later (rule B3). */
  | { readonly outcome: "busy" };

/** The bytes that an entry takes in memory and in a call, estimated: one per character, and a constant for the rest. */
export function entryBytes(entry: RelayEntry): number {
  if (entry.type === "publication") return publicationBytes(entry.publication);
  if (entry.type === "piece")
    return overheadBytes + entry.piece.key.length + entry.piece.splice.text.length;
  if (entry.type === "sole") return overheadBytes + entry.user.length + entry.client.length;
  const users = "users" in entry ? entry.users : [];
  const bytes = users.reduce((sum, user) => sum + user.length, overheadBytes);
  return bytes + ("info" in entry ? infoBytes(entry.info) : 0);
}

/** The same as {@link entryBytes}, for a publication. */
export function publicationBytes(publication: Publication): number {
  const { data, info, tags = {}, key = "", before, grown } = publication;
  const mapBytes = key.length + (before?.length ?? 0) + (grown?.splice?.text.length ?? 0);
  const ownBytes =
    overheadBytes + data.length + mapBytes + (info === undefined ? 0 : infoBytes(info));
  return Object.entries(tags).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    ownBytes,
  );
}

function infoBytes({ user, client, connInfo, chanInfo }: ClientInfo): number {
  return user.length + client.length + (connInfo?.length ?? 0) + (chanInfo?.length ?? 0);
}

/** The JavaScript objects of an entry, and the names of their fields in a call. */
const overheadBytes = 128;
