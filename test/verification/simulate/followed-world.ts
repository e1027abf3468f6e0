import type { WorldClient } from "./client.ts";
import type { ClientSubscription } from "./client-subscription.ts";
import { PlannedOutcomes } from "./planned-outcomes.ts";
import type { World, WorldSetup } from "./world.ts";

/** A world with one channel and one client that is subscribed to it on a gateway. Only planned faults happen. */
export interface FollowedWorld {
  readonly world: World;
  readonly outcomes: PlannedOutcomes;
  readonly client: WorldClient;
  readonly subscription: ClientSubscription;
  /** Publishes once and lets so much time pass; gives the data. */
  readonly publish: (passMs?: number) => string;
}

/** @param channel its prefix says how much is kept: `keep:`, `few:` or `none:` */
export function followedWorld(
  channel: string,
  newWorld: (setup: WorldSetup) => World,
): FollowedWorld {
  const outcomes = new PlannedOutcomes();
  const world = newWorld({
    channels: [channel],
    gateways: 2,
    chooseOutcome: outcomes.chooseOutcome,
  });
  const client = world.client();
  client.connect();
  client.subscribe(channel);
  world.pass(1_000);
  return {
    world,
    outcomes,
    client,
    subscription: client.subscription(channel),
    publish: (passMs = 100) => {
      const data: string = JSON.parse(world.backend.publish(channel, false));
      world.pass(passMs);
      return data;
    },
  };
}
