import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { pushLine } from "../presence/presence-pushes.ts";
import { type Variant, variants } from "../support/variant.ts";

/** Subscribes as a user and gives the reply, byte for byte. */
async function subscribe(
  variant: Variant,
  channel: string,
  user: string,
  request: object = {},
): Promise<string> {
  const socket = await variant.connect(channel, user);
  await variant.betweenSteps(channel);
  socket.send({ id: 2, subscribe: { channel, ...request } });
  return socket.line();
}

describe.each(variants)("cache recovery on $name", (variant) => {
  it("[R2] gives the newest publication to who asks, whatever it missed, and nothing to who has it", async () => {
    const channel = newChannel("cache");
    for (const data of [1, 2, 3, 4]) await publish(channel, data);
    const { epoch } = await publish(channel, 5);
    const recovered = (offset: number) =>
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
      `"publications":[{"data":5,"offset":5}],"recovered":true,"offset":${offset},` +
      `"positioned":true,"was_recovering":true}}`;
    const options = { recover: true, offset: 1, epoch };
    expect(await subscribe(variant, channel, "behind", options)).toBe(recovered(1));
    expect(await subscribe(variant, channel, "elsewhere", { ...options, epoch: "other" })).toBe(
      recovered(1),
    );
    expect(await subscribe(variant, channel, "current", { ...options, offset: 5 })).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","recovered":true,` +
        `"offset":5,"positioned":true,"was_recovering":true}}`,
    );
    expect(await subscribe(variant, channel, "new")).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":5,"positioned":true}}`,
    );
    await variant.betweenSteps(channel);
  });

  it("[R6] recovers who has the newest publication after it was removed, and nobody else", async () => {
    const channel = newChannel("cache");
    await publish(channel, 1);
    const { epoch } = await publish(channel, 2);
    await call("history_remove", { channel });
    const options = { recover: true, epoch };
    expect(await subscribe(variant, channel, "current", { ...options, offset: 2 })).toContain(
      `"recovered":true,"offset":2`,
    );
    expect(await subscribe(variant, channel, "behind", { ...options, offset: 1 })).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":2,"positioned":true,"was_recovering":true}}`,
    );
    await variant.betweenSteps(channel);
  });

  it("[R5] has nothing to give before the first publication", async () => {
    const channel = newChannel("cache");
    const options = { recover: true, offset: 0, epoch: "" };
    expect(await subscribe(variant, channel, "ada", options)).toMatch(
      /^\{"id":2,"subscribe":\{"recoverable":true,"epoch":"\w{8}","positioned":true,"was_recovering":true\}\}$/,
    );
    await variant.betweenSteps(channel);
  });

  it("[O3] continues live after it, with the next publication and nothing twice", async () => {
    const channel = newChannel("latest");
    await publish(channel, 1);
    const { epoch } = await publish(channel, 2);
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    socket.send({ id: 2, subscribe: { channel } });
    // With automatic recovery no client has to ask.
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
        `"publications":[{"data":2,"offset":2}],"recovered":true,"positioned":true}}`,
    );
    for (const offset of [3, 4]) {
      await variant.betweenSteps(channel);
      await publish(channel, offset);
      expect(await socket.line()).toBe(
        pushLine(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    await variant.betweenSteps(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});
