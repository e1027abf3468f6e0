import { describe, expect, it } from "vitest";
import {
  channelPlacement,
  placedScopes,
  regionPlacement,
  serverPlacement,
} from "../../../../src/config/placement.ts";
import { configOf, problemsOf } from "../parsed.ts";

describe("the section placement", () => {
  it("[PL1] says nothing by default", () => {
    const config = configOf({});
    expect(config.placement).toEqual({ isPlaced: false, isRecorded: false });
    expect(config.placement.isPlaced).toBe(false);
    expect(serverPlacement(config)).toEqual({});
  });

  it("[PL1] [PL2] places all objects, and the channels of a namespace elsewhere", () => {
    const config = configOf({
      placement: { jurisdiction: "eu", location: "eeur", gateway_location: "weur" },
      channel: {
        namespaces: [
          { name: "staff", jurisdiction: "us", location: "enam" },
          { name: "world", jurisdiction: "none" },
          { name: "same" },
        ],
      },
    });
    expect(serverPlacement(config)).toEqual({ jurisdiction: "eu", location: "eeur" });
    expect(channelPlacement("news", config)).toEqual({ jurisdiction: "eu", location: "eeur" });
    expect(channelPlacement("same:1", config)).toEqual({ jurisdiction: "eu", location: "eeur" });
    expect(channelPlacement("staff:1", config)).toEqual({ jurisdiction: "us", location: "enam" });
    expect(channelPlacement("$staff:1", config)).toEqual({ jurisdiction: "us", location: "enam" });
    expect(channelPlacement("world:1", config)).toEqual({ location: "eeur" });
    expect(channelPlacement("unknown:1", config)).toEqual({
      jurisdiction: "eu",
      location: "eeur",
    });
    expect(regionPlacement(config, "oc")).toEqual({ jurisdiction: "eu", location: "weur" });
    expect(placedScopes(config)).toEqual([
      ["users and directory", "eu"],
      ["channels without a namespace", "eu"],
      ["namespace staff", "us"],
      ["namespace world", "none"],
      ["namespace same", "eu"],
    ]);
  });

  it("[PL3] leaves out hints that are outside of the jurisdiction", () => {
    const config = configOf({ placement: { jurisdiction: "eu" } });
    expect(regionPlacement(config, "oc")).toEqual({ jurisdiction: "eu" });
    expect(regionPlacement(config, "weur")).toEqual({ jurisdiction: "eu", location: "weur" });
    expect(regionPlacement(configOf({}), "oc")).toEqual({ location: "oc" });
  });

  it.each<[object, string]>([
    [{ placement: { jurisdiction: "eu", location: "oc" } }, "placement.location"],
    [{ placement: { jurisdiction: "eu", gateway_location: "sam" } }, "placement.gateway_location"],
    [{ placement: { jurisdiction_before: "new" } }, "placement.jurisdiction_before"],
    [
      { channel: { namespaces: [{ name: "chat", jurisdiction: "us", location: "weur" }] } },
      "location",
    ],
  ])("[PL3] refuses %j with the key", (input, key) => {
    const problems = problemsOf(input);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(key);
  });
});
