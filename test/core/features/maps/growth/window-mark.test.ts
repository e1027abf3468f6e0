import { expect, it } from "vitest";
import { trustedJsonText } from "../../../../../src/protocol/json/text.ts";
import { set, unset } from "../../../../contract/open-map.ts";
import { NodeSql } from "../../../../../package/test/node-sql.ts";
import { growingKey, growingMap } from "./growing-map.ts";

it.each(["set", "removed", "ended by the final piece"])(
  "[Z41] an object that sleeps after a value was %s within a window has lost nothing",
  (what) => {
    const sql = new NodeSql();
    const before = growingMap(sql);
    for (const text of "ab") before.append(text);
    expect(before.map.growth.isTelling).toBe(true);
    if (what === "removed") unset(before.map, growingKey);
    else if (what === "set") set(before.map, growingKey, 1, { data: trustedJsonText('"x"') });
    else before.append("c", { final: true });
    expect(before.map.growth.isTelling).toBe(false);
    expect(growingMap(sql).channel.position(0)).toEqual(before.channel.top);
  },
);

it("[Z41] the mark stays while another value grows", () => {
  const growing = growingMap(new NodeSql());
  for (const key of [growingKey, "other"]) for (const text of "ab") growing.append(text, { key });
  unset(growing.map, growingKey);
  expect(growing.map.growth.isTelling).toBe(true);
  growing.pass(250);
  growing.pass(250);
  expect(growing.map.growth.isTelling).toBe(false);
});
