import { afterEach, describe, expect, it } from "vitest";
import { publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace } from "../support/place.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awake } from "../support/object-state.ts";

afterEach(() => {
  watchedRelay.requestFault = undefined;
});

const variant = new Variant(gatewayPlace(), awake);

describe("many clients that come back together", () => {
  it("[L6] have the history read once for each position, not once for each client", async () => {
    const channel = newChannel("");
    const positions = 4;
    const { epoch } = await publish(channel, 1);
    for (let data = 2; data <= 10; data++) await publish(channel, data);
    const sockets: TestSocket[] = [];
    const count = 60;
    while (sockets.length < count) sockets.push(await variant.connect(channel, "ada"));
    // The channel answers when all of them have asked.
    const asked = Promise.withResolvers<undefined>();
    watchedRelay.requestFault = async ({ proceed }) => {
      await asked.promise;
      return proceed();
    };
    for (const [index, socket] of sockets.entries()) {
      const options = { recover: true, epoch, offset: 1 + (index % positions) };
      socket.send({ id: 2, subscribe: { channel, ...options } });
      await socket.ask({ id: 3, rpc: {} });
    }
    asked.resolve(undefined);
    for (const [index, socket] of sockets.entries()) {
      const { subscribe } = await socket.next();
      const since = 1 + (index % positions);
      const publications = Array.from({ length: 10 - since }, (_, missed) => ({
        data: since + 1 + missed,
        offset: since + 1 + missed,
      }));
      expect(subscribe).toMatchObject({ recovered: true, offset: since, publications });
    }
    const methods = watchedRelay.requests.map(({ method }) => method);
    expect(methods.filter((method) => method === "follow")).toHaveLength(1);
    // A client that was further behind is answered from another client's read.
    expect(methods.filter((method) => method === "recover").length).toBeLessThanOrEqual(positions);
    await publish(channel, 11);
    for (const socket of sockets) expect(await socket.line()).toContain('"data":11,"offset":11');
    await watchedRelay.settled();
  });
});
