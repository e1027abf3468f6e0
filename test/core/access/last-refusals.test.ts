import { describe, expect, it } from "vitest";
import { LastRefusals } from "../../../src/access/last-refusals.ts";
import { limits } from "../../../src/limits.ts";

const refusal = (reason: string) => ({ refused: "subscribe", rule: "A1", reason, code: 103 });

describe("the trail of an object's refusals", () => {
  it("[Y5] tells the last ones, newest first, and counts equal ones that follow each other", () => {
    const trail = new LastRefusals();
    trail.note({ ...refusal("one"), user: "ada", channel: "room" }, 1);
    trail.note(refusal("two"), 2);
    trail.note(refusal("two"), 3);
    trail.note({ ...refusal("two"), user: "ada" }, 4);
    const two = { ...refusal("two"), atMs: 3, count: 2 };
    expect(trail.last(2)).toEqual([{ ...refusal("two"), user: "ada", atMs: 4, count: 1 }, two]);
    expect(trail.last(10)).toHaveLength(3);
    expect(trail.last(0)).toEqual([]);
  });

  it("[Y5] bounds each text", () => {
    const trail = new LastRefusals();
    const text = "x".repeat(limits.refusalTextMax + 1);
    trail.note({ ...refusal(text), user: text, channel: text, key: text }, 1);
    const [told] = trail.last(1);
    expect(told?.reason).toHaveLength(limits.refusalTextMax + 1);
    expect(told?.reason).toMatch(/x…$/);
    expect([told?.user, told?.channel]).toEqual([told?.reason, told?.reason]);
    expect(told?.key).toBe(told?.reason);
  });

  it("[Y5] [B1] remembers the last thousand", () => {
    const trail = new LastRefusals();
    const { trailRefusalsMax: most } = limits;
    for (let count = 1; count <= 3 * most; count++) trail.note(refusal(`${count}`), count);
    const told = trail.last(most + 1);
    expect(told).toHaveLength(most);
    expect([told[0]?.reason, told.at(-1)?.reason]).toEqual([`${3 * most}`, `${2 * most + 1}`]);
  });

  it("[Y5] [B1] remembers fewer if their texts are long", () => {
    const trail = new LastRefusals();
    for (let count = 1; count <= 2_000; count++)
      trail.note({ ...refusal(`${count} ${"x".repeat(240)}`), user: "u".repeat(200) }, count);
    const told = trail.last(1_000);
    const characters = told.reduce(
      (sum, { reason, user = "" }) => sum + reason.length + user.length,
      0,
    );
    expect(characters).toBeLessThanOrEqual(limits.trailRefusalCharactersMax);
    expect(characters).toBeGreaterThan(limits.trailRefusalCharactersMax * 0.8);
    expect(told[0]?.atMs).toBe(2_000);
  });
});
