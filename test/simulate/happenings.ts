import type { WorldClient } from "./client.ts";
import { Random } from "../support/random.ts";
import { weather } from "./weather.ts";
import { World } from "./world.ts";

/** A world to which everything happens that can happen, as a seed has it. */
export function troubledWorld(seed: number): World {
  const random = new Random(seed);
  const chance = new Random(seed + 1_000_000_007);
  const world = new World({
    channels: random.chance(0.5) ? [random.pick(kinds)] : kinds,
    gateways: 3,
    fateOf: weather(chance, random.pick([0.05, 0.2, 0.4])),
    latencyMs: () => chance.between(1, 20),
    backoffMs: () => chance.between(50, 2_000),
    repeats: () => chance.chance(0.1),
  });
  const channels = [...world.channels.keys()];
  const gateways = [...world.gateways.values()];
  for (let index = 0; index < 5; index++) {
    world.client({
      given: index === 0 ? [random.pick(channels)] : [],
      isImpatient: index % 2 === 0,
      chooseGateway: () => chance.pick(gateways),
    });
  }
  for (const client of world.clients) client.connect();
  for (let left = random.between(60, 160); left > 0; left--) {
    happen(world, random);
    world.pass(pause(random));
  }
  return world;
}

/** One channel of each kind. With a single one more of what happens meets. */
const kinds = ["keep:a", "few:b", "last:c", "none:d", "tell:e"];

/** One thing happens. */
function happen(world: World, random: Random): void {
  const name = random.pick([...world.channels.keys()]);
  const channel = world.channel(name);
  const gateway = random.pick([...world.gateways.values()]);
  const client = random.pick(world.clients);
  const roll = random.between(0, 99);
  if (roll < 1) world.backend.removeHistory(name);
  else if (roll < 22) world.backend.publish(name, random.chance(0.6));
  else if (roll < 60) happenToClient(client, name, random);
  else if (roll < 66) publishMany(world, name, random);
  else if (roll < 77) gateway.evict();
  else if (roll < 88) channel.evict();
  else if (roll < 92) channel.crash();
  else if (roll < 95) channel.crashesAtCommit = true;
  else if (roll < 98) gateway.crash();
  else gateway.close();
}

function happenToClient(client: WorldClient, channel: string, random: Random): void {
  const roll = random.between(0, 38);
  if (roll < 14) client.subscribe(channel);
  else if (roll < 22) client.unsubscribe(channel, random.chance(0.3));
  else if (roll < 31) client.publish(channel);
  else if (roll < 34) client.disconnect();
  else if (roll < 38) client.connect();
  else client.seePresence(channel);
}

function publishMany(world: World, channel: string, random: Random): void {
  for (let left = random.between(2, 6); left > 0; left--) {
    world.backend.publish(channel, random.chance(0.3));
  }
}

/** Mostly so short that things meet, and now and then so long that everything is asleep. */
function pause(random: Random): number {
  const roll = random.between(0, 9);
  if (roll < 5) return random.between(0, 30);
  if (roll < 8) return random.between(30, 1_000);
  return roll < 9 ? random.between(1_000, 10_000) : random.between(10_000, 30_000);
}
