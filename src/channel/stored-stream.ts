import type { Sql } from "../sql.ts";
import type { ChannelSetup } from "./channel-setup.ts";
import { History, type HistoryOptions } from "./history.ts";
import { Idempotency } from "./idempotency.ts";
import { PublicationStore } from "./publication-store.ts";
import { dropOtherTables, type StoredTable, storedTables } from "./stored-tables.ts";
import type { OpenedKeys, KeyedStream } from "./keyed-stream.ts";

/** The stream of a channel as a former instance stored it, adapted to the configuration. */
export interface OpenedStream {
  readonly history: History;
  readonly idempotency: Idempotency;
  readonly store: PublicationStore;
  readonly options: HistoryOptions;
  /** The tables that exist. */
  readonly tables: ReadonlySet<StoredTable>;
  /** Whether the publications are stored. */
  readonly isStored: boolean;
  /** The keys that belong to it; undefined if publications have none. */
  readonly keys: OpenedKeys | undefined;
}

/**
 * Opens the stream of a channel.
 *
 * @param kind undefined for a stream of publications without keys
 */
export function openStream(
  { options, sql, newEpoch, nowMs, tables = storedTables(sql) }: ChannelSetup,
  kind: KeyedStream | undefined,
): OpenedStream {
  const own = dropOtherTables(kind?.tables ?? plainTables, sql, tables);
  const keys = kind?.open(sql, own);
  const isStored = keys?.memory === undefined;
  const ownSql = isStored ? sql : memorySql;
  const historyOptions = kind?.history ?? {
    size: options.historySize,
    ttlMs: options.historyTtlMs,
    metaTtlMs: options.historyMetaTtlMs,
  };
  const history = new History(ownSql, historyOptions, newEpoch, own, keys?.memory);
  // Keys are stored in any case (rule I3).
  const idempotency = new Idempotency(sql, history, nowMs, own);
  const store = new PublicationStore(sql, history, idempotency, isStored);
  // Young keys of the rows that are deleted are retained first.
  history.resize((offset, epoch) => idempotency.releaseBelow(offset, epoch, nowMs));
  return { history, idempotency, store, options: historyOptions, tables: own, isStored, keys };
}

/** The tables of a stream whose publications have no keys. */
const plainTables: readonly StoredTable[] = ["publication", "spared_key", "procedure_key"];

/** A port to storage that stores nothing, for the stream of a channel that is in memory. */
const memorySql: Sql = {
  rows: () => [],
  run: () => undefined,
  transaction: (work) => work(),
};
