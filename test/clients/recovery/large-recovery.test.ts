import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { type Endpoint, endpoints } from "../../support/sockets/endpoint.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const missed = 20;
/** In all 2 MB: more than may wait for a client by default, less than on the other server. */
const publicationLength = 100_000;
const offsets = Array.from({ length: missed }, (_, index) => index + 2);

const options = {
  allow_subscribe_for_client: true,
  allow_history_for_client: true,
  presence: true,
  history_size: 100,
  history_ttl: "5m",
  force_recovery: true,
};

let server: TestServer;
/** One on which 4 MiB may wait for a client. */
let patient: TestServer;
let network: BreakableNetwork;
let client: SdkClient;

beforeAll(async () => {
  const channel = { without_namespace: options };
  const clientSection = { queue_max_size: 4_194_304 };
  server = await TestServer.start({ config: { channel } });
  patient = await TestServer.start({ config: { client: clientSection, channel } });
});
afterEach(async () => {
  client.close();
  await network.close();
});
afterAll(async () => {
  await server.close();
  await patient.close();
});

/** A subscriber that has received one publication, misses twenty large ones, and comes back. */
async function comeBack(to: TestServer, endpoint: Endpoint, channel: string) {
  network = await BreakableNetwork.to(to.address);
  client = new SdkClient(endpoint.address(to, channel, network.address), {
    token: signToken({ sub: "alice" }),
  });
  const subscription = await client.subscribed(channel);
  await to.backend.publish(channel, "before");
  await subscription.publications.count(1);
  network.break();
  while ((await to.backend.presence(channel)).length > 0);
  const position = await to.backend.publishAll(
    channel,
    offsets.map((offset) => dataAt(offset)),
  );
  network.mend();
  const [, again] = await subscription.subscribed.count(2);
  return { subscription, position, again };
}

describe.each(endpoints)(
  "who missed more than may wait, at the endpoint of a $name,",
  (endpoint) => {
    it("[R4] [R5] isn't brought up to date but told where the channel stands, once", async () => {
      const channel = `told-${endpoint.name}`;
      const { subscription, position, again } = await comeBack(server, endpoint, channel);
      expect(again).toMatchObject({
        wasRecovering: true,
        recovered: false,
        hasRecoveredPublications: false,
        streamPosition: position,
      });
      await server.backend.publish(channel, "after");
      await subscription.publications.count(2);
      expect(subscription.offsets).toEqual([1, position.offset + 1]);
      expect(client.reconnects).toBe(1);
      expect(subscription.subscribed.all).toHaveLength(2);
    });

    it("[F4] [H2] is answered 106 when it asks for all of it, and reads it in pages", async () => {
      const channel = `read-${endpoint.name}`;
      const { subscription: lost, position } = await comeBack(server, endpoint, channel);
      const { subscription } = lost;
      await expect(subscription.history({ limit: -1 })).rejects.toMatchObject({ code: 106 });
      const read: (number | undefined)[] = [];
      while (read.length < missed) {
        const since = { epoch: position.epoch, offset: read.at(-1) ?? 1 };
        const { publications } = await subscription.history({ limit: 8, since });
        for (const { data, offset } of publications) {
          expect(data).toEqual(dataAt(offset));
          read.push(offset);
        }
      }
      expect(read).toEqual(offsets);
      expect(client.reconnects).toBe(1);
    });

    it("[R2] [R4] is brought up to date where more may wait", async () => {
      const channel = `recovered-${endpoint.name}`;
      const { subscription, again } = await comeBack(patient, endpoint, channel);
      expect(again).toMatchObject({ wasRecovering: true, recovered: true });
      await patient.backend.publish(channel, "after");
      await subscription.publications.count(missed + 2);
      expect(subscription.offsets).toEqual([1, ...offsets, missed + 2]);
      for (const { data, offset } of subscription.publications.all.slice(1, -1)) {
        expect(data).toEqual(dataAt(offset));
      }
      expect(client.reconnects).toBe(1);
      expect(subscription.subscribed.all).toHaveLength(2);
    });
  },
);

/** Large data that contains its position. */
function dataAt(offset = 0) {
  return { offset, filler: "x".repeat(publicationLength) };
}
