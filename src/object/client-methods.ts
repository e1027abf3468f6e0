import type { ClientMethods } from "../session/ports.ts";

/** The methods of several features, of which each has names of its own; undefined if there are none. */
export function joinedMethods(all: readonly ClientMethods[]): ClientMethods | undefined {
  return all.length < 2 ? all[0] : new Map(all.flatMap((methods) => [...methods]));
}
