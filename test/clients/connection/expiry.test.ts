import type { Options } from "centrifuge";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { variants } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { secondsFromNow, signToken } from "../../support/test-tokens.ts";

const config = {
  client: { expired_close_delay: "1s", expired_sub_close_delay: "1s" },
  channel: {
    without_namespace: { allow_subscribe_for_client: true },
    namespaces: [{ name: "closed" }],
  },
};

/** How long a token is valid that is to be refreshed: long enough to connect with it also on a busy machine. */
const inTimeSeconds = 5;

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

/** The claims are about real time; the waits for it run side by side. */
describe.each(variants)(
  "[S2] in the situation $name",
  ({ name, endpoint, betweenSteps: pause }) => {
    const open = (channel: string, options: Partial<Options>) =>
      new SdkClient(endpoint.address(server, channel), options);

    it.concurrent("[C5] a client that refreshes its token in time stays, one that doesn't is closed 3005", async () => {
      const channel = `${name}-refresh`;
      const exp = secondsFromNow(inTimeSeconds);
      let fetched = 0;
      const client = open(channel, {
        getToken: () => {
          fetched++;
          const ends = fetched === 1 ? exp : secondsFromNow(60);
          return Promise.resolve(signToken({ sub: "alice", exp: ends }));
        },
      });
      const subscription = await client.subscribed(channel);
      const idle = await RawSocket.connect(
        endpoint.address(server, channel),
        signToken({ sub: "bob", exp }),
      );
      await pause(server, channel);
      expect((await idle.closed).code).toBe(3005);
      expect(fetched).toBe(2);
      await server.backend.publish(channel, "still here");
      await subscription.publications.count(1);
      expect(client.reconnects).toBe(0);
      client.close();
    });

    it.concurrent("[A34] a refreshed token takes away what the caps of the earlier one allowed", async () => {
      const channel = `closed:${name}-caps`;
      const caps = [{ channels: ["closed:*"], match: "wildcard", allow: ["sub", "pub"] }];
      let fetched = 0;
      const client = open(channel, {
        getToken: () => {
          fetched++;
          const claims = fetched === 1 ? { exp: secondsFromNow(inTimeSeconds), caps } : {};
          return Promise.resolve(signToken({ sub: "alice", ...claims }));
        },
      });
      const subscription = await client.subscribed(channel);
      await pause(server, channel);
      await subscription.subscription.publish("from alice");
      await subscription.publications.count(1);
      await pause(server, channel);
      expect(await subscription.unsubscribed.next()).toMatchObject({ code: 2000 });
      expect(fetched).toBe(2);
      await expect(client.client.publish(channel, "again")).rejects.toMatchObject({ code: 103 });
      expect(client.reconnects).toBe(0);
      client.close();
    });

    it.concurrent("[C5] a subscription whose token is refreshed in time stays, another one ends with 2501", async () => {
      const channel = `$${name}-refresh`;
      const subscriptionToken = (user: string, exp: number) =>
        signToken({ sub: user, channel, exp });
      const exp = secondsFromNow(inTimeSeconds);
      let fetched = 0;
      const client = open(channel, { token: signToken({ sub: "alice" }) });
      const subscription = await client.subscribed(channel, {
        getToken: () => {
          fetched++;
          const ends = fetched === 1 ? exp : secondsFromNow(60);
          return Promise.resolve(subscriptionToken("alice", ends));
        },
      });
      const idle = await RawSocket.connect(
        endpoint.address(server, channel),
        signToken({ sub: "bob" }),
      );
      const token = subscriptionToken("bob", exp);
      await idle.ask({ id: 2, subscribe: { channel, token } });
      await pause(server, channel);
      const line = await idle.lines.first((sent) => sent.includes("push"));
      expect(JSON.parse(line)).toMatchObject({ push: { channel, unsubscribe: { code: 2501 } } });
      idle.close();
      expect(fetched).toBe(2);
      await server.backend.publish(channel, "still here");
      await subscription.publications.count(1);
      expect(subscription.subscribing.all).toHaveLength(1);
      client.close();
    });
  },
);
