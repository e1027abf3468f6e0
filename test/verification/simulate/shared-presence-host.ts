import type { Channel } from "../../../src/channel/channel.ts";
import { type PresenceSource, SharedPresence } from "../../../src/channel/shared-presence.ts";
import { gatherPresence } from "./gather-presence.ts";
import type { Incarnation } from "./incarnation.ts";
import type { PresenceObject } from "./presence-host.ts";
import type { WorldContext } from "./world-context.ts";

/** Answers who is present on the channel of a simulated object. */
export function sharedPresence(
  channel: Channel,
  object: PresenceObject,
  context: WorldContext,
  incarnation: Incarnation,
  turnMs: () => number,
): SharedPresence {
  const { name } = channel;
  const act = (work: () => void): void =>
    object.guard(() => {
      work();
      object.acted();
    });
  const gate = (work: () => void): void => object.gate(work);
  const source: PresenceSource = {
    later: (waitMs, work) => {
      incarnation.after(waitMs === 0 ? turnMs() : waitMs, () => act(work));
    },
    gather: (done) => {
      const { gateways } = channel.relay;
      const caller = { name, incarnation, gateways, gate };
      gatherPresence(context, caller, (others) => act(() => done(others)));
    },
    subscribers: () => channel.hub.subscribers,
  };
  return new SharedPresence(source, { ...context.fanOut(name), presenceSliceClients: 2 });
}
