import { kindOf } from "./complaint-kind.ts";
import type { CallOutcome } from "./network.ts";
import type { Plan } from "./plan.ts";
import type { Outcome } from "./run.ts";

/** What a run of a plan came to. */
export interface Tried {
  readonly fails: boolean;
  /** What became of its calls by their names, the first one's first. */
  readonly outcomes: ReadonlyMap<string, CallOutcome>;
}

/**
 * What a run comes to for whoever looks for the cause of a complaint: it fails only if there is one of the same kind, since
 * another fault may be easier to have.
 */
export function triedFor(complaint: string, { complaints, world }: Outcome): Tried {
  const kind = kindOf(complaint);
  return {
    fails: complaints.some((each) => kindOf(each) === kind),
    outcomes: world.network.outcomes,
  };
}

/**
 * Makes a plan that fails smaller, as long as it fails: steps go, in ever smaller pieces, then pauses and the calls'
 * troubles.
 *
 * @param runsMax so many plans are tried at most
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
      // The time that passed may be what matters.
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

/** To a few round numbers, so that it can be read. */
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

/** All calls go as they should but for a few, of which the plan then says what becomes of them. */
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

/** What is left of a plan by then makes few calls before it fails. */
const callsMax = 128;
