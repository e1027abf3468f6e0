import PusherClient from "pusher-js";
import type PusherServer from "pusher";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Inbox } from "../../support/inbox.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { shopApp, shopSecrets } from "../../support/servers/pusher-app.ts";
import { pusherBackend, pusherPlace } from "../../support/servers/pusher-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";

const gateway = `pusher~${firstGateway}`;
let server: TestServer;
let backend: PusherServer;

beforeAll(async () => {
  server = await TestServer.start({
    config: {
      channel: { namespaces: [{ name: "shop", presence: true }] },
      pusher: {
        apps: [{ ...shopApp, secret: "PUSHER_SECRET_SHOP", enable_watchlist_events: true }],
      },
    },
    secrets: { ...testSecrets, ...shopSecrets },
  });
  backend = pusherBackend(server.address);
});
afterAll(() => server.close());

interface WatchlistEvent {
  readonly name: string;
  readonly user_ids: readonly string[];
}

/** A client that signs its user in. @param watchlist whom the user watches */
function signIn(id: string, watchlist: string[] = []) {
  const client = new PusherClient(shopApp.key, {
    ...pusherPlace(server.address),
    userAuthentication: {
      endpoint: "",
      transport: "ajax",
      customHandler: ({ socketId }, done) =>
        done(null, backend.authenticateUser(socketId, { id, watchlist })),
    },
  });
  const told = new Inbox<string>();
  for (const name of ["online", "offline"])
    client.user.watchlist.bind(name, ({ user_ids: users }: WatchlistEvent) =>
      told.push(`${name} ${users.join()}`),
    );
  client.signin();
  const signedIn = new Inbox<string>();
  client.bind("pusher:signin_success", () => signedIn.push("yes"));
  return { client, told, signedIn };
}

describe("a user with a watchlist", () => {
  it.each(["awake", "evicted"])(
    "[PU18] is told who is there, comes and goes, the objects %s",
    async (state) => {
      const [here, away] = [`here-${state}`, `away-${state}`];
      const settle = async (): Promise<void> => {
        if (state === "awake") return;
        await server.evictGateway(gateway);
        await server.evict(`shop:~${away}`);
      };
      const first = signIn(here);
      await first.signedIn.count(1);
      const watching = signIn(`watcher-${state}`, [here, away]);
      expect((await watching.told.count(2)).toSorted()).toEqual([
        `offline ${away}`,
        `online ${here}`,
      ]);
      await settle();
      const [one, two] = [signIn(away), signIn(away)];
      await watching.told.count(3);
      await settle();
      one.client.disconnect();
      const other = signIn(`other-${state}`, [away]);
      await other.told.count(1);
      two.client.disconnect();
      expect((await watching.told.count(4)).slice(2)).toEqual([
        `online ${away}`,
        `offline ${away}`,
      ]);
      expect(await other.told.count(2)).toEqual([`online ${away}`, `offline ${away}`]);
      for (const { client } of [first, watching, other]) client.disconnect();
    },
  );
});
