import { Backlog } from "../../../src/hub/backlog.ts";
import { NamedChannels } from "../../../src/session/named-channels.ts";
import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { subscriptionTypes } from "../../../src/features/subscription-types.ts";
import type { SessionContext } from "../../../src/session/ports.ts";

/** The part of the session context of a channel object that doesn't depend on the world. */
export function ownSessions(channel: string): Omit<SessionContext, "config" | "channels"> {
  return {
    backlog: new Backlog({ sockets: () => [], nowMs: () => 0 }),
    subscriptionTypes,
    knownDeltas: new KnownDeltas(),
    namedChannels: new NamedChannels(1_000),
    version: "test",
    node: `channel:${channel}`,
    channel,
    serverSubscriptions: false,
    storesRows: false,
  };
}
