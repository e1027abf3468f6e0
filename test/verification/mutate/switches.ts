/**
 * Puts all mutants into the sources at once, each behind a switch: `(globalThis.mutated?.(7) ? FAULT : (CODE))`. So a
 * run of tests switches one on without anything being compiled again, and a run without any sees which are reached.
 * `in-test-files.ts` brings the function.
 */
import { createHash } from "node:crypto";
import { relative } from "node:path";
import type { Plugin } from "vitest/config";
import type { Mutant } from "./sample.ts";

/**
 * @param source what the mutants' places were found in
 * @returns the source with their switches
 */
export function withSwitches(source: string, mutants: readonly Mutant[]): string {
  const begins = mutants
    // Of two that begin at the same place, the longer one is outside.
    .toSorted(
      (one, other) => one.place.start - other.place.start || other.place.end - one.place.end,
    )
    .map(({ id, place: { start, fault } }) => ({
      at: start,
      text: `(globalThis.mutated?.(${id}) ? ${fault} : (`,
    }));
  const ends = mutants.map(({ place: { end } }) => ({ at: end, text: "))" }));
  // What ends at a place comes before what begins there.
  const insertions = [...ends, ...begins].toSorted((one, other) => one.at - other.at);
  let result = "";
  let copied = 0;
  for (const { at, text } of insertions) {
    result += source.slice(copied, at) + text;
    copied = at;
  }
  return result + source.slice(copied);
}

/** A Vite plugin that puts the mutants into the sources, before anything else reads them. */
export function switches(root: string, mutants: readonly Mutant[]): Plugin {
  const digest = createHash("sha256").update(JSON.stringify(mutants)).digest("hex").slice(0, 16);
  return {
    // Vitest keeps what is compiled on disk, by the file and the names of the plugins.
    name: `dormouse:mutants-${digest}`,
    enforce: "pre",
    transform(code, id) {
      const file = relative(root, id.split("?")[0] ?? id).replaceAll("\\", "/");
      const own = mutants.filter(({ place }) => place.file === file);
      return own.length === 0 ? undefined : { code: withSwitches(code, own), map: null };
    },
  };
}
