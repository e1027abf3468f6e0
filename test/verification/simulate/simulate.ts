import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Protection } from "../weakened/protection.ts";
import { withChangedCopy } from "../weakened/changed-copy.ts";
import { Counts } from "./counts.ts";
import { type Plan, planOf } from "./plan.ts";
import { run } from "./run.ts";
import { shrink, triedFor } from "./shrink.ts";
import { parseOptions, type SimulateOptions, usage } from "./simulate-options.ts";
import { eventLogLines } from "./event-log-lines.ts";

/** More complaints than these are not worth reading before the first cause is mended. */
const complaintsShownMax = 10;

/**
 * `npm run simulate`: runs the core in a simulated world with faults, once for each seed. Prints the seeds that fail,
 * and with --shrink the smallest plan of each.
 */
const parsed = parseOptions(process.argv.slice(2));
if (parsed.outcome === "help") {
  console.log(usage);
} else if (parsed.outcome === "bad") {
  console.error(parsed.problem);
  process.exitCode = 2;
} else if (parsed.options.without !== undefined) {
  process.exitCode = simulateWithout(parsed.options.without, process.argv.slice(2));
} else if (parsed.options.seed === undefined) {
  process.exitCode = simulate(parsed.options) === 0 ? 0 : 1;
} else {
  const plan = planOf(parsed.options.seed);
  const outcome = run(plan);
  for (const line of eventLogLines(plan, outcome.world)) console.log(line);
  process.exitCode = outcome.complaints.length === 0 ? 0 : 1;
  if (outcome.complaints.length > 0) printRun(plan, outcome.complaints, parsed.options.shrink);
}

/** Runs this program with the same arguments on a copy of the sources, and gives its exit status. */
function simulateWithout(protection: Protection, args: readonly string[]): number {
  const at = args.indexOf("--without");
  const others = args.filter((_, index) => index !== at && index !== at + 1);
  return withChangedCopy(
    protection,
    ["src", "test", "cli", "package", "package.json"],
    (folder) => {
      const program = join(folder, "test/verification/simulate/simulate.ts");
      const { status } = spawnSync(process.execPath, [program, ...others], { stdio: "inherit" });
      return status ?? 2;
    },
  );
}

/** @returns how many seeds failed */
function simulate({ first: firstSeed, seeds, seconds, shrink: shrinks }: SimulateOptions): number {
  const counts = new Counts();
  let first = "";
  const beganMs = performance.now();
  let failed = 0;
  let runs = 0;
  const passedSeconds = (): number => (performance.now() - beganMs) / 1_000;
  while (runs < seeds && passedSeconds() < seconds) {
    const plan = planOf(firstSeed + runs++);
    const { complaints, world } = run(plan);
    counts.add(plan, world);
    if (complaints.length === 0) continue;
    failed++;
    if (failed === 1) first = `the first after ${runs} runs, ${passedSeconds().toFixed(1)} s`;
    if (failed <= complaintsShownMax) printRun(plan, complaints, shrinks);
  }
  for (const line of counts.lines) console.log(line);
  const took = passedSeconds();
  const rate = (runs / took).toFixed(0);
  console.log(`\n${runs} runs in ${took.toFixed(1)} s, ${rate} a second`);
  console.log(failed === 0 ? "nothing was wrong" : `${failed} seeds failed, ${first}`);
  return failed;
}

function printRun(plan: Plan, complaints: readonly string[], shrinks: boolean): void {
  console.log(`seed ${plan.seed}:`);
  for (const complaint of complaints.slice(0, complaintsShownMax)) console.log(`  ${complaint}`);
  if (!shrinks) return;
  const [first = ""] = complaints;
  const smallest = shrink(plan, (smaller) => triedFor(first, run(smaller)));
  console.log(`  smallest plan, which says: ${run(smallest).complaints[0] ?? "nothing"}`);
  console.log(JSON.stringify(smallest));
}
