/** A function of `src` or `workers` that a run entered. */
export interface Entered {
  /** From the repository's root on. */
  readonly file: string;
  /** A function without a name has the name of the function around it. */
  readonly name: string;
  /** The file whose function called it; undefined when the runtime did, or code that isn't ours. */
  readonly caller: string | undefined;
}

/** Set while a run is recorded. The code that calls it is inserted by `instrumented.ts`. */
declare global {
  var entered: ((file: string, name: string, stack: string) => void) | undefined;
}

/** Runs the work, and lists the functions that were entered meanwhile, in their order. */
export async function recordRun(work: () => Promise<void>): Promise<readonly Entered[]> {
  const run: Entered[] = [];
  const limit: unknown = Reflect.get(Error, "stackTraceLimit");
  // A library's frames may stand between a function of ours and its caller.
  Reflect.set(Error, "stackTraceLimit", 50);
  globalThis.entered = (file, name, stack) => {
    run.push({ file, name, caller: callerOf(file, stack) });
  };
  try {
    await work();
  } finally {
    globalThis.entered = undefined;
    Reflect.set(Error, "stackTraceLimit", limit);
  }
  return run;
}

function callerOf(file: string, stack: string): string | undefined {
  const [own = "", ...callers] = stack.split("\n").slice(1);
  const root = pathIn(own).slice(0, -file.length);
  for (const line of callers) {
    // Functions from here on wait for this one's caller, and didn't call anything now.
    if (line.includes(" at async ")) return undefined;
    const path = pathIn(line);
    const isOurs = path.startsWith(`${root}src/`) || path.startsWith(`${root}workers/`);
    if (isOurs) return path.slice(root.length);
  }
  return undefined;
}

/** The path in a line such as `at Hub.publish (/dormouse/src/hub/hub.ts:82:13)`. */
function pathIn(line: string): string {
  return /([^\s(]+):\d+:\d+\)?$/.exec(line)?.[1] ?? "";
}

/** The files of a run, each once, in the order in which they were first entered. */
export function filesOf(run: readonly Entered[]): readonly string[] {
  return [...new Set(run.map(({ file }) => file))];
}

/**
 * The calls of a run that go back up, each once: from a file to one on a higher floor, or between two files of a floor that
 * call each other, by whatever way, to the one that was entered first.
 *
 * @param floorOf the floor of a file: 0 for the highest
 */
export function callsUp(
  run: readonly Entered[],
  floorOf: (file: string) => number,
): readonly string[] {
  const order = filesOf(run);
  const beside = new Map<string, Set<string>>();
  for (const { file, caller } of run) {
    if (caller === undefined || caller === file || floorOf(caller) !== floorOf(file)) continue;
    beside.set(caller, (beside.get(caller) ?? new Set()).add(file));
  }
  const isUp = (caller: string, file: string): boolean =>
    floorOf(file) < floorOf(caller) ||
    (floorOf(file) === floorOf(caller) &&
      order.indexOf(file) < order.indexOf(caller) &&
      reaches(file, caller, beside));
  const up = run.flatMap(({ file, name, caller }) =>
    caller !== undefined && isUp(caller, file) ? [`${caller} → ${file} ${name}`] : [],
  );
  return [...new Set(up)].toSorted();
}

function reaches(
  from: string,
  to: string,
  calls: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const seen = new Set([from]);
  for (const file of seen) for (const called of calls.get(file) ?? []) seen.add(called);
  return seen.has(to);
}
