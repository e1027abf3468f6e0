/** Which of all places become mutants: the same for the same seed and the same sources. */
import { Random } from "../../support/random.ts";
import { kinds, type Place } from "./places.ts";

/** A place that was chosen, with its number in this run. */
export interface Mutant {
  readonly id: number;
  readonly place: Place;
}

/** Chooses as many of each kind as of the others, as far as there are. The order is the order of the sources. */
export function sample(places: readonly Place[], seed: number, count: number): readonly Mutant[] {
  const random = new Random(seed);
  const left = kinds.map((kind) => places.filter((place) => place.kind === kind));
  const chosen = new Set<Place>();
  while (chosen.size < Math.min(count, places.length)) {
    for (const ofKind of left) {
      if (ofKind.length === 0 || chosen.size >= count) continue;
      const [place] = ofKind.splice(random.between(0, ofKind.length - 1), 1);
      if (place !== undefined) chosen.add(place);
    }
  }
  return places.filter((place) => chosen.has(place)).map((place, id) => ({ id, place }));
}

/**
 * The same faults in other sources. A place is found by its file, its function and its text, and not by its line; where
 * the file is gone or has lost it, by the function and the text, if they are only in one other place.
 *
 * @returns for each of the places, the place that it has now; undefined if the sources have it no more
 */
export function foundAgain(
  places: readonly Place[],
  now: readonly Place[],
): readonly (Place | undefined)[] {
  const like = Map.groupBy(now, likeness);
  return places.map((place) => {
    const candidates = like.get(likeness(place)) ?? [];
    const inFile = candidates.filter(({ file }) => file === place.file);
    if (inFile.length > 0) return inFile[place.earlier];
    return candidates.length === 1 ? candidates[0] : undefined;
  });
}

/** What two places have in common that are the same, wherever their function is now. */
export function likeness({ within, kind, text, fault }: Place): string {
  return JSON.stringify([within, kind, compact(text), compact(fault)]);
}

/** The formatter may have broken the lines elsewhere. */
const compact = (text: string): string => text.replaceAll(/\s+/g, "").replaceAll(",)", ")");
