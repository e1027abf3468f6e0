import { KnownDeltas } from "../../src/delta/delta-chain.ts";
import type { SessionContext } from "../../src/session/ports.ts";

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
