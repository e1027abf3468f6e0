import { expect, it } from "vitest";
import { channelCounts } from "../../../../src/features/metrics/object-metrics.ts";
import { Counts } from "../../../../src/features/metrics/counts.ts";
import { openMap, set, unset } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

it("the changes of a map are counted by kind, what changed nothing by its reason, and ends for themselves", () => {
  const counts = new Counts();
  const opening = { counts: channelCounts(counts, "board") };
  const { map } = openMap(new NodeSql(), { mode: "recoverable", keyTtlMs: 1_000 }, opening);
  set(map, "a", 1, { version: 2n });
  set(map, "b", 2);
  set(map, "c", 3, { nowMs: 500 });
  for (const version of [1n, 2n]) set(map, "a", 4, { version });
  set(map, "b", 4, { keyMode: "if_new" });
  unset(map, "d");
  unset(map, "c", { ifOffset: 1 });
  unset(map, "c");
  map.expire(1_000);
  // The end of a key whose turn hasn't come is counted as well.
  set(map, "e", 5, { nowMs: 1_000 });
  set(map, "e", 6, { nowMs: 2_000 });
  // A version that is forgotten is no key that ends.
  map.expire(100_000_000);
  const { counters } = counts.drain();
  const labels = 'channel_namespace="board"';
  const ofMaps = counters.filter(({ series }) => series.includes("_map_"));
  expect(Object.fromEntries(ofMaps.map(({ series, added }) => [series, added]))).toStrictEqual({
    [`dormouse_map_changes_total{kind="publish",${labels}}`]: 5,
    [`dormouse_map_changes_total{kind="remove",${labels}}`]: 1,
    [`centrifugo_map_broker_cleanup_removed_count{${labels}}`]: 4,
    [`centrifugo_map_broker_publish_suppressed_count{reason="version",${labels}}`]: 2,
    [`centrifugo_map_broker_publish_suppressed_count{reason="key_exists",${labels}}`]: 1,
    [`centrifugo_map_broker_remove_suppressed_count{reason="key_not_found",${labels}}`]: 1,
    [`centrifugo_map_broker_remove_suppressed_count{reason="position_mismatch",${labels}}`]: 1,
  });
});
