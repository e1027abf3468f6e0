import type { PresenceAnswer } from "../../src/channel/shared-presence.ts";
import type { ChannelPresenceReply } from "../../src/contract/relay-request.ts";

/** Whether a command or a request publishes: then it waits while too much is collected to be sent (rule F6). */
export function publishes({ method }: { readonly method: string }): boolean {
  return publishing.has(method);
}

const publishing: ReadonlySet<string> = new Set([
  "publish",
  "map_publish",
  "map_remove",
  "map_change",
]);

/** What a gateway is answered that asked who is present. */
export function presenceReply(answer: PresenceAnswer): ChannelPresenceReply {
  if (answer.outcome === "failed") return { outcome: "error", error: answer.error };
  const { parts, incomplete } = answer.result;
  return { outcome: "present", clients: parts.flat(), complete: incomplete !== true };
}
