import { describe, expect, it } from "vitest";
import { publish } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { push } from "./room.ts";
import { type Setting, settings } from "./setting.ts";

/** Subscribes as a user and gives the reply, byte for byte. */
async function subscribe(
  setting: Setting,
  channel: string,
  user: string,
  request: object = {},
): Promise<string> {
  const socket = await setting.connect(channel, user);
  await setting.pause(channel);
  socket.send({ id: 2, subscribe: { channel, ...request } });
  return socket.line();
}

describe.each(settings)("cache recovery on $name", (setting) => {
  it("[R2] gives the newest publication to who asks, whatever it missed, and nothing to who has it", async () => {
    const channel = newChannel("cache");
    for (const data of [1, 2, 3, 4]) await publish(channel, data);
    const { epoch } = await publish(channel, 5);
    const recovered = (offset: number) =>
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
      `"publications":[{"data":5,"offset":5}],"recovered":true,"offset":${offset},` +
      `"positioned":true,"was_recovering":true}}`;
    const wish = { recover: true, offset: 1, epoch };
    expect(await subscribe(setting, channel, "behind", wish)).toBe(recovered(1));
    expect(await subscribe(setting, channel, "elsewhere", { ...wish, epoch: "other" })).toBe(
      recovered(1),
    );
    expect(await subscribe(setting, channel, "current", { ...wish, offset: 5 })).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","recovered":true,` +
        `"offset":5,"positioned":true,"was_recovering":true}}`,
    );
    expect(await subscribe(setting, channel, "new")).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":5,"positioned":true}}`,
    );
    await setting.pause(channel);
  });

  it("[R5] has nothing to give before the first publication", async () => {
    const channel = newChannel("cache");
    const wish = { recover: true, offset: 0, epoch: "" };
    expect(await subscribe(setting, channel, "ada", wish)).toMatch(
      /^\{"id":2,"subscribe":\{"recoverable":true,"epoch":"\w{8}","positioned":true,"was_recovering":true\}\}$/,
    );
    await setting.pause(channel);
  });

  it("[O3] goes on live after it, with what is next and nothing twice", async () => {
    const channel = newChannel("latest");
    await publish(channel, 1);
    const { epoch } = await publish(channel, 2);
    const socket = await setting.connect(channel, "ada");
    await setting.pause(channel);
    socket.send({ id: 2, subscribe: { channel } });
    // With automatic recovery nobody has to ask.
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
        `"publications":[{"data":2,"offset":2}],"recovered":true,"positioned":true}}`,
    );
    for (const offset of [3, 4]) {
      await setting.pause(channel);
      await publish(channel, offset);
      expect(await socket.line()).toBe(
        push(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    await setting.pause(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });
});
