import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PresenceListing } from "../../../src/channel/presence.ts";
import { limits } from "../../../src/limits.ts";
import { publish } from "../support/api-request.ts";
import { HeldTurns } from "../support/held-turns.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace } from "../support/place.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { type Received } from "../support/test-socket.ts";
import { awakeVariants, variants } from "../support/variant.ts";

describe.each(variants)("a question for who is present on $name", (variant) => {
  it("[P4] [O6] isn't answered with what was before it", async () => {
    const channel = newChannel("plain");
    const ada = await variant.subscribe(channel, "ada");
    const bob = await variant.connect(channel, "bob");
    await variant.betweenSteps(channel);
    bob.send({ id: 2, subscribe: { channel } });
    await bob.next();
    await variant.betweenSteps(channel);
    expect(await bob.ask({ id: 3, presence_stats: { channel } })).toEqual(counted(3, 2));
    await variant.betweenSteps(channel);
    bob.send({ id: 4, unsubscribe: { channel } }, { id: 5, presence_stats: { channel } });
    expect(await repliesTo(bob, 4, 5)).toEqual([{ id: 4, unsubscribe: {} }, counted(5, 1)]);
    await variant.betweenSteps(channel);
    bob.send({ id: 6, subscribe: { channel } }, { id: 7, presence_stats: { channel } });
    expect(await repliesTo(bob, 6, 7)).toEqual([{ id: 6, subscribe: {} }, counted(7, 2)]);
    await variant.betweenSteps(channel);
    expect(await ada.ask({ id: 3, presence: { channel } })).toMatchObject({
      presence: { presence: { [ada.client]: { user: "ada" }, [bob.client]: { user: "bob" } } },
    });
    await variant.betweenSteps(channel);
  });
});

describe("questions for who is present", () => {
  let turns: HeldTurns;
  /** How often an object made a list, or a slice of one. */
  let lists: ReturnType<typeof vi.spyOn>;

  beforeEach(() => {
    turns = new HeldTurns();
    lists = vi.spyOn(PresenceListing.prototype, "next");
  });

  afterEach(() => {
    turns.release();
  });

  it.each(awakeVariants)(
    "[P3] [B1] are a list for each turn on $name at most, although 12,000 come in 10 frames, and hold nobody up",
    async (variant) => {
      // A short name, so that so many questions fit into a frame.
      const channel = `plain:q${awakeVariants.indexOf(variant)}`;
      const hostile = await variant.subscribe(channel, "hostile");
      const other = await variant.subscribe(channel, "other");
      const question = JSON.stringify({ id: 3, presence: { channel } });
      const frame = Array.from({ length: 1_200 }, () => question).join("\n");
      expect(frame.length).toBeLessThan(limits.frameBytesMax);
      // However slow the machine is, they are too many for a second, and as many in each turn.
      turns.stopClock();
      for (let count = 0; count < 10; count++) hostile.sendFrame(frame);
      await publish(channel, 1);
      // Subscribers get publications meanwhile.
      expect(await other.line()).toContain('"data":1');
      // It is closed for its rate (rule B7): all frames were carried out.
      expect((await turns.until(hostile.closed)).code).toBe(3013);
      // The commands of a frame are carried out in turns (rule B17), those that waited for reads as soon as as many as may be
      // under way have ended (rule B16), and a list is made in one.
      const most = Math.ceil(12_000 / limits.readsUnderWayMax);
      // A gateway lists what the channel's object has listed. A list overtakes one whose gateway takes long to answer.
      expect(lists.mock.calls.length).toBeLessThanOrEqual(
        variant.place === channelPlace ? most : 3 * most,
      );
      other.send({ id: 3, presence: { channel } });
      expect(await turns.until(other.line())).toContain(
        `{"id":3,"presence":{"presence":{"${other.client}":`,
      );
    },
  );

  it("[P3] of calls at the same time are one list, and other commands don't wait for it", async () => {
    const channel = newChannel("plain");
    const object = env.CHANNELS.getByName(channel);
    const stats = { method: "presence_stats" } as const;
    const answers = [object.execute([stats]), object.present(), object.execute([stats])];
    // Calls arrive in their order.
    const other = await object.execute([{ method: "history_remove" }]);
    expect(other).toMatchObject({ outcome: "answers" });
    expect([turns.waiting, lists.mock.calls.length]).toEqual([1, 0]);
    await turns.next();
    expect(await Promise.all(answers)).toMatchObject([
      { outcome: "answers" },
      { outcome: "present", clients: [], complete: true },
      { outcome: "answers" },
    ]);
    expect(lists).toHaveBeenCalledTimes(1);
  });
});

/** The replies to two commands, in the order of the commands: one of them may be sent later (rule O6). */
async function repliesTo(socket: TestSocket, ...ids: readonly number[]): Promise<Received[]> {
  const replies = [await socket.next(), await socket.next()];
  return replies.toSorted(
    ({ id: left = 0 }, { id: right = 0 }) => ids.indexOf(left) - ids.indexOf(right),
  );
}

function counted(id: number, count: number): object {
  return { id, presence_stats: { num_clients: count, num_users: count } };
}
