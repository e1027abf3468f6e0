/**
 * Finds the name that a misspelt one was probably meant to be.
 *
 * @param names in order of preference: of two equally near ones the first is given
 * @returns undefined when none is near: more than 3 edits away, or more than half of a short name
 */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  // The work grows with the length, and no known name is nearly that long.
  if (name.length > nameLengthMax) return undefined;
  let nearest: string | undefined;
  let nearestDistance = Math.min(distanceMax, Math.floor(name.length / 2)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name, candidate);
    if (distance >= nearestDistance) continue;
    nearest = candidate;
    nearestDistance = distance;
  }
  return nearest;
}

/** How many letters must be added, removed or replaced to make one text the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = from[row - 1] === to[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          at(previous, column) + 1,
          at(current, column - 1) + 1,
          at(previous, column - 1) + replaced,
        ),
      );
    }
    previous = current;
  }
  return at(previous, to.length);
}

/** Every index asked for has been filled; the fallback only tells the compiler so. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

const distanceMax = 3;
const nameLengthMax = 64;
