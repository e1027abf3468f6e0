import { describe, expect, it } from "vitest";
import { call } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace, spillPlace } from "../support/place.ts";
import { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awake, evicted } from "../support/object-state.ts";

const everywhere = [channelPlace, gatewayPlace(0), gatewayPlace(1), spillPlace];

interface Member {
  readonly place: string;
  readonly socket: TestSocket;
  readonly variant: Variant;
}

/** Subscribes two users in each place, one of them twice; gives all members. */
async function gather(channel: string, variants: readonly Variant[]): Promise<readonly Member[]> {
  const members: Member[] = [];
  for (const variant of variants) {
    for (const user of ["ada", "bob", "ada"]) {
      const socket = await variant.subscribe(channel, user, { info: { at: variant.place.name } });
      members.push({ place: variant.place.name, socket, variant });
    }
  }
  return members;
}

describe.each([awake, evicted])(
  "a channel with sockets of its own and of gateways, objects $name",
  (objectState) => {
    const variants = everywhere.map((place) => new Variant(place, objectState));

    /** All objects. */
    async function pause(channel: string): Promise<void> {
      await objectState.betweenSteps(everywhere.map((place) => place.holder(channel)));
    }

    it("[P1][G6] lists every client once, to the API and to clients in every place", async () => {
      const channel = newChannel("plain");
      const members = await gather(channel, variants);
      const clients = members.map(({ socket }) => socket.client).toSorted();
      await pause(channel);
      const { result }: { result: { presence: Record<string, object> } } = JSON.parse(
        (await call("presence", { channel })).body,
      );
      expect(Object.keys(result.presence).toSorted()).toStrictEqual(clients);
      for (const { socket, place } of members) {
        expect(result.presence[socket.client]).toMatchObject({ conn_info: { at: place } });
      }
      await pause(channel);
      expect((await call("presence_stats", { channel })).body).toBe(
        '{"result":{"num_clients":12,"num_users":2}}',
      );
      for (const { socket } of members.filter((_, index) => index % 3 === 0)) {
        await pause(channel);
        socket.send({ id: 3, presence: { channel } });
        const answer: { presence?: { presence: Record<string, object> } } = JSON.parse(
          await socket.line(),
        );
        expect(Object.keys(answer.presence?.presence ?? {}).toSorted()).toStrictEqual(clients);
        await pause(channel);
        expect(await socket.ask({ id: 4, presence_stats: { channel } })).toStrictEqual({
          id: 4,
          presence_stats: { num_clients: 12, num_users: 2 },
        });
      }
    });

    it("[P1] lists no client that left, in whatever way", async () => {
      const channel = newChannel("plain");
      const members = await gather(channel, variants);
      await pause(channel);
      for (const [index, { socket }] of members.entries()) {
        if (index % 3 === 0) socket.close();
        if (index % 3 === 1) await socket.ask({ id: 5, unsubscribe: { channel } });
        if (index % 3 === 0) await socket.closed;
      }
      await pause(channel);
      expect((await call("presence_stats", { channel })).body).toBe(
        '{"result":{"num_clients":4,"num_users":1}}',
      );
      expect(members).toHaveLength(12);
    });
  },
);
