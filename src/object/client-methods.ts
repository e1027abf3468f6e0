import type { ClientMethods } from "../session/ports.ts";

/** The methods of several features, of which each has names of its own; undefined if there are none. */
export function joinedMethods(all: readonly ClientMethods[]): ClientMethods | undefined {
  if (all.length < 2) return all[0];
  return {
    readsOf: (request) =>
      all.reduce((most, methods) => Math.max(most, methods.readsOf?.(request) ?? 0), 0),
    find: (name) => firstOf(all, (methods) => methods.find(name)),
    sent: (data) => firstOf(all, (methods) => methods.sent(data)),
  };
}

function firstOf<Found>(
  all: readonly ClientMethods[],
  find: (methods: ClientMethods) => Found | undefined,
): Found | undefined {
  for (const methods of all) {
    const found = find(methods);
    if (found !== undefined) return found;
  }
  return undefined;
}
