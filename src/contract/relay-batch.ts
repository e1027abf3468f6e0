import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";

/**
 * What a channel's object tells a gateway, and what comes back (rule L1). During a deploy the two sides may be one release
 * apart (rule V1): fields are only ever added, and an added field has a meaning of absence.
 *
 * Entries are numbered from 1 in each instance of the channel's object, the same for all gateways. So a gateway knows what it
 * has already, however often a call is repeated, and sees what is missing.
 */
export interface RelayBatch {
  readonly v: 1;
  readonly channel: string;
  /** When the channel's instance began, ms since 1970: a later one counts anew. */
  readonly instance: number;
  /** The number of the first entry, or what it would be if there was one. */
  readonly first: number;
  readonly entries: readonly RelayEntry[];
  /** Whether the gateway is known to have taken everything before `first`. */
  readonly certain: boolean;
  /** Where the stream stands after these entries; absent on a channel without history. */
  readonly top?: StreamPosition;
}

/** One thing that happened on a channel. */
export type RelayEntry =
  | { readonly type: "publication"; readonly publication: Publication }
  | { readonly type: "join" | "leave"; readonly info: ClientInfo }
  /** This user's other connections on the channel give way to this one (close code 3504). */
  | { readonly type: "sole"; readonly user: string; readonly client: string }
  /** The history was removed: nothing of it may be served from memory any more. */
  | { readonly type: "removed" };

export type RelayBatchReply =
  /** What was new is with its listeners, or waits in order for what is missing. */
  | { readonly outcome: "taken" }
  /** Nobody here wants the channel: the gateway is to be forgotten, unless it asked again meanwhile. */
  | { readonly outcome: "left" }
  /** Nothing was taken: the gateway's sockets hold as much as memory bears. To be sent again later. */
  | { readonly outcome: "busy" };

/** How many bytes an entry takes in memory and in a call, roughly: a byte a character, and a constant for the rest. */
export function entryBytes(entry: RelayEntry): number {
  switch (entry.type) {
    case "publication":
      return publicationBytes(entry.publication);
    case "join":
    case "leave":
      return overheadBytes + infoBytes(entry.info);
    case "sole":
      return overheadBytes + entry.user.length + entry.client.length;
    case "removed":
      return overheadBytes;
  }
}

/** The same of a publication. */
export function publicationBytes({ data, info, tags = {} }: Publication): number {
  const ownBytes = overheadBytes + data.length + (info === undefined ? 0 : infoBytes(info));
  return Object.entries(tags).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    ownBytes,
  );
}

function infoBytes({ user, client, connInfo, chanInfo }: ClientInfo): number {
  return user.length + client.length + (connInfo?.length ?? 0) + (chanInfo?.length ?? 0);
}

/** The objects that an entry is made of, and their names in a call. */
const overheadBytes = 128;
