import { describe, expect, it } from "vitest";
import { publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { subscribePastJoin } from "../presence/presence-pushes.ts";
import { variants } from "../support/variant.ts";

describe.each(variants)("the history on $name", (variant) => {
  it("[H2][B1] reads history, as many publications at a time as the configuration allows", async () => {
    const channel = newChannel("room");
    const socket = await subscribePastJoin(variant, channel, "ada");
    await variant.betweenSteps(channel);
    for (const data of [1, 2, 3, 4, 5, 6]) await publish(channel, data, { skip_history: false });
    for (let count = 0; count < 6; count++) await socket.line();
    const { epoch } = await publish(channel, 7);
    await socket.line();
    const publications = (...offsets: number[]) =>
      offsets
        .map((offset) => {
          const first = offset === 1 ? `,"epoch":"${epoch}"` : "";
          return `{"data":${offset},"offset":${offset}${first}}`;
        })
        .join(",");
    const read = async (request: object) => {
      await variant.betweenSteps(channel);
      socket.send({ id: 3, history: { channel, ...request } });
      return socket.line();
    };
    const listed = (...offsets: number[]) =>
      `{"id":3,"history":{"publications":[${publications(...offsets)}],"epoch":"${epoch}","offset":7}}`;
    expect(await read({})).toBe(listed());
    expect(await read({ limit: 2, since: { offset: 2, epoch } })).toBe(listed(3, 4));
    expect(await read({ limit: -1, since: { offset: 1, epoch } })).toBe(listed(2, 3, 4, 5));
    expect(await read({ limit: 5, reverse: true })).toBe(listed(7, 6, 5, 4));
    expect(await read({ since: { offset: 1, epoch: "other" } })).toContain('"code":112');
    expect(await read({ since: { offset: 0 }, reverse: true })).toContain('"code":107');
  });
});
