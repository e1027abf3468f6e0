import type { TestServer } from "./test-server.ts";

/** What happens to a channel's object between two steps of a test (rule S2): nothing must be seen of it from outside. */
export interface Wakefulness {
  readonly name: "awake" | "evicted";
  /** Between two steps. Rejects when there was no instance to throw away. */
  readonly pause: (server: TestServer, channel: string) => Promise<void>;
}

/** For `describe.each`: the same test with an object that stays in memory, and with one that is thrown away all the time. */
export const wakefulness: readonly Wakefulness[] = [
  { name: "awake", pause: () => Promise.resolve() },
  { name: "evicted", pause: (server, channel) => server.evict(channel) },
];
