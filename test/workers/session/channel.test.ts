import { describe, expect, it } from "vitest";
import { publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { subscribePastJoin, infoJson, pushLine } from "../presence/presence-pushes.ts";
import { everyVariant } from "../support/variant.ts";

describe.each(everyVariant)("a subscription on $name", (variant) => {
  it("[O3][O1] gets every publication after its reply, in order, each once", async () => {
    const channel = newChannel("room");
    const { epoch } = await publish(channel, "before");
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    socket.send({ id: 2, subscribe: { channel } });
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":1,"positioned":true}}`,
    );
    expect(await socket.line()).toBe(pushLine(channel, "join", infoJson("ada", socket)));
    for (const offset of [2, 3, 4]) {
      await variant.betweenSteps(channel);
      expect(await publish(channel, offset)).toStrictEqual({ offset, epoch });
      expect(await socket.line()).toBe(
        pushLine(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    await variant.betweenSteps(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[O4] receives its own publication before the publish is answered", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(variant, channel, "ada"),
      await subscribePastJoin(variant, channel, "bob"),
    ];
    await ada.line(); // Bob's join
    await variant.betweenSteps(channel);
    ada.sendFrame(`{"id":3,"publish":{"channel":"${channel}","data":{"b":1.50, "a":2}}}`);
    const first = await ada.line();
    const info = `{"user":"ada","client":"${ada.client}"}`;
    expect(first).toMatch(/,"epoch":"\w{8}"\}\}\}$/);
    expect(first.replace(/,"epoch":"\w+"/, "")).toBe(
      pushLine(channel, "pub", `{"data":{"b":1.50, "a":2},"info":${info},"offset":1}`),
    );
    expect(await ada.line()).toBe('{"id":3,"publish":{}}');
    expect(await bob.line()).toBe(first);
    await variant.betweenSteps(channel);
    expect(await bob.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});
