import type { World } from "../world.ts";

/** At rest each client is where it wants to be, has the newest event, and knows who is there (rules PU2 and PU6). */
export function checkPusher(world: World, when: string): void {
  const { pusherClients, publicationLog } = world;
  const lives = pusherClients.flatMap(({ user, live }) =>
    live.map(({ channel }) => ({ user, channel })),
  );
  for (const { name, live, wanted } of pusherClients) {
    for (const room of wanted)
      if (!live.includes(room))
        publicationLog.complain(`${name} is not subscribed to ${room.channel} ${when}`);
    for (const room of live) {
      room.checkNewest(when);
      // A leave that a crash of the channel's object kept back is noticed with whatever the object sends next.
      if (!room.channel.includes(":presence-") || when === "at rest") continue;
      const users = lives.filter(({ channel }) => channel === room.channel).map(({ user }) => user);
      const there = [...new Set(users)].toSorted().join();
      const known = room.members.join();
      if (there !== known)
        publicationLog.complain(
          `${name} knows ${known} on ${room.channel}, where ${there} are ${when}`,
        );
    }
  }
}
