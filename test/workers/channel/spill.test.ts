import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, type Holder, spillPlace } from "../support/place.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";

const limit = 20;
configure({ ...testConfig, client: { ...testConfig.client, connection_limit: limit } });

/** How many sockets an object has. */
function socketCount(holder: Holder): Promise<number> {
  return runInDurableObject<DurableObject, number>(
    holder,
    (_, state) => state.getWebSockets().length,
  );
}

describe("a channel with a full object", () => {
  it("[G4] continues in a gateway of its own at the same address, and clients can't tell the difference", async () => {
    const channel = newChannel("room");
    const sockets: TestSocket[] = [];
    for (let count = 0; count < limit + 3; count++) {
      sockets.push(await TestSocket.connect(channel, `user-${count}`));
    }
    expect(await socketCount(channelPlace.holder(channel))).toBe(limit);
    expect(await socketCount(spillPlace.holder(channel))).toBe(3);
    const [here, there] = [sockets[0], sockets[limit]];
    if (here === undefined || there === undefined) throw new Error("nobody is there");
    const replies = [];
    for (const socket of [here, there]) {
      replies.push(await socket.ask({ id: 2, subscribe: { channel } }));
    }
    expect(replies[0]).toStrictEqual(replies[1]);
    await here.unread();
    await there.unread();
    await publish(channel, 1);
    here.send({ id: 3, publish: { channel, data: 2 } });
    const [first, second] = [await here.line(), await here.line()];
    expect([await there.line(), await there.line()]).toStrictEqual([first, second]);
    expect(await here.line()).toBe('{"id":3,"publish":{}}');
    there.send({ id: 3, publish: { channel, data: 3 } });
    expect(await there.line()).toBe(await here.line());
    expect(await there.line()).toBe('{"id":3,"publish":{}}');
    for (const socket of [here, there]) {
      socket.send(
        { id: 4, presence_stats: { channel } },
        { id: 5, subscribe: { channel: "other" } },
      );
      expect(await socket.unread()).toStrictEqual([
        '{"id":5,"error":{"code":102,"message":"unknown channel"}}',
        '{"id":4,"presence_stats":{"num_clients":2,"num_users":2}}',
      ]);
    }
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":2');
  });
});
