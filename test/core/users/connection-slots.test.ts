import { describe, expect, it } from "vitest";
import { ConnectionSlots } from "../../../src/users/connection-slots.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const [eu, us] = ["gateway:eu/0", "gateway:us/0"];

const ada = (client: string) => ({ key: "ada", client });

describe("the slots of a user's connections", () => {
  it("[U12] are as many as the limit, whoever holds the connections", () => {
    const slots = new ConnectionSlots(new NodeSql());
    expect(slots.occupy(ada("c1"), eu, 2)).toBe(true);
    expect(slots.occupy(ada("c2"), us, 2)).toBe(true);
    expect(slots.occupy(ada("c3"), eu, 2)).toBe(false);
    expect(slots.occupy({ key: "bob", client: "c4" }, eu, 2)).toBe(true);
    // A call that is repeated takes no second slot, and is answered as before.
    expect(slots.occupy(ada("c1"), eu, 2)).toBe(true);
    expect(slots.occupy(ada("c1"), eu, 1)).toBe(true);
    expect(slots.occupy(ada("c3"), eu, 3)).toBe(true);
  });

  it("[U12] [U37] are free again when their connections have ended, and survive a crash", () => {
    const sql = new NodeSql();
    const slots = new ConnectionSlots(sql);
    slots.occupy(ada("c1"), eu, 2);
    slots.occupy(ada("c2"), us, 2);
    const later = new ConnectionSlots(sql);
    expect(later.occupy(ada("c3"), eu, 2)).toBe(false);
    expect([...later.byHolder(["ada", "bob"])]).toStrictEqual([
      [eu, [ada("c1")]],
      [us, [ada("c2")]],
    ]);
    later.free([ada("c1")]);
    expect(later.occupy(ada("c3"), eu, 2)).toBe(true);
    expect(later.occupy(ada("c4"), eu, 2)).toBe(false);
  });

  it("[U37] of an object that doesn't answer don't count, and count again when it does", () => {
    const slots = new ConnectionSlots(new NodeSql());
    slots.occupy(ada("c1"), eu, 1);
    expect(slots.occupy(ada("c2"), us, 1, new Set([eu]))).toBe(true);
    expect(slots.occupy(ada("c3"), us, 1, new Set([eu]))).toBe(false);
    expect(slots.occupy(ada("c3"), us, 2)).toBe(false);
  });
});
