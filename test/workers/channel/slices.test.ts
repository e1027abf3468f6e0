import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { keptData, publish } from "../support/api-request.ts";
import { HeldTurns } from "../support/held-turns.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace, type Place } from "../support/place.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { watchedRelay } from "../support/watched-relay.ts";

/** More than a frame is sent to at once. */
const size = limits.immediateSubscribersMax + 10;

let turns: HeldTurns;

beforeEach(() => {
  turns = new HeldTurns();
});

afterEach(() => {
  turns.release();
});

describe.each([channelPlace, gatewayPlace()])("a frame to many, on $name", (place) => {
  it("[F2] [S3] is sent in slices, a turn of the event loop after each", async () => {
    const { channel, sockets } = await subscribeMany(place, "plain");
    turns.stopClock();
    await publish(channel, 1);
    await watchedRelay.settled();
    const slice = limits.sliceSubscribersMax;
    for (let sent = 0; sent < size; sent += slice) {
      for (const socket of sockets.slice(sent, sent + slice))
        expect(await socket.line()).toContain('"data":1');
      // The others are answered in the middle of the frame.
      for (const socket of sockets.slice(sent + slice).slice(-2))
        expect(await unread(socket)).toEqual([]);
      expect(turns.waiting).toBe(sent + slice < size ? 1 : 0);
      await turns.nextIfAny();
    }
    for (const socket of sockets) expect(await unread(socket)).toEqual([]);
    expect(turns.waiting).toBe(0);
  });

  it("[F2] gives the event loop several turns after a slice while the next frame is collected", async () => {
    const sockets = await twoFramesToMany(place);
    const { sliceSubscribersMax: slice, sliceTurns } = limits;
    const [sent, unsent] = [sockets[2 * slice - 1], sockets[2 * slice]];
    expect(await sent?.line()).toContain('"data":1');
    for (let turn = 1; turn < sliceTurns; turn++) {
      await turns.next();
      expect(await unread(unsent)).toEqual([]);
    }
    await turns.next();
    expect(await unsent?.line()).toContain('"data":1');
    turns.release();
    for (const socket of [sent, unsent]) expect(await socket?.line()).toContain('"data":2');
  });

  it("[F2] gives it one turn when that took long", async () => {
    const sockets = await twoFramesToMany(place);
    const { sliceSubscribersMax: slice, sliceTurnsMs } = limits;
    turns.passMs(sliceTurnsMs);
    await turns.next();
    expect(await unread(sockets[2 * slice])).toEqual([]);
    await turns.next();
    expect(await sockets[2 * slice]?.line()).toContain('"data":1');
  });

  it("[F12] is sent in several slices at once after a turn that took long", async () => {
    const { channel, sockets } = await subscribeMany(place, "plain");
    turns.stopClock();
    await publish(channel, 1);
    await watchedRelay.settled();
    const { sliceSubscribersMax: slice, slicesAtOnceMax, othersMsPerSlice } = limits;
    expect((1 + slicesAtOnceMax) * slice).toBeGreaterThan(size);
    expect(await unread(sockets[slice])).toEqual([]);
    turns.passMs(2 * othersMsPerSlice);
    await turns.next();
    expect(await sockets[Math.min(3 * slice, size) - 1]?.line()).toContain('"data":1');
  });

  it("[F5] [O4] is sent alone to who leaves or publishes, and not to who comes", async () => {
    const { channel, sockets } = await subscribeMany(place, "plain");
    const [early, leaving, publisher, staying] = [
      sockets[0],
      sockets.at(-1),
      sockets.at(-2),
      sockets.at(-3),
    ];
    if (early === undefined || leaving === undefined || publisher === undefined)
      throw new Error("nobody is there");
    turns.stopClock();
    await publish(channel, 1);
    await watchedRelay.settled();
    expect(await early.line()).toContain('"data":1');
    leaving.send({ id: 3, unsubscribe: { channel } });
    expect(await leaving.line()).toContain('"data":1');
    expect(await leaving.line()).toBe('{"id":3,"unsubscribe":{}}');
    // It comes in the turn of arrivals (rule F12), in which no slice is sent.
    const coming = subscribed(place, channel, "late");
    turns.passMs(limits.deliveriesTurnMs);
    const late = await turns.until(coming);
    publisher.send({ id: 3, publish: { channel, data: 2 } });
    expect([await publisher.line(), await publisher.line()]).toEqual([
      expect.stringContaining('"data":1'),
      expect.stringContaining('"data":2'),
    ]);
    expect(await publisher.line()).toBe('{"id":3,"publish":{}}');
    // The gateway doesn't answer the channel's object yet.
    expect(await staying?.beforeFence()).toEqual([]);
    turns.release();
    expect(await staying?.line()).toContain('"data":1');
    expect(await staying?.line()).toContain('"data":2');
    expect(await early.line()).toContain('"data":2');
    expect(await late.line()).toContain('"data":2');
    for (const socket of [...sockets, late].filter((one) => one !== leaving)) await unread(socket);
    for (const socket of [early, leaving, publisher, staying, late])
      expect(await unread(socket)).toEqual([]);
  });
});

describe("publishes behind a frame that takes long", () => {
  it("[F7] wait for each other, and for nobody when nobody comes", async () => {
    const { channel, sockets } = await subscribeMany(gatewayPlace(), "room");
    // The gateway takes the first, and answers for the second only when the frame with the first is nearly sent.
    const first = ["first", "second"];
    for (const data of first) await publish(channel, data);
    expect(Math.min(...turns.timersMs)).toBeGreaterThan(limits.commitWaitMs);
    const together = Array.from({ length: 6 }, (_, index) => `together ${index}`);
    await Promise.all(together.map((data) => publish(channel, data)));
    await publish(channel, "alone");
    expect(Math.min(...turns.timersMs)).toBeLessThanOrEqual(limits.commitWaitMs);
    const all = [...first, ...together, "alone"].map((data) => JSON.stringify(data));
    expect((await keptData(channel)).toSorted()).toEqual(all.toSorted());
    turns.release();
    for (const socket of [sockets[0], sockets.at(-1)]) {
      let last: string | undefined;
      while (last?.includes('"data":"alone"') !== true) last = await socket?.line();
    }
  });
});

describe("too much collected behind a frame", () => {
  const data = "x".repeat(limits.batchesWaitingBytesMax / 8);
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => `${index} ${data}`);

  it("[F6] makes publishers wait, others not, and loses nothing", async () => {
    const { channel, sockets } = await subscribeMany(channelPlace, "room");
    await publish(channel, "first");
    const datas = numbered(40);
    let answered = 0;
    const published = datas.map(async (one) => {
      await publish(channel, one);
      answered++;
    });
    // It is asked after them, and answered.
    await keptData(channel);
    expect(answered).toBeLessThan(20);
    turns.release();
    await Promise.all(published);
    await expectAll(sockets, datas);
  });

  it("[F6] [L2] makes the channel's object collect what it would deliver", async () => {
    const { channel, sockets } = await subscribeMany(gatewayPlace(), "plain");
    await publish(channel, "first");
    await watchedRelay.settled();
    const before = watchedRelay.deliveries.length;
    const datas = numbered(30);
    for (const one of datas) await publish(channel, one);
    expect(watchedRelay.deliveries.length - before).toBeLessThan(20);
    turns.release();
    await watchedRelay.settled();
    await expectAll(sockets, datas);
  });

  it("[F9] [L2] makes publishers wait for the gateway, and loses nothing", async () => {
    lowerLimits(limits, { relayAheadBytesMax: limits.relayAheadBytesMax / 4 });
    const { channel, sockets } = await subscribeMany(gatewayPlace(), "room");
    await publish(channel, "first");
    let answered = 0;
    const datas = numbered(24);
    const published = datas.map(async (one) => {
      await publish(channel, one);
      answered++;
    });
    // It is asked after them, and answered.
    await keptData(channel);
    expect(answered).toBeLessThan((2 * limits.relayAheadBytesMax) / data.length);
    turns.release();
    await Promise.all(published);
    await expectAll(sockets, datas);
  });
});

async function subscribeMany(
  place: Place,
  namespace: string,
): Promise<{
  readonly channel: string;
  readonly sockets: readonly TestSocket[];
}> {
  const channel = newChannel(namespace);
  const sockets: TestSocket[] = [];
  // One after the other, because a frame is sent to the subscribers in the order in which they came. Who comes may wait for
  // a frame with joins.
  for (let user = 0; user < size; user++)
    sockets.push(await turns.until(subscribed(place, channel, `user${user}`)));
  return { channel, sockets };
}

/** Publishes twice, on a stopped clock: two slices of the first frame are sent, and the second one is collected. */
async function twoFramesToMany(place: Place): Promise<readonly TestSocket[]> {
  const { channel, sockets } = await subscribeMany(place, "plain");
  // The turns after a slice end earlier when they have taken long.
  turns.stopClock();
  await publish(channel, 1);
  await publish(channel, 2);
  await watchedRelay.settled();
  // The first slice was sent when nothing was collected yet.
  await turns.next();
  return sockets;
}

async function subscribed(place: Place, channel: string, user: string): Promise<TestSocket> {
  const socket = TestSocket.on(await place.upgrade(channel));
  await socket.ask({ id: 1, connect: { token: await token({ sub: user }) } });
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}

/** Waits until the first and the last socket have all of the numbered data, and nothing else. */
async function expectAll(sockets: readonly TestSocket[], datas: readonly string[]): Promise<void> {
  for (const socket of [sockets[0], sockets.at(-1)]) {
    const found = new Set<string>();
    while (found.size < datas.length) {
      const [, number] = /"data":"(\d+) x/.exec((await socket?.line()) ?? "") ?? [];
      if (number !== undefined) found.add(number);
    }
    expect(await unread(socket)).toEqual([]);
  }
}

async function unread(socket: TestSocket | undefined): Promise<readonly string[]> {
  return (await socket?.unread()) ?? [];
}
