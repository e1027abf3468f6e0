import { runDurableObjectAlarm } from "cloudflare:test";
import { takenOf, takenUntil, withoutRepeats } from "./event-receiver.ts";
import { spillPlace } from "../support/place.ts";
import type { Variant } from "../support/variant.ts";

/** The variants without those of a gateway that serves a full channel object: it does the same as any other. */
export const ofBothKinds = (all: readonly Variant[]): readonly Variant[] =>
  all.filter(({ place }) => place !== spillPlace);

/** The name of the object that holds a channel's sockets, as its events have it. */
export function eventObjectOf({ place }: Variant, channel: string): string {
  return place.oneChannel ? `channel/${channel}` : `gateway/${channel}/0`;
}

/** The events of an object up to the end of a client, in words; its alarm rings first if the object may be asleep. */
export async function story(
  variant: Variant,
  channel: string,
  client: string,
): Promise<readonly string[]> {
  // An object with none but closed sockets would take the alarm as the time to drop them, and end (rule B11).
  await variant.open(channel);
  await runDurableObjectAlarm(variant.place.holder(channel));
  const events = withoutRepeats(
    await takenUntil(
      eventObjectOf(variant, channel),
      (event) => event.type === "disconnected" && event.client === client,
    ),
  );
  return events
    .filter((event) => event.client === client)
    .map(({ type, code, reason }) => [type, code, reason].filter(Boolean).join(" "));
}

/** The types of the events of an object's clients that have been taken, in order. */
export async function typesTaken(variant: Variant, channel: string): Promise<readonly string[]> {
  const events = withoutRepeats(await takenOf(eventObjectOf(variant, channel)));
  return events.map(({ type }) => type);
}
