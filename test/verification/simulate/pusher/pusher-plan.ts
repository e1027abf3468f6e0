import type { Random } from "../../../support/random.ts";
import type { Action, Step } from "../actions.ts";
import { pusherGateways } from "./pusher-kinds.ts";

/** How many clients of the Pusher protocol a plan with such clients has. */
export const pusherCount = 5;

/**
 * Has clients of the Pusher protocol connect first, and come, go and send events in the place of some steps. Some faults
 * are of their gateway, and some are a deploy, which ends the memory of all objects.
 */
export function withPusherActions(
  random: Random,
  steps: readonly Step[],
  channels: readonly string[],
): readonly Step[] {
  const beginnings = Array.from({ length: pusherCount }, (_, who): readonly Step[] => [
    { do: "pusher connect", who, ms: 0 },
    { do: "pusher enter", who, channel: random.pick(channels), ms: random.between(0, 100) },
  ]).flat();
  const rest = steps.flatMap((step): readonly Step[] => {
    if (isFault(step.do) && random.chance(0.4))
      return random.chance(0.2)
        ? [{ do: "deploy", first: random.pick(["channels", "gateways"] as const), ms: step.ms }]
        : [
            {
              do: random.pick(["evict", "crash"] as const),
              object: random.pick(pusherGateways),
              ms: step.ms,
            },
          ];
    if (step.do === "connect" || isFault(step.do) || random.chance(0.4)) return [step];
    return [step, { ...pusherAction(random, channels), ms: random.between(0, step.ms) }];
  });
  return [...beginnings, ...rest];
}

function isFault(kind: Step["do"]): boolean {
  return kind === "evict" || kind === "crash" || kind === "close";
}

function pusherAction(random: Random, channels: readonly string[]): Action {
  const who = random.between(0, pusherCount - 1);
  const channel = random.pick(channels);
  const roll = random.between(0, 19);
  if (roll < 7) return { do: "pusher enter", who, channel };
  if (roll < 11) return { do: "pusher exit", who, channel };
  if (roll < 15) return { do: "pusher say", who, channel };
  if (roll < 17) return { do: "pusher break", who };
  return { do: roll < 18 ? "pusher disconnect" : "pusher connect", who };
}
