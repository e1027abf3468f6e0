import type { Feature } from "../feature.ts";
import { presenceCallers, presenceCalls } from "./calls.ts";
import { PresenceDriver } from "./presence-driver.ts";

/** Presence maps: maps whose keys are the subscribers of another channel. */
export const presence = {
  channelCalls: presenceCalls,
  callers: presenceCallers,
  ofChannelObject: (object) =>
    (object.channel.presenceMap ?? object.channel.teller) ? [new PresenceDriver(object)] : [],
} as const satisfies Feature;
