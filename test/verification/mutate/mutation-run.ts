/** Tries the mutants of a run one after another, and keeps what the tests said of each. */
import { type Share, costMs, judge } from "./judge.ts";
import type { MutateOptions } from "./options.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../cli/package-root.ts";
import type { Place } from "./places.ts";
import {
  type MutantRecord,
  type RunRecord,
  type Verdict,
  noticedBy,
  writeRecord,
} from "./record.ts";
import { type FileRun, type Level, RunnerProcess } from "./runner-process.ts";
import { type Mutant, foundAgain } from "./sample.ts";
import { described } from "./summary.ts";

export class MutationRun {
  readonly record: RunRecord;
  readonly #options: MutateOptions;
  /** Those that were noticed before come first: they are what is compared. */
  readonly #order: readonly Mutant[];
  /** What an earlier run found of the same mutants. */
  readonly #earlier = new Map<Place, MutantRecord>();
  readonly #reachedBy = new Map<Level, Promise<readonly FileRun[]>>();

  constructor(record: RunRecord, options: MutateOptions, earlier: RunRecord | undefined) {
    this.record = record;
    this.#options = options;
    const mutants = record.mutants.map(({ place }, id) => ({ id, place }));
    const then = earlier?.mutants ?? [];
    const now = foundAgain(
      then.map(({ place }) => place),
      mutants.map(({ place }) => place),
    );
    for (const [index, place] of now.entries()) {
      const before = then[index];
      if (place !== undefined && before !== undefined) this.#earlier.set(place, before);
    }
    const wasNoticed = ({ place }: Mutant) => {
      const before = this.#earlier.get(place);
      return Number(before !== undefined && noticedBy(before) !== undefined);
    };
    this.#order = mutants.toSorted((one, other) => wasNoticed(other) - wasNoticed(one));
  }

  /** What is quick at each level, and then what is slow, for what nothing else has noticed. */
  async all(): Promise<void> {
    const { levels, both } = this.#options;
    for (const level of levels) await this.#passAgain(level);
    // The tests of workers wait most of the time: meanwhile those of core are run.
    await Promise.all([
      ...levels.map((level) => this.#reached(level)),
      levels.includes("core") ? this.#pass("core", "quick", this.#open()) : undefined,
    ]);
    if (levels.includes("workers")) {
      const noticed = this.#order.filter((mutant) => this.#isNoticed(mutant));
      const every = Math.max(1, Math.floor(noticed.length / Math.max(1, both)));
      const chosen = noticed.filter((_, index) => index % every === 0).slice(0, both);
      await this.#pass("workers", "quick", [...this.#open(), ...chosen]);
    }
    if (levels.includes("core")) await this.#pass("core", "slow", this.#open());
  }

  #open(): readonly Mutant[] {
    return this.#order.filter((mutant) => !this.#isNoticed(mutant));
  }

  #isNoticed({ id }: Mutant): boolean {
    const mutant = this.record.mutants[id];
    return mutant !== undefined && noticedBy(mutant) !== undefined;
  }

  /** Tries the mutants of an earlier run with the very test files that noticed them then. */
  async #passAgain(level: Level): Promise<void> {
    const queue = this.#order.flatMap((mutant) => {
      const verdict = this.#earlier.get(mutant.place)?.[level];
      if (this.#isNoticed(mutant) || verdict?.outcome !== "noticed") return [];
      if (verdict.file === "" || !existsSync(join(packageRoot, verdict.file))) return [];
      return [{ mutant, file: verdict.file }];
    });
    const work = async () => {
      const runner = this.#runner(level, false);
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { mutant, file } = next;
        const visits = [[mutant.id, 1_000_000] as const];
        const reached = [{ file, visits, failures: [], tookMs: 10_000 }];
        const verdict = await judge(mutant, level, reached, "quick", runner);
        // Another file may still notice it.
        if (verdict?.outcome === "noticed") this.#keep(mutant, level, verdict);
      }
      runner.close();
    };
    await Promise.all(Array.from({ length: this.#options.jobs }, work));
  }

  /** Tries these mutants with the tests of a level. */
  async #pass(level: Level, share: Share, mutants: readonly Mutant[]): Promise<void> {
    const reached = await this.#reached(level);
    const untried = mutants.filter(({ id }) => {
      const verdict = this.record.mutants[id]?.[level];
      return verdict === undefined || (share === "slow" && verdict.outcome === "survived");
    });
    const minutes = level === "core" ? Number.POSITIVE_INFINITY : this.#options.workersMinutes;
    const until = Date.now() + minutes * 60_000;
    // What is left when the time is over is what would have taken longest.
    const queue =
      level === "core"
        ? [...untried]
        : untried.toSorted(
            (one, other) => costMs(one, reached, share) - costMs(other, reached, share),
          );
    const work = async () => {
      const runner = this.#runner(level, false);
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        if (Date.now() > until) break;
        const verdict = await judge(mutant, level, reached, share, runner);
        if (verdict !== undefined) this.#keep(mutant, level, verdict);
      }
      runner.close();
    };
    await Promise.all(Array.from({ length: this.#options.jobs }, work));
  }

  /** Which test file comes to which mutant. */
  #reached(level: Level): Promise<readonly FileRun[]> {
    const reached = this.#reachedBy.get(level) ?? this.#findReached(level);
    this.#reachedBy.set(level, reached);
    return reached;
  }

  /** From a run of all tests without a mutant. */
  async #findReached(level: Level): Promise<readonly FileRun[]> {
    const known = this.record.reached[level];
    if (known !== undefined) return known;
    const runner = this.#runner(level, true);
    const order = { mutant: -1, visitsMax: 0, files: undefined };
    const result = await runner.run(order, 60 * 60_000);
    runner.close();
    if (result === undefined) throw new Error(`the tests of ${level} don't end`);
    for (const { file, failures } of result.files)
      if (failures.length > 0) console.log(`fails without a mutant: ${file}`);
    this.record.reached[level] = result.files;
    this.#save();
    return result.files;
  }

  #runner(level: Level, counts: boolean): RunnerProcess {
    const mutants = this.record.mutants.map(({ place }, id) => ({ id, place }));
    return new RunnerProcess({
      project: level,
      mutants,
      counts,
      patienceMs: counts ? 120_000 : 20_000,
    });
  }

  #keep({ id }: Mutant, level: Level, verdict: Verdict): void {
    const mutant = this.record.mutants[id];
    if (mutant === undefined) return;
    mutant[level] = verdict;
    this.#save();
    const by =
      verdict.outcome === "noticed" ? `noticed by ${verdict.file}` : `${verdict.files} files pass`;
    console.log(`${level}, ${described(mutant)}: ${by}`);
  }

  #save(): void {
    if (this.#options.report !== undefined) writeRecord(this.#options.report, this.record);
  }
}
