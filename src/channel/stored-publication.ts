import type { PublicationRequest } from "../contract/channel-call.ts";
import { encodeClientInfo } from "../protocol/json/json-publication.ts";
import { memberText, trustedJsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication, Tags } from "../protocol/publication.ts";
import type { SqlRow, SqlValue } from "../sql.ts";
import type { Stream } from "./history-table.ts";

/** A publication on its way into the history: what was asked for, and who published it when that was a client. */
export interface HistoryEntry extends Omit<PublicationRequest, "skipHistory"> {
  readonly info?: ClientInfo;
}

/** The values of one row of the table `publication`, in its columns' order. */
export function insertValues(
  entry: HistoryEntry,
  stream: Stream,
  slot: number,
): readonly SqlValue[] {
  return [
    slot,
    stream.top,
    stream.timeMs,
    stream.floor,
    stream.version.toString(),
    stream.versionEpoch,
    entry.idempotencyKey === "" ? null : entry.idempotencyKey,
    entry.delta ? 1 : 0,
    entry.tags === undefined ? null : JSON.stringify(entry.tags),
    entry.info === undefined ? null : encodeClientInfo(entry.info),
    entry.data,
  ];
}

/** Turns a row written from {@link insertValues} into the publication it was. */
export function decodeStoredPublication(row: SqlRow): Publication {
  const info = row["info"];
  const tags = row["tags"];
  return {
    data: storedPayload(row["data"]),
    offset: Number(row["offset"]),
    ...(typeof info === "string" ? { info: parseStoredInfo(info) } : {}),
    ...(typeof tags === "string" ? { tags: parseStoredTags(tags) } : {}),
  };
}

/** Text in this column was checked before it was written. */
function storedPayload(value: SqlRow[string] | undefined): Payload {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : trustedJsonText(String(value));
}

function parseStoredTags(text: string): Tags {
  const tags: Tags = JSON.parse(text);
  return tags;
}

function parseStoredInfo(text: string): ClientInfo {
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
