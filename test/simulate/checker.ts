import { smooth } from "./network.ts";
import type { World } from "./world.ts";

/**
 * Lets a world come to rest, with a network that does what it should, and says everything that is wrong with it then, and
 * everything that somebody complained about before.
 */
export function complaintsOf(world: World): readonly string[] {
  world.network.fateOf = () => smooth;
  for (const channel of world.channels.values()) channel.crashesAtCommit = false;
  world.pass(longMs);
  checkAtRest(world, "at rest");
  for (const { evict } of evictables(world)) evict();
  // What is owed is told even when nobody was awake; and who isn't needed any more says so now.
  for (const name of world.channels.keys()) world.backend.publish(name, false);
  world.pass(longMs);
  checkAtRest(world, "after the last publication");
  for (const name of world.channels.keys()) checkWhoFollows(world, name);
  return world.ledger.complaints;
}

/** Longer than the longest wait between two tries of the relay (10 minutes). */
const longMs = 1_300_000;

function evictables(world: World): readonly { readonly evict: () => void }[] {
  return [...world.channels.values(), ...world.gateways.values()].map((host) => ({
    evict: () => host.evict(),
  }));
}

function checkAtRest(world: World, when: string): void {
  const { ledger, backend } = world;
  for (const client of world.clients) {
    if (client.unanswered > 0) {
      ledger.complain(`${client.name} was not answered ${client.unanswered} times ${when}`);
    }
    const { live, wanted } = client;
    for (const listening of wanted) {
      if (live.includes(listening)) continue;
      ledger.complain(`${client.name} is not subscribed to ${listening.channel} ${when}`);
    }
    for (const listening of live) {
      const { channel } = listening;
      // Without history what a crash kept from being told is gone, until something new is told.
      const host = world.channel(channel);
      if (host.hasHistory || when !== "at rest") listening.checkAt(host.top);
    }
  }
  if (backend.pending > 0)
    ledger.complain(`${backend.pending} publishes were not answered ${when}`);
  for (const name of world.channels.keys()) checkPresence(world, name, when);
}

function checkPresence(world: World, name: string, when: string): void {
  const present = [...world.present(name)].sort();
  const live = subscribersOf(world, name)
    .map(({ id }) => id)
    .sort();
  if (present.join() === live.join()) return;
  world.ledger.complain(`on ${name} are ${live.join()}, present is ${present.join()} ${when}`);
}

/** Gateways that nobody needs are forgotten, and no others (rule L5). */
function checkWhoFollows(world: World, name: string): void {
  const follow = [...world.channel(name).gateways].sort();
  const needed = [...new Set(subscribersOf(world, name).map(({ gateway }) => gateway))].sort();
  if (follow.join() !== needed.join()) {
    world.ledger.complain(`${name} is followed by ${follow.join()}, needed by ${needed.join()}`);
  }
}

function subscribersOf(
  world: World,
  name: string,
): readonly { readonly id: string; readonly gateway: string }[] {
  return world.clients.flatMap((client) => {
    const isThere = client.live.some(({ channel }) => channel === name);
    return client.connected !== undefined && isThere ? [client.connected] : [];
  });
}
