import { afterEach, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { HeldTurns } from "../support/held-turns.ts";
import { newChannel } from "../support/new-channel.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { gatewayVariants, variants } from "../support/variant.ts";

const most = limits.frameTurnCommands;
const ids = Array.from({ length: 3 * most }, (_, index) => index + 10);
const leave = (id: number) => ({ id, unsubscribe: { channel: "nothing-here" } });
let turns: HeldTurns | undefined;

afterEach(() => turns?.release());

describe.each(variants)("a frame of many commands on $name", (variant) => {
  it.each<[string, (channel: string, id: number) => object]>([
    ["leave", (_, id) => leave(id)],
    ["publish", (channel, id) => ({ id, publish: { channel, data: id } })],
  ])("[B17] to %s is carried out in turns, and what comes behind it waits", async (_, command) => {
    const channel = newChannel("room");
    const sender = await variant.subscribe(channel, "ada");
    const other = await variant.connect(channel, "bob");
    await sender.unread();
    await variant.betweenSteps(channel);
    turns = new HeldTurns();
    sender.send(...ids.map((id) => command(channel, id)));
    sender.send({ id: 9, unsubscribe: { channel } });
    expect(await answers(sender, most)).toStrictEqual(ids.slice(0, most));
    await other.ask(leave(3));
    expect(sender.received).toBe(0);
    await turns.next();
    expect(await answers(sender, most)).toStrictEqual(ids.slice(most, 2 * most));
    turns.release();
    expect(await answers(sender, most + 1)).toStrictEqual([...ids.slice(2 * most), 9]);
    await variant.betweenSteps(channel);
  });
});

describe.each(gatewayVariants)("a frame with many tokens on $name", (variant) => {
  it("[B17] [A2] has each command carried out with its own token, also beyond the first turn", async () => {
    const first = newChannel("closed");
    const socket = await variant.connect(first, "ada");
    await variant.betweenSteps(first);
    const channels = Array.from({ length: most + 6 }, () => newChannel("closed"));
    const commands = channels.map(async (channel, index) => ({
      id: index + 10,
      subscribe: { channel, token: await token({ sub: "ada", channel }) },
    }));
    socket.send(...(await Promise.all(commands)));
    const replies = new Map<number, object>();
    while (replies.size < channels.length) {
      const reply = await socket.next();
      if (reply.id !== undefined) replies.set(reply.id, reply);
    }
    for (const index of channels.keys())
      expect(replies.get(index + 10)).toMatchObject({ subscribe: {} });
  });
});

/** The ids of the next so many answers. */
async function answers(socket: TestSocket, count: number): Promise<readonly number[]> {
  const seen: number[] = [];
  while (seen.length < count) {
    const { id } = await socket.next();
    if (id !== undefined) seen.push(id);
  }
  return seen;
}
