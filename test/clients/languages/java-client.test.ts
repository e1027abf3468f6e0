import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { setTimeout as pause } from "node:timers/promises";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { type Endpoint, endpoints } from "../../support/sockets/endpoint.ts";
import { hasJava, JavaEnvironment } from "../../support/environments/java-environment.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { forgeries, secondsFromNow, signToken } from "../../support/test-tokens.ts";
import { openOptions } from "../../support/open-options.ts";

const config = {
  client: { ping_interval: "1s", expired_sub_close_delay: "1s" },
  channel: {
    without_namespace: openOptions,
  },
};

if (hasJava()) {
  describe("the official Java client, which speaks Protobuf", () => {
    javaClient();
  });
} else {
  it("the official Java client isn't tested: this machine has no JDK of version 17 or later with Maven", () => {
    expect(hasJava()).toBe(false);
  });
}

function javaClient(): void {
  let java: JavaEnvironment;
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ config });
    java = await JavaEnvironment.open();
  }, 300_000);
  afterAll(() => server.close());

  const alice = signToken({ sub: "alice", info: { name: "Alice" } });

  function startSubscriber(
    test: TestContext,
    endpoint: Endpoint,
    channel: string,
    more: JavaSubscriber = {},
  ) {
    const { at, token = alice, asks = false } = more;
    const address = endpoint.address(server, channel, at);
    return java.run(test, "Listen", [address, token, channel, asks ? "asks" : ""]);
  }

  describe.concurrent.each(endpoints)("[W5] [T1] on a $name's socket", (endpoint) => {
    it("subscribes, hears, publishes, reads, sees who is there, and leaves", async (test) => {
      const channel = `java-journey-${endpoint.name}`;
      const client = startSubscriber(test, endpoint, channel);
      expect(await client.next("subscribed")).toMatchObject({
        recoverable: true,
        wasRecovering: false,
      });
      expect(await client.next("join")).toMatchObject({ user: "alice", info: { name: "Alice" } });
      await server.backend.publishFields(channel, { data: { text: "ä 🌍" }, tags: { kind: "x" } });
      expect(await client.next("publication")).toMatchObject({
        offset: 1,
        data: { text: "ä 🌍" },
        user: "",
        tags: { kind: "x" },
      });
      await server.backend.publishFields(channel, { b64data: "/wD+" });
      // Java's bytes have signs.
      expect(await client.next("publication", 2)).toMatchObject({ offset: 2, data: [-1, 0, -2] });
      client.sendLine('publish {"from":"java"}');
      expect(await client.next("published")).toMatchObject({ failed: false });
      expect(client.allOf("publication")[2]).toMatchObject({
        offset: 3,
        data: { from: "java" },
        user: "alice",
      });
      client.sendLine("history");
      expect(await client.next("history")).toMatchObject({
        all: [{ text: "ä 🌍" }, [-1, 0, -2], { from: "java" }],
        top: 3,
      });
      client.sendLine("presence");
      expect(await client.next("presence")).toMatchObject({ users: ["alice"] });
      client.sendLine("unsubscribe");
      expect(await client.next("unsubscribed")).toMatchObject({ code: 0 });
      while ((await server.backend.presence(channel)).length > 0) await pause(20);
      await client.finish();
      expect(client.allOf("connecting")).toHaveLength(1);
    });

    it("[R2] recovers the publications that it missed while its connection was cut", async (test) => {
      const channel = `java-cut-${endpoint.name}`;
      const network = await BreakableNetwork.to(server.address);
      test.onTestFinished(() => network.close());
      const client = startSubscriber(test, endpoint, channel, { at: network.address });
      await client.next("subscribed");
      await server.backend.publishAll(channel, [1, 2]);
      await client.next("publication", 2);
      network.break();
      while ((await server.backend.presence(channel)).length > 0) await pause(20);
      await server.backend.publishAll(channel, [3, 4, 5]);
      network.mend();
      expect(await client.next("subscribed", 2)).toMatchObject({
        wasRecovering: true,
        recovered: true,
      });
      await server.backend.publish(channel, 6);
      await client.next("publication", 6);
      await client.finish();
      const received = client.allOf("publication").map(({ offset, data }) => [offset, data]);
      expect(received).toEqual([1, 2, 3, 4, 5, 6].map((number) => [number, number]));
    });

    it("[T2] takes code 3000 for a lost connection, and delivers what it publishes meanwhile", async (test) => {
      const channel = `java-queued-${endpoint.name}`;
      const token = signToken({ sub: channel });
      const client = startSubscriber(test, endpoint, channel, { token });
      await client.next("subscribed");
      client.sendLine('queue {"queued":true}');
      // Its answer shows that the client has read the line before.
      client.sendLine("presence");
      await client.next("presence");
      const disconnect = { code: 3000, reason: "test" };
      await server.backend.disconnect({ user: channel, disconnect });
      expect(await client.next("connecting", 2)).toMatchObject({ code: 1 });
      expect(await client.next("published")).toMatchObject({ failed: false });
      await client.finish();
      expect(client.allOf("connected")).toHaveLength(2);
      const { publications } = await server.backend.history(channel);
      expect(publications.map(({ data }) => data)).toEqual([{ queued: true }]);
    });

    it("[K1] stays longer than it would without a ping", async (test) => {
      const channel = `java-ping-${endpoint.name}`;
      const client = startSubscriber(test, endpoint, channel);
      await client.next("subscribed");
      // The client gives up 3 s after a ping is due, whether or not pings were announced.
      await pause(6_000);
      await server.backend.publish(channel, "still here");
      await client.next("publication");
      await client.finish();
      expect(client.allOf("connecting")).toHaveLength(1);
    });

    it("[C5] is unsubscribed with the push 2501 when its subscription's token isn't renewed", async (test) => {
      const channel = `$java-expiry-${endpoint.name}`;
      const client = startSubscriber(test, endpoint, channel, { asks: true });
      await client.next("token wanted");
      client.sendLine(`token ${signToken({ sub: "alice", channel, exp: secondsFromNow(5) })}`);
      await client.next("subscribed");
      expect(await client.next("subscribing", 2)).toMatchObject({ code: 2501 });
      await client.finish();
      expect(client.allOf("connecting")).toHaveLength(1);
    });

    it("[C3] is disconnected for good with an unsigned token", async (test) => {
      const token = forgeries[0]?.forge({ sub: "alice" }) ?? "";
      const client = startSubscriber(test, endpoint, `java-forged-${endpoint.name}`, { token });
      expect(await client.next("disconnected")).toMatchObject({
        code: 3500,
        reason: "invalid token",
      });
      await client.finish();
      expect(client.allOf("connecting")).toHaveLength(1);
    });
  });
}

interface JavaSubscriber {
  /** Another address of the server. */
  readonly at?: string;
  readonly token?: string;
  /** Whether it asks for its subscription's tokens. */
  readonly asks?: boolean;
}
