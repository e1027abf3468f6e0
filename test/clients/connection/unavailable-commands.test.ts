import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const token = signToken({ sub: "alice" });

let client: SdkClient;

afterEach(() => client.close());

let server: TestServer;

/** Starts a server for a group of tests. */
function serve(config: object): void {
  beforeAll(async () => {
    server = await TestServer.start({ config });
  });
  afterAll(() => server.close());
}

describe("without a backend to ask", () => {
  serve({});
  describe.each(endpoints)("at the endpoint of a $name", (endpoint) => {
    it("[W1] an rpc is answered 108, and the connection stays", async () => {
      client = new SdkClient(endpoint.address(server, "news"), { token });
      await expect(client.client.rpc("method", { a: 1 })).rejects.toMatchObject({ code: 108 });
      await expect(client.client.rpc("ping", {})).rejects.toMatchObject({ code: 108 });
      expect(client.reconnects).toBe(0);
      expect(client.disconnected.all).toEqual([]);
    });

    it("[W1] a message that nobody takes ends the connection for good: 3508", async () => {
      client = new SdkClient(endpoint.address(server, "news"), { token });
      await client.connected.count(1);
      await client.client.send({ a: 1 });
      expect(await client.disconnected.next()).toMatchObject({ code: 3508 });
    });

    it("[C1] a command that only servers send ends the connection: 3501", async () => {
      client = new SdkClient(endpoint.address(server, "news"), { token });
      const socket = await RawSocket.connect(endpoint.address(server, "news"), token);
      socket.send({ id: 2, ping: {} });
      expect((await socket.closed).code).toBe(3501);
    });
  });
});

describe("with rpc.ping", () => {
  serve({ rpc: { ping: { enabled: true } } });

  it.each(endpoints)(
    "[W1] the server answers an rpc of that name by itself at the endpoint of a $name, and no other",
    async (endpoint) => {
      client = new SdkClient(endpoint.address(server, "news"), { token });
      await expect(client.client.rpc("ping", {})).resolves.toEqual({ data: undefined });
      await expect(client.client.rpc("pong", {})).rejects.toMatchObject({ code: 108 });
    },
  );
});
