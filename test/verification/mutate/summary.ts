/** What a run says in the end. */
import { kinds } from "./places.ts";
import { type MutantRecord, type RunRecord, noticedBy } from "./record.ts";
import { likeness } from "./sample.ts";

/** The shares, by kind and by level, and the mutants that nothing noticed. */
export function summary({ mutants }: RunRecord): readonly string[] {
  const tried = mutants.filter(({ core, workers }) => core !== undefined || workers !== undefined);
  const unreached = mutants.length - tried.length;
  const lines = [
    `${share(mutants)} of the mutants are noticed; no test comes to ${unreached} of them`,
    ...kinds.map(
      (kind) => `  ${kind}: ${share(mutants.filter(({ place }) => place.kind === kind))}`,
    ),
    `core notices ${count(mutants, (mutant) => noticedBy(mutant) === "core")}`,
    `workers notices ${count(mutants, (mutant) => noticedBy(mutant) === "workers")} that core doesn't`,
  ];
  const untried = mutants.filter(
    ({ core, workers }) => core?.outcome !== "noticed" && workers === undefined,
  );
  lines.push(
    `workers was not tried, or does not come to them: ${untried.length} that core doesn't notice`,
  );
  const both = mutants.filter(
    ({ core, workers }) => core?.outcome === "noticed" && workers !== undefined,
  );
  const alone = both.filter(({ workers }) => workers?.outcome === "survived").length;
  if (both.length > 0)
    lines.push(`of ${both.length} that core notices, workers doesn't notice ${alone}: core alone`);
  const survivors = mutants.filter((mutant) => noticedBy(mutant) === undefined);
  return [...lines, "", "Nothing noticed:", ...survivors.map((mutant) => `  ${described(mutant)}`)];
}

/** What an earlier run noticed and this one doesn't. */
export function lost(before: readonly MutantRecord[], after: RunRecord): readonly string[] {
  const then = Map.groupBy(before, key);
  return after.mutants.flatMap((mutant) => {
    if (noticedBy(mutant) !== undefined) return [];
    const same = then.get(key(mutant)) ?? [];
    const was = same.find(({ place }) => place.file === mutant.place.file) ?? same[0];
    if (was === undefined || noticedBy(was) === undefined) return [];
    const verdict = was.core?.outcome === "noticed" ? was.core : was.workers;
    if (verdict?.outcome !== "noticed") return [];
    return [described(mutant), `    was noticed by ${verdict.file}: ${verdict.test}`];
  });
}

/** Where a mutant is, and what it changes. */
export function described({ place }: MutantRecord): string {
  const { file, line, kind, text, fault } = place;
  const change = kind === "left out" ? brief(text) : `${brief(text)} -> ${brief(fault)}`;
  return `${file}:${line} ${kind}: ${change}`;
}

function brief(code: string): string {
  const oneLine = code.replaceAll(/\s+/g, " ");
  return oneLine.length > 90 ? `${oneLine.slice(0, 87)}...` : oneLine;
}

function share(mutants: readonly MutantRecord[]): string {
  const noticed = count(mutants, (mutant) => noticedBy(mutant) !== undefined);
  const percent = mutants.length === 0 ? 0 : (100 * noticed) / mutants.length;
  return `${noticed} of ${mutants.length} (${percent.toFixed(1)} %)`;
}

const count = (mutants: readonly MutantRecord[], holds: (mutant: MutantRecord) => boolean) =>
  mutants.filter(holds).length;

const key = ({ place }: MutantRecord): string => `${likeness(place)} ${place.earlier}`;
