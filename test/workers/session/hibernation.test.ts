import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { Attachment } from "../../../src/contract/attachment.ts";
import { answerOf, call, keptData, publish } from "../support/api-request.ts";
import { rewriteAttachments, hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { requestUpgrade } from "../support/place.ts";
import { awakeVariants } from "../support/variant.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";

// More than a frame is sent to at once.
const connectionLimit = limits.immediateSubscribersMax + 10;
configure({
  ...testConfig,
  client: { ...testConfig.client, connection_limit: connectionLimit },
});

afterEach(() => {
  vi.useRealTimers();
});

describe.each(awakeVariants)("an object that hibernates with $place.name", (variant) => {
  it("[S2] is woken by a publish and delivers it to all subscribers", async () => {
    const channel = newChannel("plain");
    const sockets = [
      await variant.subscribe(channel, "ada"),
      await variant.subscribe(channel, "bob"),
      await variant.connect(channel, "not-subscribed"),
    ];
    await hibernate(variant.place.holder(channel));
    await publish(channel, "wake up");
    const [ada, bob, other] = sockets;
    const push = `{"push":{"channel":"${channel}","pub":{"data":"wake up"}}}`;
    expect(await ada?.unread()).toStrictEqual([push]);
    expect(await bob?.unread()).toStrictEqual([push]);
    expect(await other?.unread()).toStrictEqual([]);
  });

  it("[S2] notices every client that left in the meantime, and announces each leave once", async () => {
    const channel = newChannel("room");
    const stayed = await variant.subscribe(channel, "stayed");
    await stayed.line(); // its own join
    const left = [];
    for (const user of ["a", "b", "c"]) {
      left.push(await variant.subscribe(channel, user));
      await stayed.line(); // the join
    }
    await hibernate(variant.place.holder(channel));
    for (const socket of left) socket.close();
    const leaves = [await stayed.line(), await stayed.line(), await stayed.line()];
    const users = new Set(leaves.map((line) => /"leave".*"user":"(\w)"/.exec(line)?.[1]));
    expect(users).toStrictEqual(new Set(["a", "b", "c"]));
    expect(await stayed.unread()).toStrictEqual([]);
  });

  it("[S3] doesn't do so with collected publications: they come by themselves, without another event", async () => {
    // The clock stands still, so that the second publication always comes too soon after the first frame.
    vi.useFakeTimers({ toFake: ["Date"] });
    const channel = newChannel("plain");
    const sockets: TestSocket[] = [];
    for (let count = 0; count < connectionLimit; count++) {
      sockets.push(await variant.subscribe(channel, "ada"));
    }
    await publish(channel, 1);
    await publish(channel, 2);
    await publish(channel, 3);
    const asleep = hibernate(variant.place.holder(channel));
    for (const socket of sockets) expect(await socket.frame()).toContain('"data":1');
    vi.setSystemTime(Date.now() + 1_000);
    const push = (data: number) => `{"push":{"channel":"${channel}","pub":{"data":${data}}}}`;
    for (const socket of sockets) expect(await socket.frame()).toBe(`${push(2)}\n${push(3)}`);
    await asleep;
  });
});

describe.each(awakeVariants)("a session that we closed on $place.name", (variant) => {
  it("[S4] stays closed though its socket is still listed: no publication, no answer, no presence, no leave", async () => {
    const channel = newChannel("room");
    const holder = variant.place.holder(channel);
    const [bob, ada] = [
      await variant.subscribe(channel, "bob"),
      await variant.subscribe(channel, "ada"),
    ];
    expect(await ada.line()).toContain('"join"');
    expect([await bob.line(), await bob.line()]).toHaveLength(2); // both joins
    await rewriteAttachments(holder, (attachment) =>
      attachment.client === ada.client ? { ...attachment, phase: "closed" } : attachment,
    );
    await publish(channel, 1);
    ada.send({ id: 3, publish: { channel, data: 2 } });
    ada.send({ id: 4, presence: { channel } });
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    expect(await bob.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    ada.close();
    await ada.closed;
    await hibernate(holder);
    expect(await bob.unread()).toStrictEqual([]);
    expect(await ada.rest()).toStrictEqual([]);
    expect(await keptData(channel)).toStrictEqual(["1"]);
  });

  it("[S4][B5] doesn't count towards the connection limit", async () => {
    const channel = newChannel("plain");
    const holder = variant.place.holder(channel);
    for (let count = 0; count < connectionLimit; count++) {
      await variant.open(channel);
    }
    expect(await statusOf(requestUpgrade(holder))).toBe(503);
    let closed = 0;
    await rewriteAttachments(holder, (attachment) =>
      closed++ === 0 ? { ...attachment, phase: "closed" } : attachment,
    );
    expect(await statusOf(requestUpgrade(holder))).toBe(101);
    expect(await statusOf(requestUpgrade(holder))).toBe(503);
  });

  it("[S4] leaves that in its attachment", async () => {
    const channel = newChannel("room");
    const socket = await variant.subscribe(channel, "ada");
    const holder = variant.place.holder(channel);
    await runInDurableObject<DurableObject, void>(holder, async (instance, state) => {
      const [ours] = state.getWebSockets();
      if (ours === undefined) throw new Error("no socket is listed");
      await instance.webSocketMessage?.(ours, "no command");
      const { phase, subscription }: Attachment = ours.deserializeAttachment();
      expect({ phase, subscription }).toStrictEqual({ phase: "closed", subscription: undefined });
    });
    expect((await socket.closed).code).toBe(3501);
  });
});

/** Read to its end: an object isn't evicted while it answers. */
async function statusOf(answer: Promise<Response>): Promise<number> {
  return (await answerOf(await answer)).status;
}
