import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { LingeringClient } from "../../support/sockets/lingering-client.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";
import { variants } from "../../support/sockets/variant.ts";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({});
});
afterAll(() => server.close());

const channelVariants = variants.filter(({ endpoint }) => endpoint.name === "channel");

describe.each(channelVariants)(
  "[S2] in the situation $name",
  ({ name, endpoint, betweenSteps }) => {
    it("[B13] [B24] clients that never connected and never answer their close are bounded", async () => {
      // The proxy of the test's server would take four file descriptors for each socket.
      const address = endpoint.address(server, name, await server.runtimeAddress());
      // With an open connection, the object doesn't drop the others (rule B11).
      const connected = await RawSocket.connect(address, signToken({ sub: "alice" }));
      const clients: LingeringClient[] = [];
      while (clients.length < limits.unconnectedMax) {
        const more = Math.min(32, limits.unconnectedMax - clients.length);
        clients.push(...(await Promise.all(Array.from({ length: more }, () => closed(address)))));
      }
      await betweenSteps(server, name);
      const next = `channel/${name}/0`;
      expect(await server.gatewayAsleep(next)).toBe(true);
      // The channel's object is full for this one, and a gateway of the channel takes it (rule G4).
      const last = await RawSocket.open(address);
      expect(await server.gatewayAsleep(next)).toBe(false);
      for (const client of clients) client.cut();
      for (const socket of [connected, last]) socket.cut();
    });
  },
);

/** A client whose first command isn't connect, so that the server closes it; it leaves that unanswered. */
async function closed(address: string): Promise<LingeringClient> {
  const client = await LingeringClient.open(address);
  client.send(`{"id":1,"unsubscribe":{}}`);
  expect(await client.closeCode()).toBe(3501);
  return client;
}
