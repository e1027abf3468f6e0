import type { EventsConfig } from "../../../../src/features/events/config.ts";
import type { ObjectEvent } from "../../../../src/features/events/event.ts";
import { type EventBatch, Outbox } from "../../../../src/features/events/outbox.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import type { Sql, SqlRow, SqlValue } from "../../../../src/sql.ts";

/** A configuration of events with an HTTP target, small bounds, and what a test sets. */
export function eventsConfig(more: Partial<EventsConfig> = {}): EventsConfig {
  return {
    target: { kind: "url", url: "https://backend.example.com/" },
    types: new Set(["publication"]),
    batchMax: 3,
    keepMs: 86_400_000,
    keepMax: 10,
    ...more,
  };
}

/** Opens the outbox of an object on a storage that may hold the state of an earlier one. */
export function openOutbox(sql: Sql, more: Partial<EventsConfig> = {}): Outbox {
  return new Outbox({ sql, object: "channel/news", config: eventsConfig(more) });
}

/** A publication with this number as its payload. */
export function published(data: number | string): ObjectEvent {
  return { type: "publication", channel: "news", data: trustedJsonText(String(data)) };
}

/** An event as a receiver sees it. */
export interface SentEvent {
  readonly object: string;
  readonly number: number;
  readonly time: number;
  readonly first?: true;
  readonly type: string;
  readonly data?: number;
  readonly from?: number;
  readonly to?: number;
}

/** The events in a body. */
export function eventsIn(body: string): readonly SentEvent[] {
  const { events }: { readonly events: readonly SentEvent[] } = JSON.parse(body);
  return events;
}

/** The events of a batch, which has to be due; each is a payload, or `gap` with its numbers. */
export function shownBatch(outbox: Outbox, nowMs: number): readonly (number | string)[] {
  const batch = beginDue(outbox, nowMs);
  return shown(batch);
}

/** Begins the batch that is due. */
export function beginDue(outbox: Outbox, nowMs: number): EventBatch {
  const batch = outbox.begin(nowMs);
  if (batch === undefined) throw new Error("no batch is due");
  return batch;
}

export function shown({ body }: EventBatch): readonly (number | string)[] {
  return eventsIn(body).map(({ type, data, from, to }) =>
    type === "gap" ? `gap ${from}-${to}` : (data ?? type),
  );
}

/** A storage that counts its statements, each of which writes one row, and the rows that it reads. */
export function countedWrites(sql: Sql): Sql & { count: number; read: number } {
  return {
    count: 0,
    read: 0,
    rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
      const rows = sql.rows(query, ...values);
      this.read += rows.length;
      return rows;
    },
    run(statement: string, ...values: readonly SqlValue[]): void {
      this.count++;
      sql.run(statement, ...values);
    },
    transaction<Result>(work: () => Result): Result {
      return sql.transaction(work);
    },
  };
}
