import { describe, expect, it } from "vitest";
import { parseRegion } from "../../../workers/platform/region.ts";

describe("a client's region", () => {
  it.each([
    ["EU", "eu", "weur"],
    ["NA", "na", "enam"],
    ["SA", "sa", "sam"],
    ["AS", "as", "apac"],
    ["AF", "af", "afr"],
    ["OC", "oc", "oc"],
    ["AN", "an", "oc"],
  ])("[G3] is its continent: %s", (continent, name, locationHint) => {
    expect(parseRegion(continent)).toStrictEqual({ name, locationHint });
  });

  it.each([[undefined], [""], ["eu"], ["T1"], ["XX"], ["EU/1"], [7], [["EU"]]])(
    "[G3] is the default without a location: %j",
    (continent) => {
      expect(parseRegion(continent)).toStrictEqual({ name: "any" });
    },
  );
});
