import { describe, expect, it } from "vitest";
import { type ApiKey, keyRefusal } from "../../../src/access/api-keys.ts";

const billing: ApiKey = {
  name: "billing",
  rights: { methods: ["publish", "history"], channels: ["billing:*", "news"] },
};

describe("[A14] a key of the API", () => {
  it.each([
    ["publish", "billing:1"],
    ["publish", "billing:"],
    ["history", "news"],
    ["history", undefined],
  ] as const)("admits %s on %s, which its rights name", (method, channel) => {
    expect(keyRefusal(billing, method, channel)).toBeUndefined();
  });

  it.each([
    ["presence", "billing:1", "the method presence"],
    ["presence", undefined, "the method presence"],
    ["presence", "shop:1", "the method presence"],
    ["publish", "newsroom", "the channel"],
    ["publish", "billing", "the channel"],
    ["publish", "$billing:1", "the channel"],
    ["publish", "", "the channel"],
  ] as const)("doesn't admit %s on %s, and says so by its name", (method, channel, what) => {
    expect(keyRefusal(billing, method, channel)).toBe(
      `the API key "billing" of http_api.keys doesn't admit ${what}`,
    );
  });

  it("[A29] admits the channels of Centrifugo's globs", () => {
    const channels = ["{news,chat}:*", "room?"];
    const key: ApiKey = { name: "some", rights: { methods: ["*"], channels } };
    for (const channel of ["news:1", "chat:", "room1"])
      expect(keyRefusal(key, "publish", channel)).toBeUndefined();
    for (const channel of ["{news,chat}:1", "shop:1", "room", "room12"])
      expect(keyRefusal(key, "publish", channel)).toContain("the channel");
  });

  it("admits everything if it has no rights, or stars", () => {
    const all: ApiKey = { name: "all", rights: { methods: ["*"], channels: ["*"] } };
    for (const key of [{ name: "API_KEY" }, all]) {
      expect(keyRefusal(key, "history_remove", "any:1")).toBeUndefined();
    }
  });
});
