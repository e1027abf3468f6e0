import type { MapStateResult } from "./backend.ts";
import { presenceKindOf, shownChannel } from "./presence-kinds.ts";
import { PresenceSubscription } from "./presence-subscription.ts";
import type { World } from "./world.ts";

/** Compares the presence maps of a settled world, and the copies of those who follow them, with who is there. */
export function checkPresenceMaps(world: World, when: string): void {
  for (const map of mapsOf(world)) {
    const should = keysOf(world, map);
    checkFollowers(world, map, (keys) => isSame(keys, should), when);
    const { isHeld, keys } = world.channel(map);
    if (!isHeld && keys.length > 0)
      world.publicationLog.complain(`${map} has ${keys.join()} for nobody ${when}`);
    const read = keysRead(world, map);
    if (read === undefined || !isSame(read, should))
      world.publicationLog.complain(
        `${map} is read as ${read?.join()}, and is ${should.join()} ${when}`,
      );
  }
}

/**
 * Compares the maps while no call but some of those that tell them something fails: their followers know at once who has
 * come, and which client has gone. Users who have gone stay for a while.
 */
export function checkPromptPresence(world: World): void {
  const maps = mapsOf(world);
  if (maps.length > 0) world.pass(promptMs);
  for (const map of maps) {
    const should = keysOf(world, map);
    const isRight = (keys: readonly string[]): boolean =>
      presenceKindOf(map) === "clients"
        ? isSame(keys, should)
        : should.every((user) => keys.includes(user));
    checkFollowers(world, map, isRight, "soon");
  }
}

function checkFollowers(
  world: World,
  map: string,
  isRight: (keys: readonly string[]) => boolean,
  when: string,
): void {
  for (const client of world.clients) {
    for (const subscription of client.live) {
      if (subscription.channel !== map || !(subscription instanceof PresenceSubscription)) continue;
      const keys = [...subscription.keys].sort();
      const should = keysOf(world, map).join();
      if (!isRight(keys))
        world.publicationLog.complain(
          `${client.name} sees ${keys.join()} on ${map}, and there is ${should} ${when}`,
        );
    }
  }
}

function mapsOf({ channels }: World): readonly string[] {
  return [...channels.keys()].filter((name) => presenceKindOf(name) !== undefined);
}

/** The keys that a map should have, by what the clients know. */
function keysOf({ clients }: World, map: string): readonly string[] {
  const there = clients.filter(({ live }) => live.some(({ channel }) => channel === shownChannel));
  const keys = there.map(({ connected, user }) =>
    presenceKindOf(map) === "clients" ? (connected?.id ?? "") : user,
  );
  return [...new Set(keys)].sort();
}

/** What a backend is answered that reads the map; undefined if it couldn't be. Time passes. */
function keysRead(world: World, map: string): readonly string[] | undefined {
  let keys: readonly string[] | undefined;
  const request = { key: "", cursor: "", limit: -1, asc: false };
  world.channel(map).execute([{ method: "map_read_state", request }], (reply) => {
    const answer = reply?.outcome === "answers" ? reply.answers[0] : undefined;
    if (answer === undefined || "error" in answer) return;
    const { entries }: MapStateResult = JSON.parse(answer.result);
    keys = entries.map(({ key }) => key);
  });
  world.pass(readMs);
  return keys;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

/** Longer than a client takes to connect and subscribe, and than a call takes that has failed twice. */
const promptMs = 8_000;

/** Longer than a census takes. */
const readMs = 6_000;
