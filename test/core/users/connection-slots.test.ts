import { describe, expect, it } from "vitest";
import { ConnectionSlots } from "../../../src/users/connection-slots.ts";
import { NodeSql } from "../../support/node-sql.ts";

const [eu, us] = ["gateway:eu/0", "gateway:us/0"];

describe("the slots of a user's connections", () => {
  it("[U12] are as many as the limit, whoever holds the connections", () => {
    const slots = new ConnectionSlots(new NodeSql());
    expect(slots.take("ada", { client: "c1", holder: eu }, 2)).toBe(true);
    expect(slots.take("ada", { client: "c2", holder: us }, 2)).toBe(true);
    expect(slots.take("ada", { client: "c3", holder: eu }, 2)).toBe(false);
    expect(slots.take("bob", { client: "c4", holder: eu }, 2)).toBe(true);
    // A call that is repeated takes no second slot, and is answered as before.
    expect(slots.take("ada", { client: "c1", holder: eu }, 2)).toBe(true);
    expect(slots.take("ada", { client: "c1", holder: eu }, 1)).toBe(true);
    expect(slots.take("ada", { client: "c3", holder: eu }, 3)).toBe(true);
  });

  it("[U12] are free again when their connections have ended, and survive a crash", () => {
    const sql = new NodeSql();
    const slots = new ConnectionSlots(sql);
    slots.take("ada", { client: "c1", holder: eu }, 2);
    slots.take("ada", { client: "c2", holder: us }, 2);
    const later = new ConnectionSlots(sql);
    expect(later.take("ada", { client: "c3", holder: eu }, 2)).toBe(false);
    expect([...later.byHolder("ada")]).toStrictEqual([
      [eu, ["c1"]],
      [us, ["c2"]],
    ]);
    later.free("ada", ["c1"]);
    expect(later.take("ada", { client: "c3", holder: eu }, 2)).toBe(true);
    expect(later.take("ada", { client: "c4", holder: eu }, 2)).toBe(false);
  });

  it("[U12] of an object that doesn't answer don't count, and count again when it does", () => {
    const slots = new ConnectionSlots(new NodeSql());
    slots.take("ada", { client: "c1", holder: eu }, 1);
    expect(slots.take("ada", { client: "c2", holder: us }, 1, new Set([eu]))).toBe(true);
    expect(slots.take("ada", { client: "c3", holder: us }, 1, new Set([eu]))).toBe(false);
    expect(slots.take("ada", { client: "c3", holder: us }, 2)).toBe(false);
  });
});
