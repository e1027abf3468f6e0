import { expect, it } from "vitest";
import { ObjectTrackRows } from "../../../../src/features/shared-polls/track-rows.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const tracks = {
  instance: 7,
  keys: [
    { key: "a", version: 18_446_744_073_709_551_615n, endsAtMs: Number.POSITIVE_INFINITY },
    { key: 'b"\u0000é', version: 0n, endsAtMs: 1_700_000_000_000 },
  ],
};

it("[SP20] what a connection tracks is found after hibernation, as it was stored", () => {
  const sql = new NodeSql();
  const rows = new ObjectTrackRows(sql);
  expect(rows.tracksOf("c1", "prices:eu")).toBeUndefined();
  rows.store("c1", "prices:eu", tracks);
  rows.store("c1", "prices:us", { ...tracks, keys: [] });
  rows.store("c2", "prices:eu", tracks);
  rows.store("c1", "prices:us", tracks);
  const woken = new ObjectTrackRows(sql);
  expect(woken.tracksOf("c1", "prices:us")).toEqual(tracks);
  woken.store("c1", "prices:us", undefined);
  woken.store("c1", "prices:us", undefined);
  expect(woken.tracksOf("c1", "prices:us")).toBeUndefined();
  woken.keepOnly(new Set(["c2"]));
  const again = new ObjectTrackRows(sql);
  expect([again.tracksOf("c1", "prices:eu"), again.tracksOf("c2", "prices:eu")]).toEqual([
    undefined,
    tracks,
  ]);
});
