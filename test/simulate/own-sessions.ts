import { KnownDeltas } from "../../src/delta/known-deltas.ts";
import type { SessionContext } from "../../src/session/context.ts";

/** What sessions on a channel's own object share, but for what the world gives them. */
export function ownSessions(channel: string): Omit<SessionContext, "config" | "channels"> {
  return {
    knownDeltas: new KnownDeltas(),
    version: "test",
    node: `channel:${channel}`,
    channel,
    serverSubscriptions: false,
    storesRows: false,
  };
}
