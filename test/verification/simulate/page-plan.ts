import type { Random } from "../../support/random.ts";
import { hasAudience, isNamed } from "./cursor-kinds.ts";
import type { Step } from "./actions.ts";

/**
 * Has a client load a page a few times somewhere in eight of ten plans: each time it subscribes without a position, hears
 * something, may answer pings, and leaves; and something is published while no page is open.
 */
export function withPageLoads(
  random: Random,
  steps: readonly Step[],
  clients: number,
  channels: readonly string[],
): readonly Step[] {
  const channel = channels.find(hasAudience);
  if (channel === undefined || !random.chance(0.8)) return steps;
  const at = random.between(0, steps.length);
  const client = random.between(0, clients - 1);
  return [...steps.slice(0, at), ...pageLoads(random, client, channel), ...steps.slice(at)];
}

function pageLoads(random: Random, client: number, channel: string): readonly Step[] {
  const publish = (): readonly Step[] =>
    Array.from({ length: random.between(0, 2) }, () => ({
      do: "publish",
      channel,
      keyed: false,
      ms: random.between(0, 100),
    }));
  const loads = Array.from({ length: random.between(3, 5) }, (): readonly Step[] => [
    { do: "subscribe", client, channel, ms: random.between(200, 500) },
    ...publish(),
    { do: "see presence", client, channel, ms: random.between(5_000, 12_000) },
    { do: "forget", client, channel, ms: random.between(50, 500) },
    ...publish(),
  ]);
  return [
    ...(isNamed(channel) ? [{ do: "add to audience", client, channel, ms: 0 } as const] : []),
    { do: "connect", client, ms: 100 },
    { do: "forget", client, channel, ms: 100 },
    ...loads.flat(),
  ];
}
