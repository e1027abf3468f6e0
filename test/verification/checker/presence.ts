import type { ChannelRecord } from "./channel-record.ts";
import type { Presence } from "./history-event.ts";
import type { Violations } from "./violations.ts";

/** Compares the clients that presence lists with the subscribed ones (rule P1). */
export function comparePresence(
  channel: ChannelRecord,
  { clients, process, time }: Presence,
  violations: Violations,
): void {
  const present = new Set(clients);
  const subscribed = new Set<string>();
  const complain = (who: string, text: string): void => {
    violations.add({ kind: "presence", channel: channel.name, process: who, time, text });
  };
  for (const subscription of channel.subscriptions.values()) {
    if (!subscription.isAttached) continue;
    const { client, process: who } = subscription;
    subscribed.add(client);
    if (!present.has(client)) complain(who, `${who} is subscribed as ${client} and not present`);
  }
  for (const client of present) {
    if (!subscribed.has(client)) complain(process, `${client} is present and not subscribed`);
  }
}
