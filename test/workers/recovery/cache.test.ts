import { describe, expect, it } from "vitest";
import { publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
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
});
