import type { PresenceAnswer } from "../../../src/protocol/reply.ts";
import type { ChannelPresenceReply } from "../../../src/contract/relay-request.ts";

/** What a gateway is answered that asked who is present. */
export function presenceReply(answer: PresenceAnswer): ChannelPresenceReply {
  if (answer.outcome === "failed") return { outcome: "error", error: answer.error };
  const { parts, incomplete } = answer.result;
  return { outcome: "present", clients: parts.flat(), complete: incomplete !== true };
}
