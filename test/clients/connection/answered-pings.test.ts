import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { Continent } from "../../support/sockets/continent.ts";
import { type Endpoint, endpoints } from "../../support/sockets/endpoint.ts";
import { FrameRelay } from "../../support/sockets/frame-relay.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const config = {
  client: { ping_interval: "3s", stale_close_delay: "1s" },
  channel: { without_namespace: { allow_subscribe_for_client: true, presence: true } },
};
/** How often a client answers before it falls silent. */
const rounds = 3;

const token = signToken({ sub: "alice" });
let python: PythonEnvironment;
let server: TestServer;
/** A gateway of its own for each client that is on one: those of two continents. */
const continents: Continent[] = [];

beforeAll(async () => {
  python = await PythonEnvironment.open();
  server = await TestServer.start({ config });
  for (const letters of ["EU", "NA"] as const)
    continents.push(await Continent.of(letters, server.address));
}, 300_000);
afterAll(async () => {
  for (const continent of continents) await continent.close();
  await server.close();
});

/** An official client that connects and subscribes to a channel, unmodified, with its frames in JSON. */
interface OfficialClient {
  readonly name: string;
  /** Resolves once it is subscribed. */
  readonly start: (test: TestContext, address: string, channel: string) => Promise<void>;
}

const officialClients: readonly OfficialClient[] = [
  {
    name: "npm's",
    start: async (test, address, channel) => {
      const client = new SdkClient(address, { token });
      test.onTestFinished(() => client.close());
      await client.subscribed(channel);
    },
  },
  {
    name: "PyPI's",
    start: async (test, address, channel) => {
      const script = python.run(test, "listen", {
        address,
        token,
        subscriptions: [{ channel }],
        protobuf: false,
      });
      await script.next("subscribed");
    },
  },
];

const cases = officialClients.flatMap((client, index) =>
  endpoints.map((endpoint) => ({ client, endpoint, index, at: endpoint.name })),
);

/** Each waits for pings, for itself and on an object of its own: so they run side by side. */
describe.concurrent.each(cases)(
  "$client.name client on a $at's socket",
  ({ client, endpoint, index }) => {
    it(
      "[K3] [K2] doesn't wake the object with its answers, and is closed 3012 once it sends none",
      { timeout: 60_000 },
      async (test) => {
        const continent = continents[index];
        if (continent === undefined) throw new Error("there is no such continent");
        const channel = `answered-${index}-${endpoint.name}`;
        const holder = holderOf(continent, endpoint, channel);
        const address = endpoint.address(server, channel, continent.address);
        let answers = 0;
        const relay = await FrameRelay.open(address, async (frame) => {
          if (frame !== keepaliveTexts.request) return "pass";
          answers++;
          if (answers > rounds) return "drop";
          // The ping woke the object. The answer finds it gone.
          await holder.evict();
          return "pass";
        });
        test.onTestFinished(() => relay.close());
        await client.start(test, relay.address, channel);
        for (let round = 1; round <= rounds; round++) {
          while ((await relay.received.next()) !== keepaliveTexts.answer);
          expect(await holder.asleep()).toBe(true);
        }
        expect(await server.backend.presence(channel)).toHaveLength(1);
        expect(await relay.closings.next()).toEqual({ code: 3012, reason: "no pong" });
        expect(answers).toBe(rounds + 1);
        expect(relay.received.all.filter((frame) => frame === keepaliveTexts.answer)).toHaveLength(
          rounds,
        );
      },
    );
  },
);

/** The object that holds a client's socket. */
function holderOf({ firstGateway }: Continent, { name }: Endpoint, channel: string) {
  const isOwn = name === "channel";
  return {
    evict: () => (isOwn ? server.evict(channel) : server.evictGateway(firstGateway)),
    asleep: () => (isOwn ? server.asleep(channel) : server.gatewayAsleep(firstGateway)),
  };
}
