import type { Random } from "../../support/random.ts";
import { isChanging } from "./changes/change-kinds.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { mapModeOf } from "./map-kinds.ts";
import type { Action, Step } from "./actions.ts";
import type { Plan } from "./plan.ts";
import type { World } from "./world.ts";

/** Clients that the plan doesn't list connect and subscribe at the same time (rules F12 and F13). */
export interface Wave {
  readonly channel: string;
  /** How many clients come. */
  readonly arrivals: number;
  /** Whether they come to the channel's object; otherwise they share the gateways. */
  readonly own: boolean;
  /** When their connections end, ms after they came; absent: they stay. */
  readonly endAfterMs?: number;
  /** Whether the server pings them. */
  readonly isPinged?: boolean;
  /** Whether those whose connections end come back. */
  readonly returns: boolean;
}

/**
 * A plan with waves of arrivals between the other steps. A publication comes right before each wave, so that a frame is
 * on its way while the clients arrive.
 *
 * @param random a generator for this alone, so that the rest of the plan stays as it was
 */
export function withWaves(plan: Plan, random: Random): Plan {
  const first = plan.steps.findIndex(({ do: what }) => what !== "connect" && what !== "subscribe");
  const waves = random.between(1, 2);
  let { steps } = plan;
  for (let wave = 0; wave < waves; wave++) {
    const at = random.between(Math.max(first, 0), steps.length);
    steps = steps.toSpliced(at, 0, ...waveSteps(plan, random));
  }
  return { ...plan, steps };
}

function waveSteps({ channels }: Plan, random: Random): readonly Step[] {
  const channel = random.pick(channels);
  const publish = publishOf(channel);
  const published: readonly Step[] = Array.from({ length: random.between(1, 3) }, () => ({
    ...publish,
    ms: random.between(0, 6),
  }));
  const wave: Step = {
    do: "wave",
    channel,
    arrivals: random.between(3, 12),
    own: random.chance(0.5),
    returns: random.chance(0.5),
    ...(random.chance(0.6) ? { endAfterMs: random.between(0, 400) } : {}),
    ms: random.between(0, 80),
  };
  return [...published, wave];
}

function publishOf(channel: string): Action {
  if (growthKindOf(channel) !== undefined)
    return { do: "append", channel, key: "k1", pieces: 1, blocks: 1 };
  if (isChanging(channel)) return { do: "say", channel, user: "" };
  return mapModeOf(channel) === undefined
    ? { do: "publish", channel, keyed: false }
    : { do: "set", channel, key: "wave", keyed: false };
}

/** Lets the clients of a wave come, and go. */
export function startWave(world: World, action: Wave): void {
  const { channel, arrivals, own, endAfterMs, returns, isPinged = false } = action;
  const gateways = [...world.gateways.values()];
  for (let arrival = 0; arrival < arrivals; arrival++) {
    const gateway = gateways[arrival % gateways.length];
    const isOwn = own || gateway === undefined;
    const client = world.client({
      isPinged,
      choosePlace: () => (isOwn ? world.channel(channel) : gateway),
      ...(isOwn ? { only: channel } : {}),
    });
    client.subscribe(channel);
    client.connect();
    if (endAfterMs === undefined) continue;
    world.timeline.after(endAfterMs, () => {
      client.breakLine();
      if (!returns) client.disconnect();
    });
  }
}
