/**
 * The columns `tags`, `info` and `data` of rows that hold publications or the values of a map, and what is read from
 * them. What was checked before it was written isn't checked again.
 */
import type { SqlRow, SqlValue } from "../sql.ts";
import { encodeClientInfo } from "./json/encode.ts";
import { memberText, trustedJsonText } from "./json/text.ts";
import type { Payload } from "./payload.ts";
import type { ClientInfo, Publication, Tags } from "./publication.ts";

/** The part of a publication that is in these columns. */
export type PublicationColumns = Pick<Publication, "data" | "tags" | "info">;

/** The values of the three columns, in the order in which they are named above. */
export function columnsOf({
  tags,
  info,
  data,
}: PublicationColumns): readonly [SqlValue, SqlValue, SqlValue] {
  return [
    tags === undefined ? null : JSON.stringify(tags),
    info === undefined ? null : encodeClientInfo(info),
    data,
  ];
}

/** The contents of the three columns of a row. */
export function readColumns(row: SqlRow): PublicationColumns {
  const info = row["info"];
  const tags = row["tags"];
  return {
    data: storedPayload(row["data"]),
    ...(typeof info === "string" ? { info: parseStoredInfo(info) } : {}),
    ...(typeof tags === "string" ? { tags: parseStoredTags(tags) } : {}),
  };
}

function storedPayload(value: SqlRow[string] | undefined): Payload {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : trustedJsonText(String(value));
}

/** The tags in a text that {@link columnsOf} made. */
export function parseStoredTags(text: string): Tags {
  const tags: Tags = JSON.parse(text);
  return tags;
}

/** The client in a text that {@link columnsOf} made. */
export function parseStoredInfo(text: string): ClientInfo {
  const { user, client }: { user: string; client: string } = JSON.parse(text);
  const connInfo = memberText(text, "conn_info");
  const chanInfo = memberText(text, "chan_info");
  return {
    user,
    client,
    ...(connInfo === undefined ? {} : { connInfo }),
    ...(chanInfo === undefined ? {} : { chanInfo }),
  };
}
