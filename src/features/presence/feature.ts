import type { Feature } from "../feature.ts";
import { PresenceDriver } from "./presence-driver.ts";

/** Presence maps: maps whose keys are the subscribers of another channel. */
export const presence = {
  ofChannelObject: (object) =>
    (object.channel.presenceMap ?? object.channel.teller) ? [new PresenceDriver(object)] : [],
} as const satisfies Feature;
