import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../test/support/random.ts";
import { type BackendAddress, BackendCalls } from "./clients/backend-call.ts";
import { Backoff } from "./clients/backoff.ts";
import { keysMax } from "./clients/map-subscriber.ts";
import { microseconds } from "./history/clock.ts";
import type { Recorder } from "./history/recorder.ts";
import type { ProvedMap } from "./scenario.ts";

/**
 * A backend that changes keys of maps at random, some with versions, key modes and offsets. It repeats a change of unknown
 * outcome with its idempotency key, unless the map is ephemeral: that one forgets such keys with its memory.
 */
export class MapLoad {
  readonly #calls: BackendCalls;
  readonly #maps: readonly ProvedMap[];
  readonly #random: Random;
  readonly #recorder: Recorder;
  readonly #stopping = new AbortController();
  /** The offset of the last change of a key of which the backend was told, by map and key. */
  readonly #offsets = new Map<string, number>();
  #underWay: Promise<unknown> = Promise.resolve();
  #changes = 0;
  #versions = 0;
  /** Failures that no server may cause, in sentences. */
  readonly failures: string[] = [];

  constructor(
    backend: BackendAddress,
    maps: readonly ProvedMap[],
    random: Random,
    recorder: Recorder,
  ) {
    this.#calls = new BackendCalls(backend);
    this.#maps = maps;
    this.#random = random;
    this.#recorder = recorder;
  }

  /** Changes a key of each map, so that its stream is stored before the first client comes. */
  async prepare(): Promise<void> {
    for (const map of this.#maps) await this.#change(map);
  }

  start(): void {
    const each = this.#maps.flatMap((map) => Array.from({ length: atATime }, () => map));
    this.#underWay = Promise.all(each.map((map) => this.#changeSteadily(map)));
  }

  /** Makes no further change. Resolves when all are answered or given up; rejects when one failed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#underWay;
    if (this.failures.length > 0) throw new Error(this.failures.join("\n"));
  }

  /** Records the state of each map, once everything has settled. */
  async read(): Promise<void> {
    for (const { name: channel } of this.#maps) {
      const called = await this.#calls.call("map_read_state", { channel, limit: -1 });
      if (called.outcome !== "result") throw new Error(`${channel} couldn't be read`);
      const { epoch = "", offset = 0, entries = [] }: State = called.result;
      this.#recorder.record({
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

  /** Closes the connections. No call may follow. */
  close(): void {
    this.#stopping.abort();
    this.#calls.close();
  }

  async #changeSteadily(map: ProvedMap): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(this.#random.between(20, 120), undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#change(map);
    }
  }

  async #change({ name: channel, mode }: ProvedMap): Promise<void> {
    const change = `map-${++this.#changes}`;
    const key = `key-${this.#random.between(1, keysMax)}`;
    const isRemoval = this.#random.chance(0.25);
    const isKeyed = mode !== "ephemeral" && this.#random.chance(0.8);
    const command = {
      channel,
      key,
      ...(isKeyed ? { idempotency_key: change } : {}),
      ...(this.#random.chance(0.1)
        ? { if_offset: this.#offsets.get(`${channel} ${key}`) ?? 0 }
        : {}),
      ...(isRemoval ? {} : { data: change, ...this.#conditions() }),
    };
    const value = isRemoval ? {} : { value: change };
    const told = { process: "maps", f: "map-change", channel, change, key, ...value } as const;
    this.#recorder.record({ ...told, type: "invoke", time: microseconds() });
    const backoff = new Backoff(this.#random);
    const endMs = performance.now() + (isKeyed ? giveUpAfterMs : 0);
    let type: "fail" | "info" = "fail";
    for (;;) {
      const called = await this.#calls.call(isRemoval ? "map_remove" : "map_publish", command);
      if (called.outcome === "wrong") this.failures.push(`${channel}: ${called.problem}`);
      if (called.outcome === "result") {
        const place = this.#placeOf(called.result, `${channel} ${key}`, isRemoval);
        this.#recorder.record({ ...told, type: "ok", time: microseconds(), ...place });
        return;
      }
      if (called.outcome !== "refused") type = "info";
      if (called.outcome === "wrong" || performance.now() >= endMs) break;
      await pause(backoff.next());
    }
    this.#recorder.record({ ...told, type, time: microseconds() });
  }

  #conditions(): object {
    const roll = this.#random.next();
    if (roll < 0.1) return { key_mode: "if_new" };
    if (roll < 0.2) return { key_mode: "if_exists" };
    // Now and then an older version comes late.
    const behind = this.#random.chance(0.3) ? 3 : 0;
    if (roll < 0.4) return { version: Math.max(1, ++this.#versions - behind) };
    return {};
  }

  #placeOf(result: Changed, name: string, isRemoval: boolean): object {
    const { epoch = "", offset = 0, suppress_reason: reason } = result;
    if (reason !== undefined && reason !== "idempotency") return { suppressed: reason };
    this.#offsets.set(name, isRemoval ? 0 : offset);
    return { epoch, offset };
  }
}

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
const atATime = 2;
const giveUpAfterMs = 60_000;
