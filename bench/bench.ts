import { join } from "node:path";
import { Load } from "./load/load.ts";
import { checkLoad } from "./load-check.ts";
import { type BenchOptions, commandOf, parseOptions, usage } from "./options.ts";
import { judge } from "./results/judge.ts";
import { thisMachine } from "./results/machine.ts";
import { loadLine, report } from "./results/report.ts";
import { type Results, readResults, resultsFormat, resultsText } from "./results/results.ts";
import { goals } from "./results/targets.ts";
import { writeDocuments, writeResults } from "./results/written-results.ts";
import { runScenarios } from "./run-scenarios.ts";
import { scenarios } from "./scenarios/scenarios.ts";
import { systemsWith } from "./systems/systems.ts";
import { Workbench } from "./workbench.ts";

/**
 * `npm run bench`: measures Dormouse, the limit of the runtime, and other servers, in one run on one machine. The
 * ratios matter, not the figures. Exits with 0, with 1 when a scenario failed, and with 2 for an unknown option. A
 * missed target doesn't change the exit status, because other programs on the machine can cause it.
 */

async function main(given: readonly string[]): Promise<number> {
  const names = scenarios.map(({ name }) => name);
  const parsed = parseOptions(given, names);
  switch (parsed.outcome) {
    case "help":
      console.log(usage(names));
      return 0;
    case "refused":
      console.error(`${parsed.problem}\n\n${usage(names)}`);
      return 2;
    case "options":
      return bench(parsed.options);
  }
}

async function bench(options: BenchOptions): Promise<number> {
  const { from, json, out, docs } = options;
  const results = from === undefined ? await run(options) : earlierResults(from);
  writeResults(results, out);
  if (docs) writeDocuments(results, root);
  console.log(json ? resultsText(results).trimEnd() : report(results));
  print(`The results are in ${out}${docs ? " and in docs/performance" : ""}`);
  return results.scenarios.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

async function run(options: BenchOptions): Promise<Results> {
  const { only, quick, rounds } = options;
  const began = performance.now();
  const workbench = new Workbench(
    options,
    { systemOf: systemsWith(options.peers), startLoad: () => Load.start() },
    print,
  );
  endOnSignals(workbench);
  try {
    print("checking the load generator");
    const loadAlone = await checkLoad(workbench);
    print(loadLine(loadAlone));
    const wanted = scenarios.filter(({ name }) => only === undefined || only.includes(name));
    const found = await runScenarios(wanted, workbench);
    return {
      format: resultsFormat,
      command: commandOf(options),
      date: new Date().toISOString().slice(0, 10),
      quick,
      rounds,
      seconds: (performance.now() - began) / 1_000,
      machine: thisMachine(),
      loadAlone,
      scenarios: found,
      targets: judge(goals, found),
    };
  } finally {
    await workbench.close();
  }
}

/** Judges anew, because the targets may have changed since. */
function earlierResults(file: string): Results {
  const results = readResults(file);
  return { ...results, targets: judge(goals, results.scenarios) };
}

/** Progress goes to the standard error, so that the standard output holds results alone. */
function print(line: string): void {
  console.error(`${(performance.now() / 1_000).toFixed(0).padStart(5)} s  ${line}`);
}

/** An interrupted bench leaves no process behind. */
function endOnSignals(workbench: Workbench): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      void workbench.close().finally(() => process.exit(1));
    });
  }
}

const root = join(import.meta.dirname, "..");

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error);
  process.exit(1);
}
