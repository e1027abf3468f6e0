import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { KeyServer, serving, SigningKey } from "../../support/servers/key-server.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { TestServer } from "../../support/servers/test-server.ts";

/** Verifying a token can take as long as fetching its key: the client's later commands wait for it. */
describe.each(endpoints)(
  "while the keys of tokens are fetched, at the endpoint of a $name",
  (endpoint) => {
    const key = new SigningKey("k1");
    let keys: KeyServer;
    let server: TestServer;

    beforeEach(async () => {
      keys = await KeyServer.start(serving([key.jwk]));
      const tokens = { jwks_public_endpoint: keys.url };
      server = await TestServer.start({
        config: {
          client: { token: tokens, subscription_token: { enabled: true, ...tokens } },
          channel: { without_namespace: { presence: true, allow_presence_for_client: true } },
        },
      });
    });

    afterEach(async () => {
      await server.close();
      await keys.close();
    });

    it("[O6] [A9] frames that follow a connect, or a subscribe, wait for it", async () => {
      const held = Promise.withResolvers<void>();
      const answer = keys.answer;
      keys.answer = (response, path) => {
        held.promise.then(() => answer(response, path)).catch(() => undefined);
      };
      const asked = keys.nextRequest();
      const socket = await RawSocket.open(endpoint.address(server, "news"));
      const token = key.token({ sub: "ada", exp: expireSeconds() });
      const subscription = key.token({ sub: "ada", channel: "news", exp: expireSeconds() });
      socket.send({ id: 1, connect: { token } });
      socket.send({ id: 2, subscribe: { channel: "news", token: subscription } });
      socket.send({ id: 3, unsubscribe: { channel: "news" } });
      socket.send({ id: 4, presence: { channel: "news" } });
      await asked;
      held.resolve();
      const replies = (await socket.lines.count(4)).map((line) => {
        const { id, error }: { id: number; error?: object } = JSON.parse(line);
        return { id, error };
      });
      expect(replies).toEqual([1, 2, 3, 4].map((id) => ({ id, error: undefined })));
      expect(await server.backend.presence("news")).toEqual([]);
      socket.close();
    });
  },
);

/** Ten minutes from now, in seconds since 1970. */
function expireSeconds(): number {
  return Math.floor(Date.now() / 1000) + 600;
}
