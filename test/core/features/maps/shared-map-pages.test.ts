import { describe, expect, it } from "vitest";
import type { ChannelMap } from "../../../../src/features/maps/channel-map.ts";
import type { MapPageQuery } from "../../../../src/features/maps/map-call.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { openMap, set, unset } from "../../../contract/open-map.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const first: MapPageQuery = { cursor: "", limit: 2 };

function pageOf(map: ChannelMap, query: MapPageQuery, nowMs = 0) {
  const page = map.page(query, nowMs, 1_000_000);
  if (page.outcome !== "map_state") throw new Error("the page can't be read");
  return page;
}

/** A map with the keys a to d. */
function filled() {
  const sql = new CountingSql(new NodeSql());
  const { map } = openMap(sql);
  for (const key of ["a", "b", "c", "d"]) set(map, key, 1);
  return { sql, map };
}

describe("[Z26] a page that many clients read at the same time", () => {
  it("is read once, and is the same list for all of them", () => {
    const { sql, map } = filled();
    const one = pageOf(map, first);
    const { rowsRead } = sql;
    expect(pageOf(map, first).publications).toBe(one.publications);
    expect(sql.rowsRead).toBe(rowsRead);
    expect(pageOf(map, first, mapLimits.mapPageSharedMs).publications).not.toBe(one.publications);
  });

  it("is read anew where it is a first one and the map has changed", () => {
    const { map } = filled();
    const one = pageOf(map, first);
    set(map, "a", 2);
    const other = pageOf(map, first);
    expect(other.publications).toMatchObject([{ key: "a", data: "2" }, { key: "b" }]);
    expect(other.position.offset).toBe(one.position.offset + 1);
  });

  it("is given as it was where it is a later one: the changes since come from the stream", () => {
    const { map } = filled();
    const { cursor, position: since } = pageOf(map, first);
    const later = pageOf(map, { ...first, cursor, since });
    unset(map, "c");
    expect(pageOf(map, { ...first, cursor, since })).toBe(later);
    expect(map.changesAfter(since, 10, 0, 1_000)).toMatchObject({
      publications: [{ key: "c", removed: true }],
    });
  });

  it("isn't given after the map was cleared", () => {
    const { map } = filled();
    const { cursor, position: since } = pageOf(map, first);
    const later = { ...first, cursor, since };
    pageOf(map, later);
    map.clear(0);
    expect(map.page(later, 0, 1_000).outcome).toBe("unrecoverable");
    expect(pageOf(map, first).publications).toEqual([]);
  });
});
