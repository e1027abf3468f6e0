import type { ChannelCount } from "./listing.ts";

/** Compares two names by their code points, as SQLite orders them: below 0 if the left one comes first. */
export function compareNames(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one === other) continue;
    // Half of a character beyond U+FFFF comes after every character that is one unit, also after U+E000.
    const [isHalf, isOtherHalf] = [isSurrogate(one), isSurrogate(other)];
    if (isHalf !== isOtherHalf) return isHalf ? 1 : -1;
    return one - other;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdf_ff;
}

/**
 * The first channels of several lists by their names, each once, with its subscribers added up. If each list has at
 * least its own first `limit` names, the counts are exact: a list that lacks one of the names has that many before it.
 */
export function firstChannels(
  lists: Iterable<ChannelCount>,
  limit: number,
): readonly ChannelCount[] {
  const counts = new Map<string, number>();
  let last: string | undefined;
  for (const { name, subscribers } of lists) {
    if (last !== undefined && compareNames(name, last) > 0) continue;
    counts.set(name, (counts.get(name) ?? 0) + subscribers);
    // A gateway may have 60,000 channels: what comes after the first ones so far is dropped on the way.
    if (counts.size <= 4 * limit) continue;
    const names = firstNames(counts, limit);
    last = names.at(-1);
    const kept = new Set(names);
    for (const other of counts.keys()) if (!kept.has(other)) counts.delete(other);
  }
  return firstNames(counts, limit).map((name) => ({ name, subscribers: counts.get(name) ?? 0 }));
}

function firstNames(counts: ReadonlyMap<string, number>, limit: number): readonly string[] {
  return [...counts.keys()].sort(compareNames).slice(0, limit);
}
