import { describe, expect, it } from "vitest";
import { call, keptData } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { everyVariant } from "../support/variant.ts";
import { token } from "../support/sign-token.ts";

describe.each(everyVariant)("the permissions of a client on $name", (variant) => {
  it("[A1][A4] is refused where nothing opens the channel, and opened by its own token only", async () => {
    const channel = newChannel("closed");
    const claims = { sub: "ada", channel };
    const [open, bound] = [
      await token({ ...claims, info: { x: 1 }, data: { y: 2.0 } }),
      await token({ ...claims, client: "another" }),
    ];
    const ada = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    const denied = '{"id":2,"error":{"code":103,"message":"permission denied"}}';
    ada.send({ id: 2, subscribe: { channel } });
    expect(await ada.line()).toBe(denied);
    await variant.betweenSteps(channel);
    ada.send({ id: 2, subscribe: { channel, token: await token(claims, "another secret") } });
    expect(await ada.line()).toBe(denied);
    await variant.betweenSteps(channel);
    ada.send({ id: 2, subscribe: { channel, token: open } });
    expect(await ada.line()).toBe('{"id":2,"subscribe":{"data":{"y":2}}}');
    await variant.betweenSteps(channel);
    expect((await call("presence", { channel })).body).toContain('"chan_info":{"x":1}');
    ada.send({ id: 3, unsubscribe: { channel } });
    await ada.line();
    await variant.betweenSteps(channel);
    ada.send({ id: 4, subscribe: { channel, token: bound } });
    expect(await ada.closed).toStrictEqual({ code: 3500, reason: "invalid token" });
    const eve = await variant.connect(channel, "eve");
    await variant.betweenSteps(channel);
    eve.send({ id: 2, subscribe: { channel, token: open } });
    expect(await eve.closed).toStrictEqual({ code: 3500, reason: "invalid token" });
    await variant.betweenSteps(channel);
  });

  it("[A1] is what publishing, presence and history need where the namespace says so", async () => {
    const channel = newChannel("room");
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    for (const command of [
      { publish: { channel, data: 1 } },
      { presence: { channel } },
      { presence_stats: { channel } },
      { history: { channel } },
    ]) {
      socket.send({ id: 2, ...command });
      expect(await socket.line()).toBe(
        '{"id":2,"error":{"code":103,"message":"permission denied"}}',
      );
    }
    expect(await keptData(channel)).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});
