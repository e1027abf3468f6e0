import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { openMap, set } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const options = { mode: "ephemeral", keyTtlMs: 3_600_000 } as const;

/** The value of a key. */
const valueOf = ({ map }: ReturnType<typeof openMap>, key: string) => map.entry(key)?.data;

describe.each([
  ["after it was quiet", true],
  ["after a crash", false],
])("an ephemeral map whose object begins anew %s", (_, isQuiet) => {
  it("[I3] [I2] knows the idempotency keys of the past 5 minutes", () => {
    const sql = new NodeSql();
    const opened = openMap(sql, options);
    const nowMs = 1_000_000;
    set(opened.map, "a", 1, { idempotencyKey: "first", nowMs });
    set(opened.map, "a", 2, { nowMs });
    if (isQuiet) opened.map.rest(nowMs + 60_000);
    const later = nowMs + 60_000;
    const reopened = openMap(sql, options, { nowMs: later });
    // Repeated, the older value doesn't come over the newer one.
    expect(set(reopened.map, "a", 1, { idempotencyKey: "first", nowMs: later })).toMatchObject({
      reason: "idempotency",
    });
    expect(valueOf(reopened, "a")).toBe(isQuiet ? "2" : undefined);
    const atLast = nowMs + limits.idempotencyMs + 1;
    const forgotten = openMap(sql, options, { nowMs: atLast });
    expect(set(forgotten.map, "a", 3, { idempotencyKey: "first", nowMs: atLast })).toMatchObject({
      outcome: "changed",
    });
    expect(valueOf(forgotten, "a")).toBe("3");
  });

  it("[I2] writes no row for a change without a key, and one for a key", () => {
    const sql = new NodeSql();
    const { map } = openMap(sql, options);
    set(map, "a", 1, { nowMs: 1 });
    const tables = () => sql.rows("SELECT name FROM sqlite_master WHERE name = 'spared_key'");
    expect(tables()).toEqual([]);
    set(map, "a", 2, { nowMs: 2, idempotencyKey: "k" });
    if (isQuiet) map.rest(60_000);
    expect(sql.rows("SELECT key FROM spared_key")).toEqual([{ key: "k" }]);
  });
});
