import { encodeClientInfo, encodePublication } from "./json-publication.ts";
import { trustedJsonText, type JsonText } from "./text.ts";
import type { Publication, StreamPosition } from "../publication.ts";
import type { HistoryResult, PresenceResult, PresenceStatsResult } from "../reply.ts";

/**
 * Results that clients and the HTTP API are given alike, as JSON on one line. SDKs read these fields without asking
 * whether they are there, so all of them always are (reference 1.3). Only `incomplete`, which is ours, comes when it is
 * true.
 */
export function encodeHistory({ publications, position }: HistoryResult): JsonText {
  const epoch = JSON.stringify(position.epoch);
  return trustedJsonText(
    `{"publications":${encodePublications(publications)},"epoch":${epoch},"offset":${position.offset}}`,
  );
}

/** Everybody present, by connection ID. */
export function encodePresence({ clients, incomplete }: PresenceResult): JsonText {
  const members = clients.map((info) => `${JSON.stringify(info.client)}:${encodeClientInfo(info)}`);
  return trustedJsonText(`{"presence":{${members.join(",")}}${incompleteField(incomplete)}}`);
}

/** How many are present. */
export function encodePresenceStats(result: PresenceStatsResult): JsonText {
  const { clientCount, userCount, incomplete } = result;
  return trustedJsonText(
    `{"num_clients":${clientCount},"num_users":${userCount}${incompleteField(incomplete)}}`,
  );
}

/** Where a publication went; `{}` for one without history. Only the HTTP API tells. */
export function encodePosition(position: StreamPosition | undefined): JsonText {
  if (position === undefined) return trustedJsonText("{}");
  return trustedJsonText(`{"offset":${position.offset},"epoch":${JSON.stringify(position.epoch)}}`);
}

/** Publications in their order, as an array. */
export function encodePublications(publications: readonly Publication[]): JsonText {
  return trustedJsonText(`[${publications.map(encodePublication).join(",")}]`);
}

function incompleteField(incomplete: boolean | undefined): string {
  return incomplete === true ? ',"incomplete":true' : "";
}
