import type { CursorAction } from "./cursor-plan.ts";
import { pingIntervalMs } from "./ping-plan.ts";
import type { World } from "./world.ts";

/** Carries out what is planned around a ping, see {@link CursorAction}. */
export function watchPing(
  world: World,
  { client: index, channel, publishMs, fault, faultMs }: WatchedPing,
): void {
  const { timeline, backend, cursors } = world;
  const client = world.clients[index];
  if (client === undefined) return;
  const ask = (): void => cursors.askDelivered(channel, client.user);
  client.pings.next(() => {
    timeline.after(pingIntervalMs - publishMs, () => backend.publish(channel, false));
    client.pings.next(() => {
      timeline.after(faultMs, () => {
        if (fault === "break") client.breakLine();
        else if (fault === "stall") client.connected?.socket?.stall(stallMs);
        for (const askMs of asksMs) timeline.after(askMs, ask);
      });
    });
  });
}

type WatchedPing = Extract<CursorAction, { readonly do: "watch ping" }>;

/** Shorter than a client may take to answer a ping. */
const stallMs = 2_000;

/** When it is asked what has arrived. */
const asksMs = [0, 10, 30, 100];
