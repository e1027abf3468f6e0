import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PollCycle } from "../../src/features/shared-polls/poll-cycle.ts";
import { eventLimits } from "../../src/features/events/limits.ts";
import { mapLimits } from "../../src/features/maps/limits.ts";
import type { HolderSweep } from "../../src/users/holder-sweep.ts";
import { Home } from "../../src/users/home.ts";
import { pastSpans } from "../../src/features/metrics/past-hour.ts";
import { Totals } from "../../src/features/metrics/totals.ts";
import { heartbeat, pingDueAtMs } from "../../src/session/liveness.ts";
import type { SessionIdentity } from "../../src/contract/session-snapshot.ts";
import {
  dueAfterEvent,
  openChannel,
  publishNumbers,
  readable,
  withHistory,
} from "../contract/open-channel.ts";
import { openMap, set, stateOf } from "../contract/open-map.ts";
import { NodeSql } from "../../package/test/node-sql.ts";
import {
  eventsConfig,
  openOutbox,
  published,
  shownBatch,
} from "./features/events/outbox-fixture.ts";

const startMs = 1_700_000_000_000;
const minuteMs = 60_000;

/** Counts a publication. */
function count(totals: Totals, atMs: number): void {
  const counters = [{ series: "centrifugo_node_messages_sent_count", added: 1 }];
  totals.addReport({ node: "a", counters, histograms: [], gauges: [] }, atMs);
  totals.store();
}

/** The steps of the clock that are tried, and whether the memory is lost meanwhile. */
const steps = [minuteMs, 60 * minuteMs, 24 * 60 * minuteMs].flatMap((byMs) =>
  [byMs, -byMs].flatMap((stepMs) => [
    { stepMs, state: "awake" as const },
    { stepMs, state: "evicted" as const },
  ]),
);

it("[S5] [H6] [H10] a step back of a second ends no stream sooner, whatever comes next", () => {
  const options = { ...withHistory, historyTtlMs: 10_000, historyMetaTtlMs: 20_000 };
  for (const next of ["publication", "removal"] as const) {
    const channel = openChannel(new NodeSql(), { options, nowMs: startMs });
    publishNumbers(channel, 1, 1, startMs);
    if (next === "publication") publishNumbers(channel, 2, 2, startMs - 1_000);
    else channel.removeHistory(startMs - 1_000);
    expect(dueAfterEvent(channel, startMs - 1_000)).toBe(startMs + 20_000);
  }
});

describe.each(steps)("a step of $stepMs ms, with the object $state", ({ stepMs, state }) => {
  const nowMs = startMs + stepMs;
  const again = <Value>(before: Value, restored: () => Value): Value =>
    state === "awake" ? before : restored();

  it("[S5] [H4] [H6] delays the end of a stream by no more than its time", () => {
    const sql = new NodeSql();
    const options = { historySize: 5, historyTtlMs: 10_000, historyMetaTtlMs: 20_000 };
    const before = openChannel(sql, { options, nowMs: startMs });
    publishNumbers(before, 1, 2, startMs);
    const channel = again(before, () => openChannel(sql, { options, nowMs }));
    expect(readable(channel, nowMs + 10_000)).toEqual([]);
    publishNumbers(channel, 3, 3, nowMs + 10_000);
    expect(readable(channel, nowMs + 19_000)).toEqual(["3"]);
    const endMs = dueAfterEvent(channel, nowMs + 10_000) ?? Infinity;
    expect(endMs).toBeLessThanOrEqual(nowMs + 30_000);
    channel.deleteExpired(endMs);
    expect(channel.storesNothing).toBe(true);
  });

  it("[S5] [H6] delays the end of a stream of which nothing else happens", () => {
    const sql = new NodeSql();
    const options = { ...withHistory, historyTtlMs: 10_000, historyMetaTtlMs: 20_000 };
    const before = openChannel(sql, { options, nowMs: startMs });
    publishNumbers(before, 1, 1, startMs);
    const channel = again(before, () => openChannel(sql, { options, nowMs }));
    expect(dueAfterEvent(channel, nowMs)).toBeLessThanOrEqual(nowMs + 20_000);
    expect(readable(channel, nowMs)).toEqual([]);
  });

  it.each(["recoverable", "ephemeral"] as const)(
    "[S5] [Z6] delays the ends of the keys of a map that is %s by no more than their time",
    (mode) => {
      const sql = new NodeSql();
      const options = { mode, keyTtlMs: 10_000 };
      const before = openMap(sql, options, { nowMs: startMs });
      set(before.map, "a", 1, { nowMs: startMs });
      set(before.map, "b", 1, { nowMs: startMs });
      before.map.rest(startMs + mapLimits.mapRestMs);
      const { channel, map } = again(before, () => openMap(sql, options, { nowMs }));
      set(map, "b", 2, { nowMs });
      for (let rings = 0; rings < 9; rings++) {
        const dueMs = dueAfterEvent(channel, nowMs) ?? Infinity;
        if (dueMs <= nowMs + 11_000) map.expire(Math.max(dueMs, nowMs + 1));
      }
      expect(stateOf(map, nowMs + 9_000)).toEqual({});
    },
  );

  it("[S5] [E4] delays the next batch of events by no more than the pause", () => {
    const sql = new NodeSql();
    const before = openOutbox(sql);
    for (const event of [1, 2]) before.append(published(event), startMs);
    const failed = before.begin(startMs + 100);
    if (failed === undefined) throw new Error("no batch is due");
    before.answered(failed, false, startMs + 100);
    const outbox = again(before, () => openOutbox(sql));
    const hasExpired = stepMs >= eventsConfig().keepMs;
    const expected = hasExpired ? [`gap ${startMs}-${startMs + 1}`] : [1, 2];
    expect(shownBatch(outbox, nowMs + 100 + 2 * eventLimits.eventsRetryMs)).toEqual(expected);
  });

  it("[S5] [K1] [K2] delays pings and the check of pongs by no more than an interval", () => {
    const session: SessionIdentity = {
      phase: "connected",
      client: "c1",
      openedAtMs: startMs - 100_000,
      pingedAtMs: startMs,
      awaitingPong: true,
      keepalive: "server",
    };
    expect(pingDueAtMs(session, 25_000, nowMs)).toBeLessThanOrEqual(nowMs + 50_000);
    const next = (heardAtMs: number, more: Partial<SessionIdentity>, atMs: number) =>
      heartbeat({ ...session, ...more }, 25_000, true, heardAtMs, atMs);
    // It has answered, by the clock before the step or by the one after it.
    expect(next(startMs + 1, {}, nowMs)).toBe("ping");
    expect(next(nowMs - 1, {}, nowMs)).toBe("ping");
    // It has answered nothing since.
    expect(next(startMs + 1, { pingedAtMs: nowMs }, nowMs + 25_000)).toBe("no-pong");
  });

  it("[S5] [K4] finds silent clients no more than an interval later, and no others", () => {
    const session: SessionIdentity = {
      phase: "connected",
      client: "c1",
      openedAtMs: startMs,
      keepalive: "client",
    };
    const next = (heardAtMs: number, more: Partial<SessionIdentity>, atMs: number) =>
      heartbeat({ ...session, ...more }, 25_000, false, heardAtMs, atMs);
    expect(next(nowMs, {}, nowMs + 50_000)).toBe("nothing");
    // Was it there before the clock was set back, that is counted from now on.
    const before = startMs + Math.abs(stepMs);
    expect(next(before, { openedAtMs: before }, startMs)).toBe("unknown");
    expect(next(startMs + 1, { pingedAtMs: nowMs }, nowMs + 120_002)).toBe("gone");
  });

  it("[S5] [L5] delays the check of a gateway by no more than the interval", () => {
    const sql = new NodeSql();
    const options = { ...withHistory, historyMetaTtlMs: 10_000 };
    const before = openChannel(sql, { options, nowMs: startMs });
    publishNumbers(before, 1, 1, startMs);
    before.relay.follow("eu/1", startMs);
    const { relay } = again(before, () => openChannel(sql, { options, nowMs }));
    const dueMs = relay.dueAtMs(nowMs) ?? Infinity;
    expect(dueMs).toBeLessThanOrEqual(nowMs + 2 * 86_400_000);
  });

  it("[S5] [U15] delays the sweep of a home by no more than the interval", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    home.register("gateway:eu/0", ["ada"], startMs);
    const sweep = (): HolderSweep => new Home(sql).sweep;
    const dueMs = again(home.sweep, sweep).dueAtMs(nowMs);
    expect(dueMs).toBeLessThanOrEqual(nowMs + 2 * 7 * 86_400_000);
  });

  it("[S5] [J6] counts the hour of the figures by the clock as it is", () => {
    const sql = new NodeSql();
    const before = new Totals(sql);
    for (let minute = -90; minute <= 0; minute++) count(before, startMs + minute * minuteMs);
    const totals = again(before, () => new Totals(sql));
    for (let minute = 0; minute <= 90; minute++) count(totals, nowMs + minute * minuteMs);
    const { hourAgo, counters } = totals.collected(nowMs + 90 * minuteMs);
    const [all] = counters;
    const [then] = hourAgo?.counters ?? [];
    const lastHour = (all?.added ?? 0) - (then?.added ?? 0);
    expect(lastHour).toBeGreaterThanOrEqual(60);
    expect(lastHour).toBeLessThanOrEqual(71);
  });

  it("[S5] [J10] plots the hour by the clock as it is", () => {
    const sql = new NodeSql();
    const before = new Totals(sql);
    for (let minute = -90; minute <= 0; minute++) count(before, startMs + minute * minuteMs);
    const totals = again(before, () => new Totals(sql));
    for (let minute = 1; minute <= 90; minute++) count(totals, nowMs + minute * minuteMs);
    const endMs = nowMs + 90 * minuteMs;
    const spans = pastSpans([totals.collected(endMs, { past: true }).past], endMs) ?? [];
    expect(spans).toHaveLength(31);
    for (const { publications } of spans.slice(0, -1)) expect(publications).toBe(2);
  });
});

describe("a step of the clock to an awake object", () => {
  it.each(steps)(
    "[S5] [SP3] delays a cycle of a shared poll by no more than its interval",
    (one) => {
      const nowMs = startMs + one.stepMs;
      const cycle = new PollCycle(5_000, 10);
      cycle.start(startMs);
      expect(cycle.dueAtMs(nowMs)).toBeLessThanOrEqual(nowMs + 5_000);
      expect(
        cycle.next(
          () => ["k"],
          () => true,
          nowMs + 5_000,
        ),
      ).toMatchObject({ keys: ["k"] });
    },
  );
});

describe("the work of a timer", () => {
  /** Those whose work has nothing to compare with a time. */
  const without = [
    "object/channel-host.ts: this.queue.waited()",
    "object/users-host.ts: this.writeRegistrations()",
  ];

  it("[S5] takes the time for which the timer was set, and asks for no other", () => {
    const found = readdirSync("src", { recursive: true, encoding: "utf8" }).flatMap((path) => {
      if (!path.endsWith(".ts")) return [];
      const text = readFileSync(`src/${path}`, "utf8");
      const works = text.matchAll(/new NextTimer\(\S+, (?!\(nowMs\) =>)(?:\S+ => )?(.+?)\);\n/g);
      return Array.from(works, ([, work = ""]) => `${path}: ${work}`);
    });
    expect(found.sort()).toEqual(without);
  });
});
