import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { crashObject } from "../support/crash-object.ts";
import {
  answerWith,
  configureEvents,
  takenOf,
  takenUntil,
  withoutRepeats,
} from "./event-receiver.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";

configureEvents({
  types: ["publication", "connected", "disconnected", "subscribed", "unsubscribed"],
  namespaces: ["plain"],
  batch_max: 1,
  keep: "1m",
  keep_max: 100,
});

afterEach(() => void vi.useRealTimers());

const stubOf = (channel: string) => env.CHANNELS.getByName(channel);
const alarm = (channel: string) => runDurableObjectAlarm(stubOf(channel));

function rowsOf(channel: string, query: string) {
  return runInDurableObject(stubOf(channel), ({ sql }) => sql.rows(query));
}

/** Publishes so many times the same, in one request. */
async function publishAll(channel: string, count: number, data: number | string): Promise<void> {
  const commands = Array.from({ length: count }, () => ({ publish: { channel, data } }));
  expect((await call("batch", { commands })).status).toBe(200);
}

describe("the events that an object keeps", () => {
  it.each(["awake", "evicted"])(
    "[E15] have numbers that don't go back with the clock, %s",
    async (state) => {
      vi.useFakeTimers({ toFake: ["Date"] });
      const channel = newChannel("plain");
      const object = `channel/${channel}`;
      await publish(channel, 1);
      const [before] = await takenUntil(object, ({ data }) => data === 1);
      await vi.waitUntil(async () => {
        const [row] = await rowsOf(channel, "SELECT delivered FROM outbox");
        return row?.["delivered"] === before?.number;
      });
      vi.setSystemTime(Date.now() + 60_001);
      await alarm(channel);
      const tables = await rowsOf(channel, "SELECT name FROM sqlite_master WHERE type = 'table'");
      expect(tables.map(({ name }) => name)).toContain("outbox");
      expect(tables.map(({ name }) => name)).not.toContain("event");
      if (state === "evicted") await hibernate(stubOf(channel));
      vi.setSystemTime(Date.now() - 86_400_000);
      await publish(channel, 2);
      const after = (await takenUntil(object, ({ data }) => data === 2)).at(-1);
      expect(after).toMatchObject({ number: (before?.number ?? 0) + 1, first: true });
      expect(after?.time).toBeLessThan(before?.time ?? 0);
    },
  );

  it.each(["an alarm", "publications"])(
    "[E13] [E18] end what began before as many publications as are kept, through a crash, by %s",
    async (by) => {
      const channel = newChannel("plain");
      const object = `channel/${channel}`;
      const socket = await TestSocket.subscribe(channel, "ada");
      await takenUntil(object, ({ type }) => type === "subscribed");
      await publishAll(channel, by === "an alarm" ? 150 : 60, 1);
      await crashObject(stubOf(channel));
      if (by === "an alarm") await alarm(channel);
      else await publishAll(channel, 60, 2);
      await takenUntil(object, ({ type }) => type === "disconnected");
      const events = withoutRepeats(await takenOf(object));
      const told = events.filter((event) => event.client === socket.client);
      expect(told.map(({ type, code }) => [type, code])).toStrictEqual([
        ["connected", undefined],
        ["subscribed", undefined],
        ["unsubscribed", undefined],
        ["disconnected", 1_006],
      ]);
    },
  );

  // The last ones: what waits at their end is large, so the receiver never takes it.
  it.each(["awake", "crashed"])(
    "[E18] are at most so many bytes, and a gap tells of the rest, %s",
    async (state) => {
      const channel = newChannel("plain");
      const object = `channel/${channel}`;
      const eventsBytesMax = eventLimits.eventsBytesMax / 8;
      lowerLimits(eventLimits, { eventsBytesMax });
      await answerWith(500);
      for (let round = 0; round < 10; round++) {
        await publishAll(channel, 7, "x".repeat(125_000));
        if (state === "crashed") await crashObject(stubOf(channel));
      }
      const [kept] = await rowsOf(
        channel,
        "SELECT min(number) AS oldest, max(number) AS newest, sum(length(body)) AS bytes FROM event",
      );
      expect(kept?.["bytes"]).toBeLessThanOrEqual(eventsBytesMax);
      // Another one wouldn't fit.
      expect(kept?.["bytes"]).toBeGreaterThan(eventsBytesMax - 126_000);
      const oldest = Number(kept?.["oldest"]);
      const gap = { type: "gap", from: Number(kept?.["newest"]) - 69, to: oldest - 1 };
      const { body } = await call("events", { object, since: gap.from - 1, limit: 1 });
      const answer: { result: { events: readonly object[] } } = JSON.parse(body);
      expect(answer.result.events).toMatchObject([gap, { number: oldest }]);
      await answerWith(200);
      if (state === "crashed") await alarm(channel);
      const taken = await takenUntil(object, ({ number }) => number === oldest);
      await answerWith(500);
      const [last, told, before] = taken
        .slice(0, taken.findIndex(({ number }) => number === oldest) + 1)
        .toReversed();
      // The first event may have been on its way when it made room.
      const from = (before?.number ?? gap.from - 1) + 1;
      expect(told).toMatchObject({ type: "gap", from, to: gap.to, number: gap.to });
      expect(last).toMatchObject({ type: "publication", number: oldest });
    },
  );
});
