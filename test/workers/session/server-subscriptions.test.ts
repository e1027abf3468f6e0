import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { pushLine } from "../presence/presence-pushes.ts";
import { gatewayVariants } from "../support/variant.ts";
import { token } from "../support/sign-token.ts";

describe.each(gatewayVariants)("the server's own subscriptions on $name", (variant) => {
  it("[C9] to the token's channels come in the connect reply, and are live", async () => {
    const [room, closed] = [newChannel("room"), newChannel("closed")];
    const { epoch } = await publish(room, 1);
    const socket = await variant.open(room);
    await variant.betweenSteps(room, closed);
    const claims = { sub: "ada", channels: [room, closed, room] };
    socket.send({ id: 1, connect: { token: await token(claims) } });
    const { client = "", subs } = (await socket.next()).connect ?? {};
    socket.client = client;
    expect(subs).toStrictEqual({
      [room]: { recoverable: true, epoch, offset: 1, positioned: true },
      [closed]: {},
    });
    expect(await socket.line()).toBe(
      pushLine(room, "join", `{"info":{"user":"ada","client":"${client}"}}`),
    );
    await variant.betweenSteps(room, closed);
    await publish(room, 2);
    expect(await socket.line()).toBe(pushLine(room, "pub", '{"data":2,"offset":2}'));
    await publish(closed, 3);
    expect(await socket.line()).toBe(pushLine(closed, "pub", '{"data":3}'));
    socket.send({ id: 2, subscribe: { channel: closed } });
    expect(await socket.line()).toContain('"code":105');
    await variant.betweenSteps(room, closed);
  });

  it("[C9][A3] are those of the token at the upgrade, when connect brings none", async () => {
    const channel = newChannel("room");
    const signed = await token({ sub: "ada", subs: { [channel]: { info: { badge: 1 } } } });
    const socket = await variant.open(channel, `?token=${signed}`);
    await variant.betweenSteps(channel);
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(Object.keys(connect?.subs ?? {})).toStrictEqual([channel]);
    expect(await socket.line()).toContain('"chan_info":{"badge":1}');
    await variant.betweenSteps(channel);
    expect((await call("presence", { channel })).body).toContain('"chan_info":{"badge":1}');
    await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1,"offset":1');
    await variant.betweenSteps(channel);
  });
});
