import { DatabaseSync } from "node:sqlite";
import { isSqlRow } from "../../../package/test/node-sql.ts";
import type { Sql, SqlRow, SqlValue } from "../../../src/sql.ts";
import { costsMs } from "./measured-costs.ts";
import { ObjectThread } from "./object-thread.ts";
import type { Place } from "./places.ts";
import { StandSockets } from "./stand-sockets.ts";
import type { StandWorld } from "./stand-world.ts";

/** What the platform bills of an object, and what it sends. Sockets that stand for several clients count as often. */
export interface ObjectCounts {
  callsMade: number;
  callsFailed: number;
  callBytes: number;
  rowsWritten: number;
  rowsRead: number;
  alarmsSet: number;
  alarmsRung: number;
  framesSent: number;
  bytesSent: number;
  messagesTaken: number;
}

/** What outlives an object's memory: its name, its place, its rows, its alarm; and its thread, sockets and counts. */
export class StandObject implements Sql {
  readonly name: string;
  readonly world: StandWorld;
  readonly thread: ObjectThread;
  readonly sockets: StandSockets;
  place: Place;
  /** Whether calls and clients reach it. */
  isReachable = true;
  /** The number of its memory: what an earlier one asked for ends with it. */
  life = 0;
  alarmAtMs = Number.POSITIVE_INFINITY;
  counts: ObjectCounts = noCounts();
  #database: DatabaseSync | undefined;
  readonly #statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();

  constructor(name: string, place: Place, world: StandWorld) {
    this.name = name;
    this.place = place;
    this.world = world;
    this.thread = new ObjectThread(world.moments);
    this.sockets = new StandSockets(this);
  }

  get rowsWritten(): number {
    return this.counts.rowsWritten;
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    const rows = this.#prepared(query)
      .all(...values)
      .filter(isSqlRow);
    this.counts.rowsRead += rows.length;
    return rows;
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.thread.write();
    this.counts.rowsWritten += Number(this.#prepared(statement).run(...values).changes);
  }

  transaction<Result>(work: () => Result): Result {
    return work();
  }

  deleteAll(): void {
    this.thread.write();
    this.close();
  }

  /** Does something to the object, which takes its thread for so long; what fails because of it throws. */
  event(costMs: number, work: () => void): void {
    const { life } = this;
    this.thread.enqueue(costMs, () => {
      if (life === this.life) work();
    });
  }

  setAlarm(atMs: number, ring: () => void): void {
    this.thread.write();
    this.counts.alarmsSet++;
    this.alarmAtMs = atMs;
    this.world.moments.at(atMs, () => {
      if (this.alarmAtMs !== atMs) return;
      this.alarmAtMs = Number.POSITIVE_INFINITY;
      this.counts.alarmsRung++;
      this.thread.enqueue(costsMs.aroundRequest, ring);
    });
  }

  /** Begins to count anew. */
  reset(): void {
    this.counts = noCounts();
    this.thread.reset();
  }

  close(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = undefined;
  }

  #prepared(text: string): ReturnType<DatabaseSync["prepare"]> {
    this.#database ??= new DatabaseSync(":memory:");
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

export function noCounts(): ObjectCounts {
  return {
    callsMade: 0,
    callsFailed: 0,
    callBytes: 0,
    rowsWritten: 0,
    rowsRead: 0,
    alarmsSet: 0,
    alarmsRung: 0,
    framesSent: 0,
    bytesSent: 0,
    messagesTaken: 0,
  };
}
