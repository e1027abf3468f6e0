import type { Sql } from "../sql.ts";
import type { Piece } from "../protocol/piece.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { ChannelCounts } from "./channel-outcomes.ts";
import type { HistoryQuery } from "../contract/channel-call.ts";
import type { History, HistoryOptions, HistoryOutcome } from "./history.ts";
import type { HistoryEntry, HistoryRows, Stream } from "./history-table.ts";
import type { Changer } from "./publication-request.ts";
import type { PublicationStore } from "./publication-store.ts";
import type { StoredTable } from "./stored-tables.ts";

/**
 * A kind of streams whose publications are changes of keys, which a feature keeps beside the stream. It follows from the
 * channel's options alone, so that gateways know it as well as the channel's object.
 */
export interface KeyedStream {
  readonly history: HistoryOptions;
  /** How many missed publications are too many for a subscriber. */
  readonly recoveryLimit: number;
  /** Whether subscribers receive no offsets. */
  readonly hidesOffsets: boolean;
  /** The tables of such a channel, beside `stream` and `gateway`. */
  readonly tables: readonly StoredTable[];
  /**
   * Opens what a former instance stored.
   *
   * @param tables those that exist
   */
  open(sql: Sql, tables: ReadonlySet<StoredTable>): OpenedKeys;
}

/** The stored keys of a channel that is about to begin. */
export interface OpenedKeys {
  /** Where the changes are, and the stream before them, if they are in memory; undefined if they are stored. */
  readonly memory: StreamMemory | undefined;
  /** The channel has its stream. */
  begin(setup: KeysSetup): ChannelKeys;
}

/** A stream that isn't stored in tables. */
export interface StreamMemory {
  readonly rows: HistoryRows;
  readonly stream?: Stream;
}

/** The objects and ports that a channel lends to its keys. */
export interface KeysSetup {
  readonly channel: KeyedChannel;
  readonly history: History;
  /** Writes a change, and what belongs to it in the same transaction. */
  readonly publications: PublicationStore;
  /** Undefined where nothing is counted. */
  readonly counts: ChannelCounts | undefined;
}

/** The channel of keys, as they see it. */
export interface KeyedChannel {
  /** Whether the channel has subscribers, here or on gateways. */
  readonly isHeld: boolean;
  /** The top, of a new stream if there is none. */
  position(nowMs: number): StreamPosition | undefined;
  /** Collects a change that was stored. */
  published(
    publication: Publication,
    entry: HistoryEntry,
    position: StreamPosition,
    by: Changer,
  ): void;
  /** Reads the stream. */
  readStream(query: HistoryQuery, nowMs: number): HistoryOutcome;
  /**
   * Begins a new stream, with a new epoch, and tells the subscribers (rule Z5).
   *
   * @param renewed if it is given, the top and the keys stay (rule Z41), and it writes what belongs to that in the same
   *                transaction
   */
  restart(nowMs: number, renewed?: () => void): void;
  /** Collects a piece by which a value has grown, and which is not durable yet (rule Z39). */
  grow(piece: Piece): void;
}

/** The keys of a channel. They last as long as its stream, and are of the same moment as its top. */
export interface ChannelKeys {
  /**
   * Begins a new stream if the keys were lost in a crash. It is called before the channel looks at its top. It is also
   * called at the end of an event, before the relay and the hub send anything. So everything that is sent afterwards
   * has the position of the new stream.
   */
  tellLoss(nowMs: number): void;
  /** The event ends: finds out whether the clock was set back (rule S5). */
  checkClock(nowMs: number): void;
  /** Whether no key is left, so that the stream may be deleted. */
  readonly isEmpty: boolean;
  /** When the object's alarm has to ring for a key, ms since 1970; undefined for never. */
  readonly dueAtMs: number | undefined;
  /** The stream is deleted, in this transaction. */
  forget(): void;
}
