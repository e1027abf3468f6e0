import { describe, expect, it } from "vitest";
import {
  presenceMapsOf,
  shownChannelOf,
} from "../../../../src/features/presence/presence-channels.ts";
import { configOf } from "../../config/parsed.ts";

const map = { mode: "ephemeral", key_ttl: "1m" };
const { channel: config } = configOf({
  channel: {
    max_length: 40,
    without_namespace: { map_users_presence_channel_prefix: "users:" },
    namespaces: [
      {
        name: "chat",
        map_clients_presence_channel_prefix: "$clients:",
        map_users_presence_channel_prefix: "users:",
      },
      { name: "game", subscription_type: "map", map, map_users_presence_channel_prefix: "of-" },
      { name: "plain" },
      { name: "clients", subscription_type: "map_clients", map },
      { name: "users", subscription_type: "map_users", map },
      { name: "of-game", subscription_type: "map_users", map },
    ],
  },
});

describe("the presence maps of a channel", () => {
  it.each([
    ["chat:room", ["clients $clients:chat:room", "users users:chat:room"]],
    ["$chat:room", ["clients $clients:$chat:room", "users users:$chat:room"]],
    ["room", ["users users:room"]],
    ["game:1", ["users of-game:1"]],
    ["plain:1", []],
    ["clients:chat:room", []],
    ["nowhere:1", []],
    [`chat:${"x".repeat(29)}`, [`users users:chat:${"x".repeat(29)}`]],
    // Their names are too long, or of no namespace.
    [`chat:${"x".repeat(30)}`, []],
    ["$game:1", []],
  ])("[Z36] of %s are those that its prefixes name", (name, expected) => {
    const maps = presenceMapsOf(name, config);
    expect(maps.map(({ kind, channel }) => `${kind} ${channel}`)).toEqual(expected);
    for (const { kind, channel } of maps)
      expect(shownChannelOf(channel, config)).toEqual({ kind, channel: name });
  });

  it.each([
    "users:plain:1",
    "users:clients:room",
    "users:",
    "clients:chat:room",
    "chat:room",
    "users:nowhere:1",
  ])("[Z36] aren't %s", (name) => {
    expect(shownChannelOf(name, config)).toBeUndefined();
  });
});
