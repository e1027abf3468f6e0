import type { Random } from "../../support/random.ts";
import { isNamed } from "./cursor-kinds.ts";
import type { Step } from "./actions.ts";

/** Puts what a backend does with audiences between the other steps, and has users forgotten. */
export function withAudienceActions(
  random: Random,
  steps: readonly Step[],
  clients: number,
): readonly Step[] {
  const share = random.pick([0.2, 0.4]);
  const forgets = random.chance(0.6);
  return steps.flatMap((step): readonly Step[] => {
    if (!("channel" in step) || !random.chance(share)) return [step];
    const client = random.between(0, clients - 1);
    const ms = random.chance(0.7) ? random.between(0, 60) : random.between(60, 12_000);
    const { channel } = step;
    if (forgets && random.chance(0.3)) return [step, ...forgetting(random, client, channel, ms)];
    if (!isNamed(channel)) return [step];
    const roll = random.between(0, 9);
    if (roll < 6) return [step, { do: "add to audience", client, channel, ms }];
    if (roll < 8) return [step, { do: "remove from audience", client, channel, ms }];
    const named = Array.from({ length: clients }, (_, index) => index).filter(() =>
      random.chance(0.5),
    );
    return [step, { do: "set audience", clients: named, channel, ms }];
  });
}

/** A backend has a user forgotten, in every second case shortly after something was kept of the user. */
function forgetting(random: Random, client: number, channel: string, ms: number): readonly Step[] {
  const forgets: Step = { do: "forget user", client, ms };
  if (!random.chance(0.5)) return [forgets];
  const keptMs = random.between(10, 500);
  return [
    { do: "mark for", client, channel, back: 0, epoch: "none", ms: keptMs },
    forgets,
    { do: "count unread for", client, channel, ms: random.between(0, 10_000) },
  ];
}
