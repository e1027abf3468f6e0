import type { MapOperation, MapPageReply } from "./map-call.ts";
import { limits } from "../../limits.ts";
import type { Publication } from "../../protocol/publication.ts";
import type { Channel } from "../../channel/channel.ts";
import type { MapChangeOutcome, MapPageOutcome } from "./map-outcomes.ts";
import type { HistoryOutcome } from "../../channel/history.ts";

/**
 * Carries out an operation on a channel that must be a map (docs/protocol.md 3.4).
 *
 * @param roomBytes how large the publications of the reply may be, where the operation itself allows more
 */
export function carryOutOnMap(
  channel: Channel,
  operation: MapOperation,
  nowMs: number,
  roomBytes: number,
): MapOutcome {
  const { map } = channel;
  if (map === undefined) return { outcome: "not-available" };
  switch (operation.method) {
    case "map_publish":
    case "map_remove":
      return map.change(operation, operation.info, nowMs, operation.key);
    case "map_read_state": {
      const read = map.readState(operation.request, nowMs);
      if (read.outcome === "unrecoverable") return read;
      return { ...read, outcome: "page", publications: read.entries };
    }
    case "map_read_stream": {
      const read = channel.changes(operation.request, nowMs);
      return read.outcome === "history" ? { ...read, outcome: "page", cursor: "" } : read;
    }
    case "map_state": {
      const bytesMax = Math.min(operation.bytesMax ?? limits.answerBytesMax, roomBytes);
      const page = map.page(operation.request, nowMs, bytesMax);
      return page.outcome === "unrecoverable" ? page : { ...page, outcome: "page" };
    }
    case "map_stream": {
      const { since, limit } = operation.request;
      const bytesMax = Math.min(operation.bytesMax ?? limits.answerBytesMax, roomBytes);
      const read = map.changesAfter(since, limit, nowMs, bytesMax);
      return read.outcome === "unrecoverable" ? read : { ...read, outcome: "history" };
    }
    case "map_stats":
      return { outcome: "counted", keys: map.keys(nowMs) };
    case "map_clear":
      map.clear(nowMs);
      return { outcome: "done" };
    default:
      // A newer release may send an operation that this release doesn't know yet, and may send it again (rule V1).
      return { outcome: "unknown" };
  }
}

/** What an operation on a map has done or read. */
type MapOutcome =
  | MapChangeOutcome
  | HistoryOutcome
  /** Entries of the state, which have the time of their change if a backend reads them; or changes of the stream. */
  | (MapPageReply & {
      readonly publications: readonly (Publication & { readonly timeMs?: number })[];
    })
  | Extract<MapPageOutcome, { readonly outcome: "unrecoverable" }>
  | { readonly outcome: "counted"; readonly keys: number }
  | { readonly outcome: "done" }
  | { readonly outcome: "unknown" };
