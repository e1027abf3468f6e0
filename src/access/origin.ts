import { matchesGlob } from "./glob.ts";

/**
 * Whether a browser page of this origin may connect (rule A6, docs/protocol.md 4.4).
 *
 * @param origin the Origin header; null if there is none, as from every client but a browser: such a client is always
 * allowed
 * @param patterns globs, in which case doesn't matter
 */
export function originAllowed(origin: string | null, patterns: readonly string[]): boolean {
  if (origin === null) return true;
  const text = origin.toLowerCase();
  return patterns.some((pattern) => matchesGlob(text, pattern.toLowerCase()));
}
