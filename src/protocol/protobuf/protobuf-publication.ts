import { payloadBytes } from "../payload.ts";
import type { ProtobufWriter } from "./writer.ts";
import type { ClientInfo, Publication } from "../publication.ts";

/**
 * Writes a publication's fields, in the order of their numbers (reference 1.3), the payload byte for byte (rule W5). On the
 * way of every publication, so it is written plainly.
 */
export function writePublication(writer: ProtobufWriter, publication: Publication): void {
  writer.bytes(4, payloadBytes(publication.data));
  if (publication.info !== undefined) writeClientInfo(writer, 5, publication.info);
  writer.unsigned(6, publication.offset);
  if (publication.tags !== undefined) {
    for (const [key, value] of Object.entries(publication.tags)) writer.textEntry(7, key, value);
  }
  writer.flag(8, publication.delta === true);
  if (publication.epoch !== undefined) writer.text(14, publication.epoch);
}

/** Writes publications in their order, as a repeated field of that number. */
export function writePublications(
  writer: ProtobufWriter,
  number: number,
  publications: readonly Publication[],
): void {
  for (const publication of publications) {
    writer.begin(number);
    writePublication(writer, publication);
    writer.end();
  }
}

/** Writes who a client is as the field of that number. */
export function writeClientInfo(writer: ProtobufWriter, number: number, info: ClientInfo): void {
  writer.begin(number);
  writeClientInfoFields(writer, info);
  writer.end();
}

/** Writes who a client is into the message that was begun. */
export function writeClientInfoFields(writer: ProtobufWriter, info: ClientInfo): void {
  writer.text(1, info.user);
  writer.text(2, info.client);
  if (info.connInfo !== undefined) writer.text(3, info.connInfo);
  if (info.chanInfo !== undefined) writer.text(4, info.chanInfo);
}
