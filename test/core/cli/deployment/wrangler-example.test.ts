import { describe, expect, it } from "vitest";
import type { ChannelOptions, Config } from "../../../../src/config/config.ts";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { checkConfiguration } from "../../../../cli/deployment/configuration-problems.ts";
import { wranglerConfigOf } from "../../../../cli/deployment/wrangler-config.ts";
import { channelOptions, configured } from "../../../support/configured.ts";
import { configOf } from "../../config/parsed.ts";

const file = "examples/wrangler.example.toml";
const example = wranglerConfigOf({ file });
const config = configOf(example.vars["config"]);

/** The sections as they are by default. The compiler demands also those that a configuration may lack. */
const defaults: { readonly [Name in keyof Config]-?: unknown } = {
  events: undefined,
  console: undefined,
  pusher: undefined,
  ...configured(),
};

/** The purpose of a namespace, with the option that makes it so. */
const uses: readonly (readonly [string, string, Partial<ChannelOptions>])[] = [
  ["recovery", "chat", { forceRecovery: true, allowPublishForSubscriber: true }],
  ["presence", "meeting", { presence: true, forcePushJoinLeave: true }],
  ["personal notifications", "personal", { allowUserLimitedChannels: true, forceRecovery: true }],
  ["the latest value", "price", { recoveryMode: "cache", autoCacheRecover: true }],
  ["deltas", "price", { allowDelta: true, deltaPublish: true }],
  ["private channels", "team", { limitedChannelsForSubscribersOnly: true }],
  ["tags filters", "feed", { allowTagsFilter: true }],
  ["maps", "scores", { subscriptionType: "map" }],
  ["ephemeral maps", "cursors", { subscriptionType: "map", historySize: 0 }],
  ["shared polls", "votes", { subscriptionType: "shared_poll" }],
];

describe("[B1] wrangler.example.toml", () => {
  it("would be deployed: its configuration and its bindings are valid", () => {
    expect(checkConfiguration(["--config", file], "deployment")).toBeDefined();
  });

  it("has nothing that is ignored", () => {
    expect(parseConfig(example.vars["config"])).toMatchObject({ outcome: "config", notes: [] });
  });

  it("has the objects of wrangler.toml", () => {
    const { durable_objects, migrations, assets, compatibility_date } = example;
    const own = wranglerConfigOf({});
    expect({ durable_objects, migrations, assets, compatibility_date }).toStrictEqual({
      durable_objects: own.durable_objects,
      migrations: own.migrations,
      assets: own.assets,
      compatibility_date: own.compatibility_date,
    });
  });

  it.each(Object.entries(defaults))("has something in the section %s", (name, byDefault) => {
    expect(new Map<string, unknown>(Object.entries(config)).get(name)).not.toEqual(byDefault);
  });

  it("switches every transport on", () => {
    const off = Object.entries(config.transports).filter(([, isOn]) => !isOn);
    expect(off).toEqual([]);
  });

  it.each(uses)("has a namespace for %s: %s", (_, name, options) => {
    expect(channelOptions({})).not.toMatchObject(options);
    expect(config.channel.namespaces.get(name)).toMatchObject(options);
  });

  it("asks the backend about publishes, and another one about subscribes", () => {
    const { namespaces } = config.channel;
    expect(namespaces.get("moderated")?.publishHook?.name).toBe("channel.proxy.publish");
    expect(namespaces.get("document")?.subscribeHook?.name).toBe("proxies.documents");
  });
});
