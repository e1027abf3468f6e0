import type { Channel } from "../channel/channel.ts";
import type { ChannelMap, MapChangeOutcome } from "../channel/channel-map.ts";
import { changeError, historyError } from "../channel/outcome-error.ts";
import type { ChannelAnswer } from "../contract/channel-call.ts";
import type { MapCommand, MapStateQuery, MapStreamQuery } from "../contract/map-call.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { FieldWriter } from "../protocol/fields.ts";
import { jsonOf } from "../protocol/json/encode.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { isNoPayload } from "../protocol/payload.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import { clientInfoFields } from "../protocol/reply-fields.ts";

/** Carries out one command of the HTTP API on a channel that is a map (docs/protocol.md 3.4 and 6.2). */
export function executeMap(channel: Channel, command: MapCommand, nowMs: number): ChannelAnswer {
  const { map } = channel;
  if (map === undefined) return { error: errorCodes.notAvailable };
  switch (command.method) {
    case "map_publish":
    case "map_remove":
      return changeAnswer(map.change(command, undefined, nowMs, command.key));
    case "map_read_state":
      return readState(map, command.request, nowMs);
    case "map_read_stream":
      return readStream(channel, command.request, nowMs);
    case "map_stats":
      return { result: trustedJsonText(`{"num_keys":${map.keys(nowMs)}}`) };
    case "map_clear":
      map.clear(nowMs);
      return { result: trustedJsonText("{}") };
  }
}

function changeAnswer(outcome: MapChangeOutcome): ChannelAnswer {
  switch (outcome.outcome) {
    case "changed":
      return { result: jsonText(outcome.position, positionFields) };
    case "suppressed":
      return { result: jsonText(outcome, suppressedFields) };
    case "full":
    case "too-many-keys":
      return { error: changeError(outcome.outcome) };
  }
}

function readState(map: ChannelMap, query: MapStateQuery, nowMs: number): ChannelAnswer {
  const read = map.readState(query, nowMs);
  if (read.outcome === "unrecoverable") return { error: errorCodes.unrecoverablePosition };
  return { result: jsonText(read, stateFields) };
}

function readStream(channel: Channel, query: MapStreamQuery, nowMs: number): ChannelAnswer {
  const read = channel.changes(query, nowMs);
  return read.outcome === "history"
    ? { result: jsonText({ ...read, entries: read.publications, cursor: "" }, stateFields) }
    : { error: historyError(read.outcome) };
}

/** The answer to a change that did nothing, with where it would have been made. */
type Suppressed = Extract<MapChangeOutcome, { readonly outcome: "suppressed" }>;

/** Entries of the state or of the stream; those of the state have a time. */
interface Entries {
  readonly entries: readonly (Publication & { readonly timeMs?: number })[];
  readonly position: StreamPosition;
  readonly cursor: string;
}

function jsonText<M>(message: M, fields: (out: FieldWriter, message: M) => void): JsonText {
  return trustedJsonText(jsonOf(message, fields));
}

function positionFields(out: FieldWriter, { offset, epoch }: StreamPosition): void {
  out.unsigned(1, "offset", offset, "always");
  out.text(2, "epoch", epoch, "always");
}

function suppressedFields(out: FieldWriter, { position, reason, currentOffset }: Suppressed): void {
  positionFields(out, position);
  out.flag(3, "suppressed", true);
  out.text(4, "suppress_reason", reason);
  out.unsigned(1000, "current_offset", currentOffset, "always");
}

function stateFields(out: FieldWriter, { entries, position, cursor }: Entries): void {
  out.messages(1, "entries", entries, entryFields, "always");
  positionFields(out, position);
  out.text(4, "cursor", cursor);
}

function entryFields(out: FieldWriter, entry: Entries["entries"][number]): void {
  out.text(1, "key", entry.key);
  if (entry.removed !== true && !isNoPayload(entry.data)) out.payload(2, "data", entry.data);
  out.textMap(3, "tags", entry.tags);
  out.unsigned(4, "offset", entry.offset);
  out.signed(5, "score", entry.score);
  out.flag(6, "removed", entry.removed);
  out.unsigned(7, "time", entry.timeMs);
  out.message(8, "info", entry.info, clientInfoFields);
}
