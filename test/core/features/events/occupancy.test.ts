import { expect, it } from "vitest";
import { Occupancy } from "../../../../src/features/events/event-delivery.ts";
import { columnText } from "../../../../src/sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { openOutbox } from "./outbox-fixture.ts";

it("[E10] tells that a channel is occupied and vacated in turn, also after a crash", () => {
  const sql = new NodeSql();
  const told = (): readonly string[] =>
    sql.rows("SELECT type FROM event ORDER BY number").map((row) => columnText(row, "type"));
  const first = new Occupancy(openOutbox(sql), "news");
  first.note(false, 1_000);
  for (const isHeld of [true, true]) first.note(isHeld, 1_000);
  expect(told()).toEqual(["channel_occupied"]);
  // The subscribers are there again, or were gateways all the time.
  const second = new Occupancy(openOutbox(sql), "news");
  second.note(true, 2_000);
  expect(told()).toEqual(["channel_occupied"]);
  // They ended with the object.
  const third = new Occupancy(openOutbox(sql), "news");
  for (const isHeld of [false, false, true]) third.note(isHeld, 3_000);
  expect(told()).toEqual(["channel_occupied", "channel_vacated", "channel_occupied"]);
});
