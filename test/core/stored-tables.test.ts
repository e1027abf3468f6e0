import { expect, it } from "vitest";
import { storedAtMs, storedTables } from "../../src/channel/stored-tables.ts";
import { openChannel, publishing, withHistory } from "../contract/open-channel.ts";
import { NodeSql } from "../../package/test/node-sql.ts";

it("[H13] finds the tables of a former instance, and when they were stored", () => {
  const sql = new NodeSql();
  expect([storedTables(sql).size > 0, storedAtMs(sql)]).toEqual([false, 0]);
  const channel = openChannel(sql, { options: withHistory });
  channel.publish(publishing(1), undefined, 5_000);
  channel.publish(publishing(2), undefined, 7_000);
  expect([storedTables(sql).size > 0, storedAtMs(sql)]).toEqual([true, 7_000]);
  channel.removeHistory(8_000);
  expect(storedAtMs(sql)).toBe(8_000);
});

it("[H13] finds keys that have nothing but a row of their own", () => {
  const sql = new NodeSql();
  const channel = openChannel(sql, { options: {} });
  channel.publish({ ...publishing(1), idempotencyKey: "key" }, undefined, 3_000);
  expect([storedTables(sql).size > 0, storedAtMs(sql)]).toEqual([true, 3_000]);
});

it("[H13] finds gateways that follow a channel without history", () => {
  const sql = new NodeSql();
  openChannel(sql, { options: {} }).relay.follow("eu/1", 2_000);
  expect([[...storedTables(sql)], storedAtMs(sql)]).toEqual([["gateway"], 2_000]);
});
