import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { gatewayEndpoint } from "../../support/sockets/endpoint.ts";
import { pythonCodecs } from "../../support/environments/python-codecs.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import type { PythonEvent } from "../../support/environments/python-script.ts";
import { type Variant, variants } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const config = {
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      presence: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
    },
  },
};

const onGateways = variants.filter(({ endpoint }) => endpoint === gatewayEndpoint);

let python: PythonEnvironment;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
  python = await PythonEnvironment.open();
}, 300_000);
afterAll(() => server.close());

/** A network to the server that is gone when the test is over. */
async function breakableNetwork(test: TestContext): Promise<BreakableNetwork> {
  const network = await BreakableNetwork.to(server.address);
  test.onTestFinished(() => network.close());
  return network;
}

/** Waits until the server has noticed that the channel has no subscriber. */
async function noticedLoss(channel: string): Promise<void> {
  while ((await server.backend.presence(channel)).length > 0);
}

/** The network breaks until publications 3 to 22 of a channel are missed. */
async function missedWhileAway(
  network: BreakableNetwork,
  channel: string,
  pause: Variant["betweenSteps"],
): Promise<void> {
  await pause(server, channel);
  network.break();
  await noticedLoss(channel);
  await pause(server, channel);
  for (const { data } of numbers(3, 22)) await server.backend.publish(channel, data);
  await pause(server, channel);
  network.mend();
}

/** The publications of a channel, in the order of their arrival. */
function received(events: readonly PythonEvent[], channel: string) {
  return events
    .filter((one) => one.event.endsWith("publication") && one.channel === channel)
    .map(({ offset, data }) => ({ offset, data }));
}

/** Numbers, as {@link received} gives them, published at offsets that are the same. */
function numbers(first: number, last: number) {
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    offset: first + index,
    data: first + index,
  }));
}

describe.each(pythonCodecs)("[$rule] in $codec", ({ codec, protobuf }) => {
  describe.each(onGateways)("[S2] $name between all steps", ({ name, betweenSteps: pause }) => {
    it("[R2] [R3] a Python client that was away recovers exactly the 20 publications that it missed", async (test) => {
      const [missed, quiet] = [`missed-${name}-${codec}`, `quiet-${name}-${codec}`];
      const network = await breakableNetwork(test);
      const subscriber = python.run(test, "listen", {
        address: server.gatewayAddress(network.address),
        token: signToken({ sub: "alice" }),
        subscriptions: [{ channel: missed }, { channel: quiet }],
        protobuf,
      });
      await subscriber.next("subscribed", 2);
      await server.backend.publishAll(missed, [1, 2]);
      await server.backend.publish(quiet, 1);
      await subscriber.next("publication", 3);
      await missedWhileAway(network, missed, pause);
      await subscriber.next("subscribed", 4);
      await server.backend.publish(missed, 23);
      await subscriber.first(({ data }) => data === 23);
      const events = await subscriber.finish();
      const again = subscriber.allOf("subscribed").slice(2);
      expect(new Set(again.map(({ channel }) => channel))).toEqual(new Set([missed, quiet]));
      expect(again).toHaveLength(2);
      for (const one of again) expect(one).toMatchObject({ was_recovering: true, recovered: true });
      expect(received(events, missed)).toEqual(numbers(1, 23));
      expect(received(events, quiet)).toEqual(numbers(1, 1));
    });

    it("[C9] [R2] a Python client whom the server subscribed recovers just the same", async (test) => {
      const [missed, quiet] = [`server-missed-${name}-${codec}`, `server-quiet-${name}-${codec}`];
      const network = await breakableNetwork(test);
      const subscriber = python.run(test, "listen", {
        address: server.gatewayAddress(network.address),
        token: signToken({ sub: "alice", channels: [missed, quiet] }),
        protobuf,
      });
      await subscriber.next("server subscribed", 2);
      await server.backend.publishAll(missed, [1, 2]);
      await subscriber.next("server publication", 2);
      await missedWhileAway(network, missed, pause);
      await subscriber.next("server subscribed", 4);
      await server.backend.publish(missed, 23);
      await subscriber.first(({ data }) => data === 23);
      await server.backend.publish(quiet, 1);
      await subscriber.first((one) => one.event === "server publication" && one.channel === quiet);
      const events = await subscriber.finish();
      const again = subscriber.allOf("server subscribed").slice(2);
      expect(new Set(again.map(({ channel }) => channel))).toEqual(new Set([missed, quiet]));
      expect(again).toHaveLength(2);
      for (const one of again) expect(one).toMatchObject({ was_recovering: true, recovered: true });
      expect(received(events, missed)).toEqual(numbers(1, 23));
      expect(received(events, quiet)).toEqual(numbers(1, 1));
    });
  });
});
