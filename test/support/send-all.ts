import type { Hub } from "../../src/hub/hub.ts";
import type { Subscriber } from "../../src/hub/subscriber.ts";

/** Sends all that a hub has collected, to all of its subscribers. */
export function sendAll<Local extends Subscriber>(hub: Hub<Local>): void {
  for (hub.begin(); hub.sending; hub.begin()) hub.sendSlice();
}
