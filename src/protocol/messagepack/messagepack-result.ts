import { writeClientInfo, writePublications } from "./messagepack-publication.ts";
import type { MessagePackWriter, OpenMap } from "./writer.ts";
import type { HistoryResult, PresenceResult, PresenceStatsResult } from "../reply.ts";

/** These results have all their fields always (reference 1.3). Only `incomplete`, which is ours, comes when it is true. */
export function writeHistory(
  writer: MessagePackWriter,
  { publications, position }: HistoryResult,
): void {
  const map = writer.openMap();
  writer.key(map, "publications");
  writePublications(writer, publications);
  writer.key(map, "epoch");
  writer.text(position.epoch);
  writer.key(map, "offset");
  writer.unsigned(position.offset);
}

/** Everybody present, by connection ID. */
export function writePresence(writer: MessagePackWriter, result: PresenceResult): void {
  const map = writer.openMap();
  writer.key(map, "presence");
  writer.map(result.clients.length);
  for (const info of result.clients) {
    writer.text(info.client);
    writeClientInfo(writer, info);
  }
  writeIncomplete(writer, map, result.incomplete);
}

/** How many are present. */
export function writePresenceStats(writer: MessagePackWriter, result: PresenceStatsResult): void {
  const map = writer.openMap();
  writer.key(map, "num_clients");
  writer.unsigned(result.clientCount);
  writer.key(map, "num_users");
  writer.unsigned(result.userCount);
  writeIncomplete(writer, map, result.incomplete);
}

function writeIncomplete(
  writer: MessagePackWriter,
  map: OpenMap,
  incomplete: boolean | undefined,
): void {
  if (incomplete !== true) return;
  writer.key(map, "incomplete");
  writer.flag(true);
}
