/** Tries one mutant with the tests of one level that come to it: first the near and quick ones, until one fails. */
import { basename, dirname } from "node:path";
import type { Verdict } from "./record.ts";
import type { FileRun, Level, RunResult, RunnerProcess } from "./runner-process.ts";
import type { Mutant } from "./sample.ts";

/** Which of the files that come to a mutant are run: the slow ones are tried when nothing else has noticed it. */
export type Share = "quick" | "slow";

const slowMs = 20_000;

/** For how long, without a mutant, the tests of workers run that are tried for one: code on every path is in all of them. */
const workersMsMax = 240_000;

/** How long the files without a mutant take in which it is looked for. */
export function costMs(mutant: Mutant, reached: readonly FileRun[], share: Share): number {
  return filesFor(mutant, reached, share).reduce((sum, { tookMs }) => sum + tookMs, 0);
}

/** The files of a share that come to a mutant, in the order in which they are tried. */
export function filesFor(
  mutant: Mutant,
  reached: readonly FileRun[],
  share: Share,
): readonly FileRun[] {
  const cost = (run: FileRun) => run.tookMs / 4 ** nearness(mutant.place.file, run.file);
  return reached
    .filter(
      ({ visits, failures, tookMs }) =>
        // What fails without a mutant shows nothing.
        failures.length === 0 &&
        (share === "slow") === tookMs > slowMs &&
        visits.some(([id]) => id === mutant.id),
    )
    .toSorted((one, other) => cost(one) - cost(other));
}

/** How much the path of a test has in common with the path of a source: names of folders, and the file's own. */
function nearness(source: string, test: string): number {
  const folders = new Set(dirname(test).split("/"));
  const shared = dirname(source)
    .split("/")
    .filter((folder) => folders.has(folder)).length;
  const stem = basename(source, ".ts");
  return shared + (basename(test).startsWith(`${stem}.`) ? 3 : 0);
}

/** @returns what the tests said; undefined if none of them comes to the mutant */
export async function judge(
  mutant: Mutant,
  level: Level,
  reached: readonly FileRun[],
  share: Share,
  runner: RunnerProcess,
): Promise<Verdict | undefined> {
  const all = filesFor(mutant, reached, share);
  const files = level === "workers" ? within(workersMsMax, all) : all;
  if (files.length === 0) return undefined;
  for (const part of parts(files)) {
    const result = await runFiles(mutant, part, runner);
    const noticed = verdictOf(result, part);
    if (noticed === undefined) continue;
    if (level === "core" && !isLate(noticed)) return noticed;
    // A busy machine is late, too: it has to happen again.
    const again = part.filter(({ file }) => file === noticed.file);
    const second = verdictOf(await runFiles(mutant, again.length > 0 ? again : part, runner), part);
    if (second !== undefined) return second;
  }
  return { outcome: "survived", files: files.length };
}

/** The first of the files, until they take so long. */
function within(totalMs: number, files: readonly FileRun[]): readonly FileRun[] {
  let sum = 0;
  return files.filter(({ tookMs }) => {
    const isWithin = sum < totalMs;
    sum += tookMs;
    return isWithin;
  });
}

type Noticed = Extract<Verdict, { outcome: "noticed" }>;

const isLate = ({ message }: Noticed): boolean => /timed out|time limit/i.test(message);

/** The first few seconds alone, as they mostly suffice, and then ever more at a time. */
function parts(files: readonly FileRun[]): readonly (readonly FileRun[])[] {
  const result: FileRun[][] = [[]];
  let leftMs = 2_000;
  for (const file of files) {
    if (leftMs <= 0) {
      result.push([]);
      leftMs = 2_000 * 4 ** (result.length - 1);
    }
    result.at(-1)?.push(file);
    leftMs -= file.tookMs;
  }
  return result;
}

async function runFiles(
  mutant: Mutant,
  files: readonly FileRun[],
  runner: RunnerProcess,
): Promise<RunResult | undefined> {
  const times = files.flatMap(({ visits }) =>
    visits.filter(([id]) => id === mutant.id).map(([, count]) => count),
  );
  const expectedMs = files.reduce((sum, { tookMs }) => sum + tookMs, 0);
  return await runner.run(
    {
      mutant: mutant.id,
      visitsMax: 100_000 + 20 * Math.max(...times),
      files: files.map(({ file }) => file),
    },
    60_000 + 10 * expectedMs,
  );
}

function verdictOf(result: RunResult | undefined, files: readonly FileRun[]): Noticed | undefined {
  if (result === undefined) {
    const file = files.length === 1 ? (files[0]?.file ?? "") : "";
    return { outcome: "noticed", file, test: "", message: "beyond the time limit" };
  }
  for (const { file, failures } of result.files) {
    const [failure] = failures;
    if (failure !== undefined) return { outcome: "noticed", file, ...failure };
  }
  const [error] = result.errors;
  if (error === undefined) return undefined;
  return { outcome: "noticed", file: "", test: "", message: error };
}
