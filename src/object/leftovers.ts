import { storedAtMs } from "../channel/stored-tables.ts";
import type { Sql } from "../sql.ts";
import type { AlarmSchedule } from "./alarm-schedule.ts";
import type { ObjectPart } from "./part.ts";
import type { Platform } from "./platform.ts";

/**
 * Deletes the storage of a channel's object once it holds nothing any more (rule H13). An alarm leaves a table of the
 * platform behind. With sockets, the next ping would make it again.
 */
export class Leftovers {
  readonly #setup: LeftoversSetup;
  /** Whether the storage may hold tables. */
  #hadStorage: boolean;
  /** Whether the platform may keep something of an alarm that rang. */
  #hadAlarm = true;

  /** @param hasTables whether the storage had tables when the object woke */
  constructor(setup: LeftoversSetup, hasTables: boolean) {
    this.#setup = setup;
    this.#hadStorage = hasTables;
  }

  /** To be called at the end of each event. */
  note(): void {
    this.#hadStorage ||= !this.#storesNothing();
  }

  /** The alarm has rung, and its work is done. */
  afterAlarm(nowMs: number, done: () => void): void {
    this.#hadAlarm = true;
    if (this.#storesNothing()) this.#delete(nowMs, done);
    else done();
  }

  /** The last socket may leave after the last alarm, and then nothing else would delete what is left. */
  afterSocket(nowMs: number): void {
    const { holdsSockets, alarms } = this.#setup;
    if (!holdsSockets() && !alarms.pending && this.#hadAlarm && this.#storesNothing())
      this.#delete(nowMs, () => undefined);
  }

  #storesNothing(): boolean {
    const { storesNothing, parts } = this.#setup;
    return storesNothing() && parts().every((part) => part.storesNothing?.() !== false);
  }

  #delete(nowMs: number, done: () => void): void {
    const { platform, alarms, holdsSockets, unknownMetaTtlMs, parts } = this.#setup;
    if (!this.#hadStorage && holdsSockets()) {
      done();
      return;
    }
    const endsAtMs =
      unknownMetaTtlMs === undefined ? nowMs : storedAtMs(platform.sql) + unknownMetaTtlMs;
    if (endsAtMs > nowMs) {
      alarms.atMost(endsAtMs);
      done();
      return;
    }
    platform.deleteAll(() => {
      this.#hadStorage = false;
      this.#hadAlarm = false;
      done();
    });
    // The instance lives on, and may write again before the deletion is durable.
    for (const part of parts()) part.storageDeleted?.();
  }
}

interface LeftoversSetup {
  readonly platform: Pick<Platform, "sql" | "deleteAll">;
  readonly alarms: AlarmSchedule;
  /** What features have added to the object. */
  readonly parts: () => readonly ObjectPart[];
  /** Whether the channel has nothing stored. */
  readonly storesNothing: () => boolean;
  readonly holdsSockets: () => boolean;
  /**
   * How long the storage is kept if the channel's namespace has left the configuration, which may come back; undefined if
   * the configuration has it.
   */
  readonly unknownMetaTtlMs: number | undefined;
}

/**
 * The storage of a channel whose namespace the configuration doesn't have: it holds nothing, and nothing may be
 * written.
 */
export const noStorage: Sql = {
  rows: () => [],
  run: () => {
    throw new Error("A channel of an unknown namespace wrote to its storage");
  },
  transaction: (work) => work(),
};
