import { Records } from "../../support/records.ts";
import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../support/random.ts";
import { BackendLoad } from "./backend-load.ts";
import type { BackendAddress } from "./clients/backend-call.ts";
import { keysMax } from "./clients/map-subscriber.ts";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { microseconds } from "./history/clock.ts";
import type { Recorder } from "./history/recorder.ts";
import type { ProvedMap } from "./scenario.ts";

/**
 * A backend that changes keys of maps at random, some with versions, key modes and offsets. Some versions come late, and
 * some offsets are those before the last change. It repeats a change of unknown outcome with its idempotency key, unless
 * the map is ephemeral: that one forgets such keys with its memory.
 */
export class MapLoad extends BackendLoad {
  readonly #maps: readonly ProvedMap[];
  /** What the backend knows of keys, by map and key. */
  readonly #keys = new Records((): KnownKey => ({ offset: 0, before: 0, version: 0 }));
  #changes = 0;

  constructor(
    backend: BackendAddress,
    maps: readonly ProvedMap[],
    random: Random,
    recorder: Recorder,
  ) {
    super(backend, random, recorder);
    this.#maps = maps;
  }

  /** Changes a key of each map, so that its stream is stored before the first client comes. */
  async prepare(): Promise<void> {
    for (const map of this.#maps) if (map.load !== "code") await this.#change(map);
  }

  protected override loops(): readonly Promise<void>[] {
    const each = this.#maps.flatMap((map) => Array.from({ length: atATime[map.load] }, () => map));
    return each.map((map) => this.steadily(20, 120, () => this.#change(map)));
  }

  /** The maps that are changed by {@link stir} alone. */
  get still(): readonly string[] {
    return this.#maps.filter(({ load }) => load === "still").map(({ name }) => name);
  }

  /**
   * Changes a map, lets the object write it down, and changes it again: a crash then finds a map of which only a former
   * state is stored.
   */
  async stir(channel: string): Promise<void> {
    const map = this.#maps.find(({ name }) => name === channel);
    if (map === undefined) return;
    for (let change = 0; change < stirredKeys; change++) await this.#change(map);
    await pause(mapLimits.mapRestMs + restsMs);
    for (let change = 0; change < stirredKeys; change++) await this.#change(map);
  }

  /** Records the state of each map, once everything has settled. */
  async read(): Promise<void> {
    for (const { name: channel } of this.#maps) {
      const called = await this.calls.call("map_read_state", { channel, limit: -1 });
      if (called.outcome !== "result") throw new Error(`${channel} couldn't be read`);
      const { epoch = "", offset = 0, entries = [] }: State = called.result;
      this.recorder.record({
        time: microseconds(),
        process: "maps",
        type: "ok",
        f: "map-read",
        channel,
        epoch,
        offset,
        entries: entries.map(({ key, data, offset: at }) => ({ key, value: data, offset: at })),
      });
    }
  }

  async #change({ name: channel, mode, load }: ProvedMap): Promise<void> {
    const change = `map-${++this.#changes}`;
    const key = `key-${this.random.between(1, keysMax)}`;
    const known = this.#keys.of(`${channel} ${key}`);
    const isRandom = load === "random";
    const isRemoval = isRandom && this.random.chance(0.25);
    const isKeyed = mode !== "ephemeral" && this.random.chance(0.8);
    const { version, ifOffset, keyMode } = isRandom ? this.#conditions(known) : anyway;
    const command = {
      channel,
      key,
      ...(isKeyed && { idempotency_key: change }),
      ...(ifOffset !== undefined && { if_offset: ifOffset }),
      ...(!isRemoval && { data: change, key_mode: keyMode }),
      ...(!isRemoval && version !== undefined && { version }),
    };
    const value = isRemoval ? {} : { value: change };
    const told = { process: "maps", f: "map-change", channel, change, key, ...value } as const;
    const conditions = {
      ...(!isRemoval && version !== undefined && { version }),
      ...(ifOffset !== undefined && { ifOffset }),
    };
    this.recorder.record({ ...told, ...conditions, type: "invoke", time: microseconds() });
    const called = await this.calls.repeat(
      isRemoval ? "map_remove" : "map_publish",
      command,
      this.random,
      isKeyed ? giveUpAfterMs : 0,
    );
    if (called.outcome !== "result") {
      if (called.outcome === "wrong") this.failures.push(`${channel}: ${called.problem}`);
      const type = called.outcome === "refused" ? "fail" : "info";
      this.recorder.record({ ...told, type, time: microseconds() });
      return;
    }
    const place = placeOf(called.result, known, isRemoval);
    // An attempt of unknown outcome may be carried out yet, if this one did nothing (rule Z7).
    const isOpen = "suppressed" in place && called.wasLost;
    const ended = isOpen ? ({ type: "info" } as const) : ({ type: "ok", ...place } as const);
    this.recorder.record({ ...told, ...ended, time: microseconds() });
  }

  /** The conditions of a change: most of them hold, and some name what was there before. */
  #conditions(known: KnownKey): Conditions {
    const keyMode = this.random.pick(["", "", "", "", "", "", "if_new", "if_exists"] as const);
    const isVersioned = this.random.chance(0.4);
    // A late version of a key that was removed must not bring it back.
    const isLate = this.random.chance(known.offset === 0 ? 0.7 : 0.3) && known.version > 0;
    if (isVersioned && !isLate) known.version++;
    const late = this.random.between(Math.max(1, known.version - 2), known.version);
    const ifOffset = this.random.chance(0.7) ? known.offset : known.before;
    return {
      keyMode,
      version: isVersioned ? (isLate ? late : known.version) : undefined,
      ifOffset: this.random.chance(0.15) ? ifOffset : undefined,
    };
  }
}

function placeOf(result: Changed, known: KnownKey, isRemoval: boolean): object {
  const { epoch = "", offset = 0, suppress_reason: reason } = result;
  if (reason !== undefined && reason !== "idempotency") return { suppressed: reason };
  known.before = known.offset;
  known.offset = isRemoval ? 0 : offset;
  return { epoch, offset };
}

/** What the backend knows of a key; clients and other changes of it may have changed it since. */
interface KnownKey {
  /** Of the last change of which the backend was told; 0 if that was a removal. */
  offset: number;
  /** The same before that change. */
  before: number;
  /** The newest version that the backend has used. */
  version: number;
}

/** Under which conditions a change is made. */
interface Conditions {
  readonly keyMode: "" | "if_new" | "if_exists";
  readonly version: number | undefined;
  readonly ifOffset: number | undefined;
}

const anyway: Conditions = { keyMode: "", version: undefined, ifOffset: undefined };

/** The results of `map_publish`, `map_remove` and `map_read_state`. */
interface Changed {
  readonly epoch?: string;
  readonly offset?: number;
  readonly suppress_reason?: string;
}

interface State {
  readonly epoch?: string;
  readonly offset?: number;
  readonly entries?: readonly {
    readonly key: string;
    readonly data: string;
    readonly offset: number;
  }[];
}

/** Changes of one map that are under way at the same time. */
const atATime = { random: 2, ends: 1, still: 0, code: 0 } as const;
const stirredKeys = 2;
/** How long after the pause of rule Z11 the map is written down. */
const restsMs = 300;
const giveUpAfterMs = 60_000;
