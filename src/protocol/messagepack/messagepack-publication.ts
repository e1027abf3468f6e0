import type { MessagePackWriter } from "./writer.ts";
import { payloadBytes } from "../payload.ts";
import type { ClientInfo, Publication } from "../publication.ts";

/**
 * Writes a publication as a map, fields in the order of their numbers (reference 1.3), payload bytes untouched (rule W2). On
 * the way of every publication, so it is written plainly.
 */
export function writePublication(writer: MessagePackWriter, publication: Publication): void {
  const map = writer.openMap();
  writer.key(map, "data");
  writer.binary(payloadBytes(publication.data));
  if (publication.info !== undefined) {
    writer.key(map, "info");
    writeClientInfo(writer, publication.info);
  }
  if (publication.offset > 0) {
    writer.key(map, "offset");
    writer.unsigned(publication.offset);
  }
  const tags = Object.entries(publication.tags ?? {});
  if (tags.length > 0) {
    writer.key(map, "tags");
    writer.map(tags.length);
    for (const [name, value] of tags) {
      writer.text(name);
      writer.text(value);
    }
  }
  if (publication.delta === true) {
    writer.key(map, "delta");
    writer.flag(true);
  }
  if (publication.epoch !== undefined && publication.epoch !== "") {
    writer.key(map, "epoch");
    writer.text(publication.epoch);
  }
}

/** Writes publications in their order, as an array. */
export function writePublications(
  writer: MessagePackWriter,
  publications: readonly Publication[],
): void {
  writer.array(publications.length);
  for (const publication of publications) writePublication(writer, publication);
}

/** Writes who a client is, as a map. `user` and `client` are there even when empty: SDKs rely on both. */
export function writeClientInfo(writer: MessagePackWriter, info: ClientInfo): void {
  const map = writer.openMap();
  writer.key(map, "user");
  writer.text(info.user);
  writer.key(map, "client");
  writer.text(info.client);
  if (info.connInfo !== undefined) {
    writer.key(map, "conn_info");
    writer.binary(payloadBytes(info.connInfo));
  }
  if (info.chanInfo !== undefined) {
    writer.key(map, "chan_info");
    writer.binary(payloadBytes(info.chanInfo));
  }
}
