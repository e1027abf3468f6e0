import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { RefusalList } from "../../../../src/features/metrics/refusal-list.ts";
import { columnText } from "../../../../src/sql.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const refusal = (atMs: number, object = "edge", reason = "because") => ({
  object,
  atMs,
  count: 1,
  refused: "websocket",
  rule: "A6",
  reason,
});

describe("the refusals that a collecting object remembers", () => {
  it("[Y6] are told newest first, of all objects or of the edge alone", () => {
    const list = new RefusalList(new NodeSql());
    list.append([refusal(3), refusal(1)]);
    list.append([refusal(2, "gateway:eu/0")]);
    expect(list.last({ count: 10 }).map(({ atMs }) => atMs)).toEqual([3, 2, 1]);
    expect(list.last({ count: 10, onlyEdge: true }).map(({ atMs }) => atMs)).toEqual([3, 1]);
    expect(list.last({ count: 1 }).map(({ atMs }) => atMs)).toEqual([3]);
  });

  it("[Y6] are the last thousand of each kind, or as many as have so many characters", () => {
    const sql = new NodeSql();
    const list = new RefusalList(sql);
    for (let atMs = 0; atMs < limits.trailRefusalsMax + 5; atMs++) list.append([refusal(atMs)]);
    const kept = list.last({ count: 10_000, onlyEdge: true });
    expect([kept.length, kept.at(-1)?.atMs]).toEqual([limits.trailRefusalsMax, 5]);
    list.store();
    const [row] = sql.rows("SELECT text FROM metric_refusals");
    const stored: readonly object[] = JSON.parse(columnText(row, "text"));
    expect(stored).toHaveLength(limits.trailRefusalsMax);
    const long = "x".repeat(limits.refusalTextMax);
    for (let atMs = 0; atMs < limits.trailRefusalsMax; atMs++)
      list.append([{ ...refusal(atMs, "gateway:eu/0", long), user: long, channel: long }]);
    const objects = list.last({ count: 10_000 }).filter(({ object }) => object !== "edge");
    const characters = objects.length * long.length * 3;
    expect(characters).toBeLessThanOrEqual(limits.trailRefusalCharactersMax);
    expect(characters).toBeGreaterThan(limits.trailRefusalCharactersMax * 0.9);
  });

  it("[Y6] outlive the object's sleep, with a row for each kind that has changed", () => {
    const sql = new CountingSql(new NodeSql());
    const list = new RefusalList(sql);
    expect(list.unstored).toBe(false);
    list.append([refusal(1)]);
    expect(list.unstored).toBe(true);
    list.store();
    expect(list.unstored).toBe(false);
    list.append([refusal(2, "channel:chat:1")]);
    list.store();
    const woken = new RefusalList(sql);
    expect(woken.last({ count: 10 })).toEqual(list.last({ count: 10 }));
    woken.append([refusal(3)]);
    expect(woken.last({ count: 10 }).map(({ atMs }) => atMs)).toEqual([3, 2, 1]);
  });
});
