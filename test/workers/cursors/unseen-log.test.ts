import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { answerWith, configureEvents, takenOf, withoutRepeats } from "../events/event-receiver.ts";
import { publish } from "../support/api-request.ts";
import { crashObject } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake, evicted } from "../support/object-state.ts";
import { testConfig } from "../support/test-config.ts";
import { add, alarmOf, allTaken, ring, stubOf } from "./unseen-story.ts";

const keepMax = 100;
const cursors = { enabled: true, audience: "named", notify_after: "30s" };
configureEvents(
  { types: ["unseen"], keep_max: keepMax, batch_max: 10 },
  {
    channel: {
      ...testConfig.channel,
      namespaces: [
        ...testConfig.channel.namespaces,
        { name: "chat", history_size: 10, history_ttl: "1h", cursors },
      ],
    },
  },
);

const { tellAgainMs } = cursorLimits;
beforeEach(() => {
  Object.assign(cursorLimits, { tellAgainMs: Number.POSITIVE_INFINITY });
  vi.setSystemTime(Date.now());
});
afterEach(async () => {
  Object.assign(cursorLimits, { tellAgainMs });
  await answerWith(200);
  vi.useRealTimers();
});

const users = Array.from({ length: 350 }, (_, index) => `u${String(index).padStart(3, "0")}`);

/** What the receiver has taken, each once. */
async function takenBy(channel: string): Promise<readonly string[]> {
  const events = withoutRepeats(await takenOf(`channel/${channel}`));
  return events.map(({ type, user = "" }) => `${type} ${user}`);
}

/** How many events the object has told of, and for how many members everything is judged. */
function toldBy(channel: string): Promise<number> {
  return runInDurableObject(stubOf(channel), ({ sql }) => {
    if (sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'event'").length === 0) return 0;
    const [row] = sql.rows("SELECT max(number) - min(first) + 1 AS told FROM event, outbox");
    return Number(row?.["told"]);
  });
}

function isJudged(channel: string): Promise<boolean> {
  return runInDurableObject(stubOf(channel), ({ sql }) => {
    const [row] = sql.rows("SELECT up_to FROM audience_judged");
    return Number(row?.["up_to"]) === 3;
  });
}

async function burst(): Promise<string> {
  const channel = newChannel("chat");
  await add(channel, ...users);
  for (const data of [1, 2, 3]) await publish(channel, data);
  return channel;
}

describe.each([awake, evicted])("an audience larger than the log, objects $name", (objects) => {
  /** Has the alarm ring for as long as members are left. */
  async function judgeAll(channel: string): Promise<number> {
    let rings = 0;
    while (!(await isJudged(channel))) {
      if (rings++ > 40) throw new Error("not everybody is judged");
      const before = await toldBy(channel);
      await ring(channel);
      await vi.waitUntil(async () => (await isJudged(channel)) || (await toldBy(channel)) > before);
      await allTaken(channel);
      await objects.betweenSteps([stubOf(channel)]);
    }
    await allTaken(channel);
    return rings;
  }

  /** A timer for the next attempt keeps the object from being evicted. */
  async function lose(channel: string): Promise<void> {
    if (objects === evicted) await crashObject(stubOf(channel));
  }

  it("[CU46] is told of each member once, without a gap", async () => {
    const channel = await burst();
    const rings = await judgeAll(channel);
    expect(await takenBy(channel)).toEqual(users.map((user) => `unseen ${user}`));
    expect(rings).toBeLessThan(20);
  });

  it("[CU46] waits for a backend that is away, without a wake of its own, and goes on", async () => {
    const channel = await burst();
    await answerWith(503);
    await ring(channel);
    await vi.waitUntil(async () => (await toldBy(channel)) >= keepMax / 2);
    await lose(channel);
    for (let rings = 0; rings < 5; rings++) {
      expect(await alarmOf(channel)).toBeGreaterThan(Date.now());
      await ring(channel);
      await lose(channel);
    }
    expect(await toldBy(channel)).toBe(keepMax / 2);
    await answerWith(200);
    await ring(channel);
    await allTaken(channel);
    await judgeAll(channel);
    expect(await takenBy(channel)).toEqual(users.map((user) => `unseen ${user}`));
  });
});

describe("judging in parts", () => {
  it("[CU46] [CU25] doesn't count as asking again", async () => {
    const channel = await burst();
    await ring(channel);
    await vi.waitUntil(async () => (await toldBy(channel)) >= keepMax / 2);
    await allTaken(channel);
    await runDurableObjectAlarm(stubOf(channel));
    const [row] = await runInDurableObject(stubOf(channel), ({ sql }) =>
      sql.rows("SELECT asked, ask_at FROM audience_judged"),
    );
    expect(row).toEqual({ asked: 0, ask_at: 0 });
  });
});
