import { kindOf } from "./complaint-kind.ts";
import type { CallOutcome } from "./network.ts";
import type { Plan } from "./plan.ts";
import type { Outcome } from "./run.ts";

/** The outcome of one attempt with a smaller plan. */
export interface Tried {
  readonly fails: boolean;
  /** The outcomes of the run's calls by name, in the order of the calls. */
  readonly outcomes: ReadonlyMap<string, CallOutcome>;
}

/** An attempt fails only if it has a complaint of the same kind, because another fault may be easier to cause. */
export function triedFor(complaint: string, { complaints, world }: Outcome): Tried {
  const kind = kindOf(complaint);
  return {
    fails: complaints.some((each) => kindOf(each) === kind),
    outcomes: world.network.outcomes,
  };
}

/**
 * Makes a failing plan smaller for as long as it fails: removes steps, in ever smaller groups, then pauses and the
 * faults of calls.
 *
 * @param runsMax how many plans are tried at most
 */
export function shrink(plan: Plan, run: (plan: Plan) => Tried, runsMax = 2_000): Plan {
  const state = { smallest: plan, left: runsMax };
  const current = (): Plan => state.smallest;
  const attempt = (candidate: Plan): boolean => {
    if (state.left-- <= 0 || !run(candidate).fails) return false;
    state.smallest = candidate;
    return true;
  };
  for (;;) {
    const before = current();
    removeSteps(current, attempt);
    attempt({ ...current(), faultShare: 0 });
    attempt({ ...current(), gateways: 1 });
    shortenPauses(current, attempt);
    shortenFrames(current, attempt);
    calmCalls(current, attempt, () => (state.left-- > 0 ? run(current()).outcomes : new Map()));
    if (current() === before || state.left <= 0) return current();
  }
}

type Attempt = (candidate: Plan) => boolean;

function removeSteps(current: () => Plan, attempt: Attempt): void {
  for (let size = current().steps.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < current().steps.length;) {
      const { steps } = current();
      const removed = steps.slice(from, from + size);
      // The time that passes may be essential.
      const ms = removed.reduce((sum, step) => sum + step.ms, 0);
      const last = steps[from - 1];
      const rest = [...steps.slice(0, from), ...steps.slice(from + size)];
      const longer = last === undefined ? rest : rest.with(from - 1, { ...last, ms: last.ms + ms });
      const isSmaller =
        attempt({ ...current(), steps: longer }) || attempt({ ...current(), steps: rest });
      if (!isSmaller) from += size;
    }
  }
}

/** Rounds the pauses, so that the plan is easy to read. */
function shortenPauses(current: () => Plan, attempt: Attempt): void {
  for (let index = 0; index < current().steps.length; index++) {
    for (const ms of [0, 50, 1_000, 10_000]) {
      const { steps } = current();
      const step = steps[index];
      if (step === undefined || ms >= step.ms) break;
      if (attempt({ ...current(), steps: steps.with(index, { ...step, ms }) })) break;
    }
  }
}

/** Removes commands of frames, in ever smaller groups. */
function shortenFrames(current: () => Plan, attempt: Attempt): void {
  const lettersAt = (index: number): string => {
    const step = current().steps[index];
    return step?.do === "frame" ? step.letters : "";
  };
  const replace = (index: number, letters: string): boolean => {
    const { steps } = current();
    const step = steps[index];
    if (step?.do !== "frame") return false;
    return attempt({ ...current(), steps: steps.with(index, { ...step, letters }) });
  };
  for (const index of current().steps.keys()) {
    for (let size = lettersAt(index).length >> 1; size >= 1; size >>= 1) {
      for (let from = 0; from < lettersAt(index).length;) {
        const letters = lettersAt(index);
        const rest = letters.slice(0, from) + letters.slice(from + size);
        if (rest === "" || !replace(index, rest)) from += size;
      }
    }
  }
}

/** Lets all calls succeed but a few, whose outcomes the plan then lists. */
function calmCalls(
  current: () => Plan,
  attempt: Attempt,
  observed: () => ReadonlyMap<string, CallOutcome>,
): void {
  if (current().outcomes === undefined) {
    const outcomes = Object.fromEntries([...observed()].slice(0, callsMax));
    if (!attempt({ ...current(), outcomes })) return;
  }
  const names = (): readonly string[] => Object.keys(current().outcomes ?? {});
  for (let size = callsMax >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < names().length;) {
      const left = names().toSpliced(from, size);
      const outcomes = Object.fromEntries(
        left.map((name) => [name, current().outcomes?.[name] ?? {}]),
      );
      if (!attempt({ ...current(), outcomes })) from += size;
    }
  }
}

/** By then the rest of the plan makes few calls before it fails. */
const callsMax = 128;
