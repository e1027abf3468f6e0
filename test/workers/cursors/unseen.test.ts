import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { publish } from "../support/api-request.ts";
import { crashObject } from "../support/crash-object.ts";
import { configureEvents, takenUntil } from "../events/event-receiver.ts";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { HeldTurns } from "../support/held-turns.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake, evicted } from "../support/object-state.ts";
import { testConfig } from "../support/test-config.ts";
import {
  add,
  alarmOf,
  allTaken,
  pass,
  read,
  request,
  ring,
  shownOf,
  stubOf,
  toldOf,
} from "./unseen-story.ts";

const kept = { history_size: 10, history_ttl: "5m" };
const cursors = { enabled: true, audience: "named", notify_after: "30s" };
const filter = { key: "kind", cmp: "eq", val: "message" };
configureEvents(
  { types: ["unseen", "seen"] },
  {
    channel: {
      ...testConfig.channel,
      namespaces: [
        ...testConfig.channel.namespaces,
        { name: "chat", ...kept, cursors },
        { name: "seen", ...kept, cursors: { ...cursors, notify_seen: true } },
        { name: "tagged", ...kept, cursors: { ...cursors, unread_tags_filter: filter } },
        { name: "quiet", ...kept, cursors: { enabled: true, audience: "named" } },
      ],
    },
  },
);

const { tellAgainMs } = cursorLimits;
beforeEach(() => {
  // Homes are told of users by calls alone, so that each alarm is one of judging.
  Object.assign(cursorLimits, { tellAgainMs: Number.POSITIVE_INFINITY });
  vi.setSystemTime(Date.now());
});
afterEach(() => {
  Object.assign(cursorLimits, { tellAgainMs });
  vi.useRealTimers();
});

/** The rows that say how far publications have been judged. */
function judgedRows(channel: string): Promise<number> {
  return runInDurableObject(
    stubOf(channel),
    ({ sql }) => sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'audience_judged'").length,
  );
}

/** Up to where the publications have been judged. */
function judgedTo(channel: string): Promise<number> {
  return runInDurableObject(stubOf(channel), ({ sql }) =>
    Number(sql.rows("SELECT up_to FROM audience_judged")[0]?.["up_to"]),
  );
}

describe.each([awake, evicted])("what members haven't seen, objects $name", (objects) => {
  async function pause(channel: string): Promise<void> {
    await allTaken(channel);
    await objects.betweenSteps([stubOf(channel)]);
  }

  it("[CU23] is told once, for each member in time, with the stretch and its time", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob", "eve");
    await pause(channel);
    const beganMs = Date.now();
    const { epoch } = await publish(channel, 1);
    pass(3_001);
    await publish(channel, 2);
    await pause(channel);
    await read("bob", channel, 1);
    await read("eve", channel, 2);
    expect(await alarmOf(channel)).toBe(beganMs + 33_000);
    await pause(channel);
    await ring(channel);
    const first = { type: "unseen", channel, user: "ann", epoch, since_ms: beganMs };
    expect(await toldOf(channel)).toMatchObject([{ ...first, from: 1, to: 1, count: 1 }]);
    await pause(channel);
    await ring(channel);
    expect(await shownOf(channel)).toEqual([
      "unseen ann 1-1 (1)",
      "unseen ann 2-2 (1)",
      "unseen bob 2-2 (1)",
    ]);
  });

  it("[CU24] a burst is one stretch: one alarm, and one event for each member", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob");
    for (let data = 1; data <= 10; data++) {
      await publish(channel, data);
      await pause(channel);
      if (data < 10) vi.setSystemTime(Date.now() + 200);
    }
    const lastMs = Date.now();
    await ring(channel);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-10 (10)", "unseen bob 1-10 (10)"]);
    expect(Date.now() - lastMs).toBeGreaterThanOrEqual(30_000);
    expect(await judgedTo(channel)).toBe(10);
  });

  it("[CU23] a stretch is told together", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    for (const data of [1, 2, 3]) await publish(channel, data);
    await pause(channel);
    await ring(channel);
    await publish(channel, 4);
    await pause(channel);
    pass(60_000);
    await ring(channel);
    await ring(channel);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-3 (3)", "unseen ann 4-4 (1)"]);
  });

  it("[CU23] is told of nobody who became a member later, or is none any more", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob");
    await publish(channel, 1);
    await add(channel, "eve");
    await pause(channel);
    await request("remove_audience", { channel, users: ["ann"] });
    await publish(channel, 2);
    await pause(channel);
    await ring(channel);
    expect(await shownOf(channel)).toEqual(["unseen bob 1-2 (2)", "unseen eve 2-2 (1)"]);
  });

  it("[CU23] [CU4] publications count that pass the filter", async () => {
    const channel = newChannel("tagged");
    await add(channel, "ann");
    const message = { tags: { kind: "message" } };
    await publish(channel, 1);
    await publish(channel, 2, message);
    await publish(channel, 3, { tags: { kind: "typing" } });
    await publish(channel, 4, message);
    await publish(channel, 5);
    await pause(channel);
    await ring(channel);
    expect(await shownOf(channel)).toEqual(["unseen ann 2-4 (2)"]);
  });

  it("[CU26] is told, too, when it is seen, once", async () => {
    const channel = newChannel("seen");
    await add(channel, "ann", "bob");
    await publish(channel, 1);
    await publish(channel, 2);
    await pause(channel);
    await ring(channel);
    await read("ann", channel, 1);
    await pause(channel);
    await read("ann", channel, 2);
    await read("bob", channel, 2);
    await publish(channel, 3);
    await read("ann", channel, 3);
    expect(await shownOf(channel)).toEqual([
      "unseen ann 1-2 (2)",
      "unseen bob 1-2 (2)",
      "seen ann 1-2",
      "seen bob 1-2",
    ]);
  });

  it("[CU24] what a burst has pushed out of the history is told of, a while later at most", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    await publish(channel, 0);
    await pause(channel);
    pass(10_000);
    for (let data = 1; data < 25; data++) await publish(channel, data);
    await pause(channel);
    const beganMs = Date.now() - 10_000;
    for (let rings = 0; rings < 4 && (await toldOf(channel)).length === 0; rings++)
      await ring(channel);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-25 (25)"]);
    expect(Date.now() - beganMs).toBeLessThanOrEqual(45_000);
  });

  it("[CU24] nothing is missed while publications come so fast that the history never has an old one", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    let published = 0;
    for (let round = 0; round < 12; round++) {
      for (let data = 0; data < 12; data++) await publish(channel, data);
      published += 12;
      pass(9_000);
      await pause(channel);
      if (((await alarmOf(channel)) ?? Infinity) <= Date.now()) await ring(channel);
    }
    const told = await toldOf(channel);
    expect(told.length).toBeGreaterThan(1);
    expect(told.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(told.at(-1)?.to);
    expect(published - (told.at(-1)?.to ?? 0)).toBeLessThanOrEqual(12 * 8);
  });

  it("[CU24] a clock that is set back makes it late and not early", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    await publish(channel, 1);
    await pause(channel);
    pass(-3_600_000);
    await publish(channel, 2);
    const againMs = Date.now();
    await pause(channel);
    pass(10_000);
    await runDurableObjectAlarm(stubOf(channel));
    expect(await shownOf(channel)).toEqual([]);
    await pause(channel);
    pass(24_000);
    await runDurableObjectAlarm(stubOf(channel));
    expect(await shownOf(channel)).toEqual(["unseen ann 1-2 (2)"]);
    expect(Date.now() - againMs).toBeLessThanOrEqual(64_000);
  });

  it("[CU27] a channel without an audience, and one that is quiet, has no alarm, and no row but for the beginning of its audience", async () => {
    const [nobody, quiet] = [newChannel("chat"), newChannel("quiet")];
    await add(quiet, "ann");
    for (const channel of [nobody, quiet]) await publish(channel, 1);
    const dueMs = await alarmOf(nobody);
    expect(await alarmOf(quiet)).toBe(dueMs);
    for (const channel of [nobody, quiet]) expect(await judgedRows(channel)).toBe(0);
    await add(nobody, "ann");
    await pause(nobody);
    expect(await alarmOf(nobody)).toBe(dueMs);
    // What came before is for nobody, also if the object crashes behind the commit of what comes next.
    expect(await judgedRows(nobody)).toBe(1);
  });
});

describe("what members haven't seen", () => {
  it("[CU23] [E4] reaches a backend", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann");
    await publish(channel, 1);
    await ring(channel);
    pass(1_000);
    await expect(
      takenUntil(`channel/${channel}`, ({ type }) => type === "unseen"),
    ).resolves.toMatchObject([{ user: "ann", from: 1, to: 1, count: 1 }]);
  });

  it("[CU23] is told once for each of hundreds of members, through a crash in between", async () => {
    const channel = newChannel("chat");
    const users = Array.from({ length: 350 }, (_, index) => `u${String(index).padStart(3, "0")}`);
    await add(channel, ...users);
    await publish(channel, 1);
    const turns = new HeldTurns();
    await ring(channel);
    while ((await toldOf(channel)).length === 0) await turns.next();
    expect((await toldOf(channel)).length).toBe(cursorLimits.judgedSliceMembers);
    await crashObject(stubOf(channel));
    turns.release();
    await ring(channel);
    await vi.waitUntil(async () => (await toldOf(channel)).length >= users.length);
    const all = await toldOf(channel);
    expect(all.map(({ user }) => user)).toEqual(users);
  });
});

/** The rows that the object writes in a step, and the alarms that it sets. */
async function costOf(channel: string, step: () => Promise<unknown>): Promise<object> {
  const alarms: number[] = [];
  const rowsBefore = await runInDurableObject(stubOf(channel), ({ sql }, { storage }) => {
    const setAlarm = storage.setAlarm.bind(storage);
    vi.spyOn(storage, "setAlarm").mockImplementation((time) => {
      alarms.push(Number(time));
      return setAlarm(time);
    });
    return sql.rowsWritten;
  });
  await step();
  const rows = await runInDurableObject(stubOf(channel), ({ sql }) => sql.rowsWritten);
  vi.restoreAllMocks();
  return { rows: rows - rowsBefore, alarms: alarms.length };
}

describe("what it costs", () => {
  it("[CU27] [CU24] the first publication sets an alarm, and a judgement writes a row and one for each event", async () => {
    const channel = newChannel("chat");
    await add(channel, "ann", "bob", "eve");
    expect(await costOf(channel, () => publish(channel, 1))).toMatchObject({ alarms: 1 });
    expect(await costOf(channel, () => publish(channel, 2))).toEqual({ rows: 1, alarms: 0 });
    await read("bob", channel, 2);
    await read("eve", channel, 2);
    await ring(channel);
    await allTaken(channel);
    expect(await shownOf(channel)).toEqual(["unseen ann 1-2 (2)"]);
    expect(await costOf(channel, () => publish(channel, 3))).toMatchObject({ rows: 1 });
    await publish(channel, 4);
    for (const user of ["ann", "bob"]) await read(user, channel, 4);
    pass(34_000);
    expect(await costOf(channel, () => ring(channel))).toMatchObject({ rows: 2 });
    await allTaken(channel);
    await publish(channel, 5);
    for (const user of ["ann", "bob", "eve"]) await read(user, channel, 5);
    pass(34_000);
    expect(await costOf(channel, () => ring(channel))).toMatchObject({ rows: 1 });
  });
});
