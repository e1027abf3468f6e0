import type { ChannelCommand } from "./channel-call.ts";

/**
 * How many bytes a command holds in memory from its arrival until it is answered, roughly: what its sender chose, at a
 * byte a character, and a constant for the rest.
 */
export function commandBytes(command: ChannelCommand): number {
  if (command.method !== "publish") return overheadBytes;
  const { data, tags = {}, idempotencyKey, versionEpoch } = command.request;
  return Object.entries(tags).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    overheadBytes + data.length + idempotencyKey.length + versionEpoch.length,
  );
}

/** The objects that a command is made of. Without it, 10,000 publications of nothing would weigh nothing. */
const overheadBytes = 256;
