import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { handshake, RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient, type SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const channel = { without_namespace: { allow_subscribe_for_client: true, presence: true } };
const token = signToken({ sub: "alice" });
const tooMany = { code: 111, message: "too many requests", temporary: true };

let server: TestServer;

/** Starts a server for a group of tests, which have channels of their own. */
function serve(client: object, without_namespace: object = channel.without_namespace): void {
  beforeAll(async () => {
    server = await TestServer.start({ config: { client, channel: { without_namespace } } });
  });
  afterAll(() => server.close());
}

describe("new connections", () => {
  serve({ connection_rate_limit: 20 });
  describe.each(endpoints)("at the endpoint of a $name", (endpoint) => {
    const clients = 40;
    const own = `news-${endpoint.name}`;

    it("[B23] [B4] that come too fast are refused with 503, come again, and get in", async () => {
      const address = endpoint.address(server, own);
      const many = () => Promise.all(Array.from({ length: clients }, () => handshake(address)));
      // On a busy machine they may come slowly enough.
      let answers = await many();
      while (answers.every(({ status }) => status === 101)) answers = await many();
      const refused = answers.filter(({ status }) => status !== 101);
      expect(refused.length).toBeLessThan(clients);
      for (const { status, retryAfter } of refused) {
        expect(status).toBe(503);
        expect(retryAfter).toBeGreaterThanOrEqual(2);
        expect(retryAfter).toBeLessThanOrEqual(10);
      }
      const opened: SdkClient[] = [];
      const subscriptions: SdkSubscription[] = [];
      while (opened.every(({ errors }) => errors.all.length === 0)) {
        const more = Array.from({ length: clients }, () => new SdkClient(address, { token }));
        opened.push(...more);
        subscriptions.push(...(await Promise.all(more.map((client) => client.subscribed(own)))));
      }
      await server.backend.publish(own, "for all");
      for (const { publications } of subscriptions) await publications.count(1);
      expect(await server.backend.presence(own)).toHaveLength(opened.length);
      for (const client of opened) client.close();
    });
  });
});

describe("commands", () => {
  serve({});
  describe.each(endpoints)("at the endpoint of a $name", (endpoint) => {
    it.each([
      {
        what: "commands",
        burst: limits.commandsBurst,
        command: (id: number) => ({ id, rpc: {} }),
        usual: 108,
      },
      {
        what: "subscribes",
        burst: limits.subscribesBurst,
        command: (id: number) => ({ id, subscribe: { channel: `subscribes-${endpoint.name}` } }),
        usual: 105,
      },
    ])(
      "[B7] $what that come too fast are answered 111, and 3013 closes if that goes on",
      async (flood) => {
        const own = `${flood.what}-${endpoint.name}`;
        const address = endpoint.address(server, own);
        const observer = new SdkClient(address, { token });
        const { publications } = await observer.subscribed(own);
        const socket = await RawSocket.connect(address, token);
        await socket.ask({ id: 2, subscribe: { channel: own } });
        const perFrame = 1_000;
        const sent = Math.ceil((2.5 * flood.burst) / perFrame) * perFrame;
        for (let id = 10; id < sent; id += perFrame) {
          socket.send(...Array.from({ length: perFrame }, (_, index) => flood.command(id + index)));
        }
        expect(await socket.closed).toEqual({ code: 3013, reason: "too many requests" });
        const codes = socket.lines.all.slice(2).map((line) => JSON.parse(line).error.code);
        const granted = codes.indexOf(tooMany.code);
        // Its connect and its subscribe were some of them, and meanwhile it was allowed some more.
        expect(granted).toBeGreaterThanOrEqual(flood.burst - 2);
        expect(codes.slice(0, granted).every((code) => code === flood.usual)).toBe(true);
        const refused = codes.filter((code) => code === tooMany.code);
        expect(refused.length).toBeGreaterThanOrEqual(flood.burst);
        expect(socket.lines.all).toContain(JSON.stringify({ id: granted + 10, error: tooMany }));
        await server.backend.publish(own, "heard");
        expect(await publications.next()).toMatchObject({ data: "heard" });
        expect(observer.reconnects).toBe(0);
        observer.close();
      },
    );
  });
});

describe("a configured rate", () => {
  const rate = { enabled: true, buckets: [{ interval: "1s", rate: 1 }] };
  const client_command = { enabled: true, subscribe: rate, publish: rate };
  const open = { ...channel.without_namespace, allow_publish_for_client: true };

  serve({ rate_limit: { client_command } }, open);

  it.each(endpoints)(
    "[B7] delays a client's subscribes, which the client repeats, and fails its publishes, at the endpoint of a $name",
    async (endpoint) => {
      const own = `rate-${endpoint.name}`;
      const client = new SdkClient(endpoint.address(server, own), { token });
      const resubscribe = { minResubscribeDelay: 100, maxResubscribeDelay: 500 };
      const first = await client.subscribed(own, resubscribe);
      // One that comes within a second of the one before is answered 111, which is temporary.
      for (let count = 2; first.errors.all.length === 0; count++) {
        first.subscription.unsubscribe();
        first.subscription.subscribe();
        await first.subscribed.count(count);
      }
      expect(first.errors.all[0]?.error).toMatchObject({ code: 111 });
      const published = await Promise.allSettled(
        Array.from({ length: 5 }, (_, data) => first.subscription.publish(data)),
      );
      const refused = published.filter(({ status }) => status === "rejected");
      expect(refused.length).toBeGreaterThanOrEqual(3);
      expect(refused[0]).toMatchObject({ reason: { code: 111 } });
      expect(client.reconnects).toBe(0);
      client.close();
    },
  );
});
