import type { Load } from "./load/load.ts";
import type { BenchOptions } from "./options.ts";
import type { Bench } from "./scenarios/scenario.ts";
import type { SystemOptions, RunningSystem, System } from "./systems/system.ts";
import type { SystemName } from "./systems/wire.ts";

/** The sources of systems and load generators. */
export interface BenchSources {
  systemOf(name: SystemName): System;
  startLoad(): Promise<Load>;
}

/** Starts systems and load generators and tracks them, so that nothing is left running in any case. */
export class Workbench implements Bench {
  readonly quick: boolean;
  readonly rounds: number;
  readonly systems: readonly SystemName[];
  readonly print: (line: string) => void;
  readonly #sources: BenchSources;
  readonly #starting = new Set<Promise<RunningSystem | Load>>();
  readonly #running = new Set<RunningSystem>();
  readonly #loads = new Set<Load>();
  #isClosed = false;

  /** @param print prints a line of progress */
  constructor(
    { quick, rounds, systems }: Pick<BenchOptions, "quick" | "rounds" | "systems">,
    workshop: BenchSources,
    print: (line: string) => void,
  ) {
    this.quick = quick;
    this.rounds = rounds;
    this.systems = systems;
    this.print = print;
    this.#sources = workshop;
  }

  /** The returned system stops once, however often it is asked to. */
  async start(name: SystemName, options: SystemOptions): Promise<RunningSystem> {
    return this.#started(async () => {
      const running = await this.#sources.systemOf(name).start(options);
      return this.#remember(running);
    });
  }

  async startLoad(): Promise<Load> {
    return this.#started(async () => {
      const load = await this.#sources.startLoad();
      this.#loads.add(load);
      return load;
    });
  }

  /** Whether the bench was closed, so that nothing can be started any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends everything that a scenario left running, and everything that is starting. */
  async clear(): Promise<void> {
    await Promise.allSettled(this.#starting);
    const ending = [...this.#loads].map((load) => load.close());
    this.#loads.clear();
    for (const running of this.#running) ending.push(running.stop());
    await Promise.allSettled(ending);
  }

  /** Ends everything; nothing can be started afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.clear();
  }

  #remember(running: RunningSystem): RunningSystem {
    const { port, processId, inspectorPort, peer } = running;
    let stopped: Promise<void> | undefined;
    const remembered: RunningSystem = {
      port,
      ...(processId === undefined ? {} : { processId }),
      ...(peer === undefined ? {} : { peer }),
      ...(inspectorPort === undefined ? {} : { inspectorPort }),
      sleep: () => running.sleep(),
      counts: () => running.counts(),
      stop: () => {
        stopped ??= running.stop().finally(() => this.#running.delete(remembered));
        return stopped;
      },
    };
    this.#running.add(remembered);
    return remembered;
  }

  async #started<Started extends RunningSystem | Load>(
    start: () => Promise<Started>,
  ): Promise<Started> {
    if (this.#isClosed) throw new Error("The bench is ending");
    const starting = start();
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }
}
