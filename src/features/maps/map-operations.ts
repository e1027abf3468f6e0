import type { ChannelPart, PartedChannel, PartOutcome } from "../../channel/channel-part.ts";
import type { HistoryOutcome } from "../../channel/history.ts";
import type { ChannelOperation, HistoryQuery } from "../../contract/channel-call.ts";
import type { RelayEntry } from "../../contract/relay-batch.ts";
import { limits } from "../../limits.ts";
import type { FieldWriter } from "../../protocol/fields.ts";
import { isNoPayload } from "../../protocol/payload.ts";
import type { ClientInfo, Publication, StreamPosition } from "../../protocol/publication.ts";
import { changeFields, clientInfoFields } from "../../protocol/reply-fields.ts";
import { jsonOf } from "../../protocol/json/encode.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import { ChannelMap } from "./channel-map.ts";
import type { AppendOutcome } from "./growth/map-growth.ts";
import { type MapOperation, removalOf } from "./map-call.ts";

declare module "../../contract/relay-batch.ts" {
  interface RelayEntries {
    /**
     * The subscription of a client to a map has ended: the key that is the client's ID goes with it (rule Z20). It goes to
     * the channel's object only.
     */
    readonly gone: { readonly info: ClientInfo };
  }
}

/** Carries out the operations on a channel that is a map (docs/protocol.md 3.4). */
export class MapPart implements ChannelPart {
  readonly #map: ChannelMap;

  constructor(map: ChannelMap) {
    this.#map = map;
  }

  carryOut(operation: ChannelOperation, nowMs: number, roomBytes: number): PartOutcome | undefined {
    return isMapOperation(operation) ? this.#carryOut(operation, nowMs, roomBytes) : undefined;
  }

  announced(entry: RelayEntry, nowMs: number): void {
    if (entry.type === "gone") this.#map.change(removalOf(entry.info), entry.info, nowMs);
  }

  #carryOut(operation: MapOperation, nowMs: number, roomBytes: number): PartOutcome {
    const map = this.#map;
    switch (operation.method) {
      case "map_publish":
      case "map_remove": {
        const change = map.change(operation, operation.info, nowMs, operation.key);
        return change.outcome === "changed" ? { ...change, outcome: "published" } : change;
      }
      case "map_append":
        return this.#append(operation, nowMs);
      case "map_read_state": {
        const read = map.readState(operation.request, nowMs);
        return read.outcome === "unrecoverable"
          ? read
          : resultOf({ ...read, publications: read.entries });
      }
      case "map_read_stream": {
        const read = readChanges(map, operation.request, nowMs);
        return read.outcome === "history" ? resultOf({ ...read, cursor: "" }) : read;
      }
      case "map_state": {
        const bytesMax = Math.min(operation.bytesMax ?? limits.answerBytesMax, roomBytes);
        const page = map.page(operation.request, nowMs, bytesMax);
        if (page.outcome === "unrecoverable") return page;
        return { outcome: "reply", reply: { ...page, outcome: "page" } };
      }
      case "map_stream": {
        const { since, limit } = operation.request;
        const bytesMax = Math.min(operation.bytesMax ?? limits.answerBytesMax, roomBytes);
        const read = map.changesAfter(since, limit, nowMs, bytesMax);
        return read.outcome === "unrecoverable" ? read : { ...read, outcome: "history" };
      }
      case "map_stats": {
        const keys = map.keys(nowMs);
        const fields = (out: FieldWriter): void => out.unsigned(1, "num_keys", keys, "always");
        return { outcome: "result", fields };
      }
      case "map_clear":
        map.clear(nowMs);
        return { outcome: "done" };
      default:
        // A newer release may send an operation that this release doesn't know yet, and may send it again (rule V1).
        return { outcome: "unknown" };
    }
  }

  #append(
    { request, info, key, asMethod }: Extract<MapOperation, { readonly method: "map_append" }>,
    nowMs: number,
  ): PartOutcome {
    const appended = this.#map.append(request, info, nowMs, key);
    if (appended.outcome !== "appended" && appended.outcome !== "not-appended") return appended;
    const fields = (out: FieldWriter): void => appendFields(out, appended);
    if (asMethod !== true) return { outcome: "result", fields };
    const data = trustedJsonText(jsonOf(appended, appendFields));
    return { outcome: "reply", reply: { outcome: "answered", data } };
  }
}

/** The result of an append; `length` is that of the text, in UTF-16 units. */
function appendFields(out: FieldWriter, appended: AppendResult): void {
  out.unsigned(1, "length", appended.length, "always");
  if (appended.outcome === "appended") {
    out.unsigned(2, "offset", appended.position.offset, "always");
    out.text(3, "epoch", appended.position.epoch, "always");
  } else {
    out.flag(4, "suppressed", true);
    out.text(5, "suppress_reason", appended.reason);
  }
}

type AppendResult = Extract<AppendOutcome, { readonly outcome: "appended" | "not-appended" }>;

/** On a channel that is no map. */
export const noMap: ChannelPart = {
  carryOut: (operation) => (isMapOperation(operation) ? { outcome: "not-available" } : undefined),
};

/** The keys of a channel that is a map; undefined for any other one. */
export function mapOf({ keys }: Pick<PartedChannel, "keys">): ChannelMap | undefined {
  return keys instanceof ChannelMap ? keys : undefined;
}

/** Whether an operation is one on a map. */
function isMapOperation(operation: ChannelOperation): operation is MapOperation {
  return operation.method.startsWith("map_");
}

/** Entries of the state, or changes of the stream, as a backend reads them. */
interface ReadPage {
  /** Those of the state have the time of their change. */
  readonly publications: readonly ReadEntry[];
  readonly position: StreamPosition;
  /** Of the next page; "" if this is the last one. */
  readonly cursor: string;
}

type ReadEntry = Publication & { readonly timeMs?: number };

function resultOf({ publications, position, cursor }: ReadPage): PartOutcome {
  const fields = (out: FieldWriter): void => {
    out.messages(1, "entries", publications, entryFields, "always");
    changeFields(out, position);
    out.text(4, "cursor", cursor);
  };
  return { outcome: "result", fields };
}

function entryFields(out: FieldWriter, entry: ReadEntry): void {
  out.text(1, "key", entry.key);
  if (entry.removed !== true && !isNoPayload(entry.data)) out.payload(2, "data", entry.data);
  out.textMap(3, "tags", entry.tags);
  out.unsigned(4, "offset", entry.offset);
  out.signed(5, "score", entry.score);
  out.flag(6, "removed", entry.removed);
  out.unsigned(7, "time", entry.timeMs);
  out.message(8, "info", entry.info, clientInfoFields);
}

/** Reads the changes of a map, as `map_read_stream` asks for them (rule Z47). */
export function readChanges(map: ChannelMap, query: HistoryQuery, nowMs: number): HistoryOutcome {
  const read = map.changes(query, nowMs);
  return read.outcome === "history" && isTrimmed(query, read)
    ? { outcome: "unrecoverable-position" }
    : read;
}

/** Whether changes after the position of a query can't be read any more: a reader would go on without them (rule Z47). */
function isTrimmed(
  { since, reverse, limit }: HistoryQuery,
  { publications, position }: Extract<HistoryOutcome, { readonly outcome: "history" }>,
): boolean {
  if (since === undefined || reverse || limit === 0 || since.offset >= position.offset)
    return false;
  return publications[0]?.offset !== since.offset + 1;
}
