import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { everyVariant } from "../support/variant.ts";

describe.each(everyVariant)("a subscription that was away, on $name", (variant) => {
  it("[R2][R3] recovers the missed publications, without a hole, and none if it missed none", async () => {
    const channel = newChannel("room");
    const { epoch } = await publish(channel, 1);
    await publish(channel, 2);
    await publish(channel, 3, { tags: { t: "3" } });
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    socket.send({ id: 2, subscribe: { channel, recover: true, offset: 1, epoch } });
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
        `"publications":[{"data":2,"offset":2},{"data":3,"offset":3,"tags":{"t":"3"}}],` +
        `"recovered":true,"offset":1,"positioned":true,"was_recovering":true}}`,
    );
    const current = await variant.connect(channel, "bob");
    await variant.betweenSteps(channel);
    current.send({ id: 2, subscribe: { channel, recover: true, offset: 3, epoch } });
    expect(await current.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
        `"recovered":true,"offset":3,"positioned":true,"was_recovering":true}}`,
    );
    await variant.betweenSteps(channel);
  });

  it("[R1][R5] that can't recover is told the top and nothing else, or gets 112 if it wants", async () => {
    const channel = newChannel("room");
    for (let data = 1; data <= 12; data++) await publish(channel, data);
    const { epoch } = await publish(channel, 13);
    const requests = [
      { recover: true, offset: 12, epoch: "other" },
      { recover: true, offset: 14, epoch },
      { recover: true, offset: 2, epoch },
    ];
    const top =
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":13,` +
      `"positioned":true,"was_recovering":true}}`;
    for (const request of requests) {
      const socket = await variant.connect(channel, "ada");
      await variant.betweenSteps(channel);
      socket.send({ id: 2, subscribe: { channel, ...request, flag: 2 } });
      expect(await socket.line()).toBe(
        '{"id":2,"error":{"code":112,"message":"unrecoverable position"}}',
      );
      expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
      await variant.betweenSteps(channel);
      socket.send({ id: 2, subscribe: { channel, ...request, flag: 1 } });
      expect(await socket.line()).toBe(top);
      socket.send({ id: 3, unsubscribe: { channel } });
      await variant.betweenSteps(channel);
    }
  });
});
