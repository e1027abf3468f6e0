import type { ChannelConfig } from "../config/config.ts";
import type { ParsedEntry } from "./command.ts";
import { checkChannel } from "./check-channel.ts";
import { parseShape, shape, textField } from "./shape.ts";

/** Parses the request of a method that takes a channel and nothing else. */
export function parseChannelRequest(
  method: "history_remove" | "presence" | "presence_stats",
  params: string,
  config: ChannelConfig,
): ParsedEntry {
  const parsed = parseShape(channelShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { channel } = parsed.value;
  const checked = checkChannel(channel, config);
  if (checked.outcome === "refused") return checked;
  return { outcome: "call", channel, command: { method } };
}

const channelShape = shape(() => ({ channel: textField() }));
