import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import {
  type GatewayAddress,
  gatewayName,
  parseGatewayName,
} from "../../../src/contract/object-names.ts";

describe("a gateway's name", () => {
  it.each<[string, GatewayAddress]>([
    ["eu/0", { kind: "pool", region: "eu", index: 0 }],
    ["any/999", { kind: "pool", region: "any", index: 999 }],
    ["channel/news/0", { kind: "channel", channel: "news", index: 0 }],
    ["channel/a/b/12", { kind: "channel", channel: "a/b", index: 12 }],
    ["channel/eu/3/4", { kind: "channel", channel: "eu/3", index: 4 }],
    ["channel///1", { kind: "channel", channel: "/", index: 1 }],
    ["channel/channel/7/1", { kind: "channel", channel: "channel/7", index: 1 }],
  ])("[G4] says whom it serves: %s", (name, gateway) => {
    expect(gatewayName(gateway)).toBe(name);
    expect(parseGatewayName(name)).toStrictEqual(gateway);
  });

  it("[G4] is another one for each channel and place, whatever the channel is called", () => {
    const channel = fc.string({ minLength: 1, unit: fc.constantFrom("/", "a", "0", "channel/") });
    const index = fc.nat(limits.poolObjectsMax - 1);
    fc.assert(
      fc.property(channel, index, (name, place) => {
        const gateway: GatewayAddress = { kind: "channel", channel: name, index: place };
        expect(parseGatewayName(gatewayName(gateway))).toStrictEqual(gateway);
      }),
    );
  });

  it("[G4] is within the 1,024 bytes up to which the platform gives an object its name", () => {
    const longest: GatewayAddress = {
      kind: "channel",
      channel: "x".repeat(1_000),
      index: limits.relayGatewaysMax - 1,
    };
    expect(gatewayName(longest).length).toBeLessThanOrEqual(1_024);
  });

  it.each([[""], ["eu"], ["/0"], ["eu/"], ["eu/01"], ["eu/-1"], ["eu/1.0"], ["eu/x"], ["a/b/0"]])(
    "[A3] is nothing that the edge doesn't give: %j",
    (name) => {
      expect(() => parseGatewayName(name)).toThrow("the edge");
    },
  );

  it.each([["channel//0"], ["eu/1e3"], ["eu/ 1"], ["eu/9999999"]])(
    "[A3] nor is this one: %j",
    (name) => {
      expect(() => parseGatewayName(name)).toThrow("the edge");
    },
  );
});
