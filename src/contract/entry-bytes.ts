import type { ClientInfo, Publication } from "../protocol/publication.ts";
import type { RelayEntry } from "./relay-batch.ts";

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
