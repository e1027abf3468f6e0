import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

const map = { mode: "ephemeral", key_ttl: "1m" };
const clients = { name: "clients", subscription_type: "map_clients", map };
const users = { name: "users", subscription_type: "map_users", map };
const toClients = { map_clients_presence_channel_prefix: "clients:" };
const toUsers = { map_users_presence_channel_prefix: "users:" };

const channelOf = (...namespaces: readonly object[]) => ({ channel: { namespaces } });

const lost = (type: string) => `leads to no namespace with subscription_type "${type}"`;

describe("[A8] presence maps", () => {
  it("are maps in memory, which nobody changes", () => {
    const { namespaces } = configOf(channelOf(clients, users)).channel;
    for (const [name, type] of [
      ["clients", "map_clients"],
      ["users", "map_users"],
    ] as const) {
      expect(namespaces.get(name)).toMatchObject({
        subscriptionType: type,
        historySize: 0,
        map: {
          mode: "ephemeral",
          keyTtlMs: 60_000,
          clientKey: "",
          allowPublishForClient: false,
          allowRemoveForSubscriber: false,
          defaultPageSize: 100,
          maxPageSize: 1_000,
        },
      });
    }
  });

  it("are those of the channels whose namespaces have a prefix, whatever their type", () => {
    const { channel } = configOf({
      channel: {
        without_namespace: toUsers,
        namespaces: [
          { name: "chat", ...toClients, ...toUsers },
          { name: "game", subscription_type: "map", map, ...toClients },
          { name: "off", map_clients_presence_channel_prefix: "" },
          clients,
          users,
        ],
      },
    });
    expect(channel.withoutNamespace.presenceMaps).toEqual({ users: "users:" });
    expect(channel.namespaces.get("chat")?.presenceMaps).toEqual({
      clients: "clients:",
      users: "users:",
    });
    expect(channel.namespaces.get("game")?.presenceMaps).toEqual({ clients: "clients:" });
    expect(channel.namespaces.get("off")?.presenceMaps).toBeUndefined();
  });

  const anywhere = 'channel.namespaces[0] ("clients")';
  it.each<[object, string]>([
    [{ ...map, mode: "recoverable" }, 'mode has to be "ephemeral"'],
    [{ ...map, mode: "persistent" }, 'mode has to be "ephemeral"'],
    [{ mode: "ephemeral" }, 'key_ttl is missing: "map_clients" requires it'],
    [
      { mode: "ephemeral", key_ttl: "9s" },
      `key_ttl is shorter than ${mapLimits.mirrorKeyTtlMsMin / 1_000}s`,
    ],
    [
      { mode: "ephemeral", key_ttl: "25h" },
      `key_ttl is longer than ${mapLimits.mirrorKeyTtlMsMax / 1_000}s`,
    ],
    ...[
      "remove_client_on_unsubscribe",
      "allow_publish_for_client",
      "allow_publish_for_subscriber",
      "allow_publish_for_anonymous",
      "allow_remove_for_client",
      "allow_remove_for_subscriber",
      "allow_remove_for_anonymous",
      "publish_proxy_enabled",
      "remove_proxy_enabled",
    ].map((name): [object, string] => [
      { ...map, [name]: true },
      `${name} is not for presence maps, which nobody changes`,
    ]),
    [{ ...map, client_key: "user_id" }, "client_key is not for presence maps"],
    [{ ...map, stream_size: 5 }, "stream_size is not for presence maps, which are ephemeral"],
    [{ ...map, stream_ttl: "1m" }, "stream_ttl is not for presence maps, which are ephemeral"],
    [{ ...map, key_tll: "1m" }, "key_tll is unknown; did you mean key_ttl?"],
  ])("are refused with other options: %j", (written, problem) => {
    expect(problemsOf(channelOf({ ...clients, map: written }))).toEqual([
      expect.stringContaining(`${anywhere}.map.${problem}`),
    ]);
  });

  it("are taken with the options that ask for nothing, and at the bounds of key_ttl", () => {
    const off = {
      stream_size: 0,
      client_key: "",
      publish_proxy_enabled: false,
      publish_proxy_name: "default",
      ordered: false,
    };
    expect(problemsOf(channelOf({ ...clients, map: { key_ttl: "1m" } }))).toEqual([]);
    for (const keyTtl of ["10s", "24h"])
      expect(
        problemsOf(channelOf({ ...clients, map: { ...map, ...off, key_ttl: keyTtl } })),
      ).toEqual([]);
  });

  it.each<[object, string]>([
    [{ history_size: 1 }, "history_size is not for presence maps"],
    [{ force_recovery: true }, "force_recovery is not for presence maps"],
    [{ allowed_delta_types: ["fossil"] }, "allowed_delta_types is not for presence maps"],
    [{ allow_tags_filter: true }, "allow_tags_filter is not for presence maps"],
    [toUsers, "map_users_presence_channel_prefix is not for presence maps themselves"],
  ])("have no options of streams, deltas or tags, and no presence maps: %j", (written, problem) => {
    expect(problemsOf(channelOf({ ...clients, ...written }, users))).toEqual([
      expect.stringContaining(`${anywhere}.${problem}`),
    ]);
  });
});

describe("[A8] a prefix", () => {
  const chat = 'channel.namespaces[0] ("chat")';
  const option = "map_clients_presence_channel_prefix";
  it.each<[string, string]>([
    ["nowhere:", lost("map_clients")],
    ["users:", lost("map_clients")],
    ["clients", lost("map_clients")],
    ["chat:", lost("map_clients")],
    ["clients:x", "begins with the prefix of another presence map"],
  ])("%s is refused", (prefix, problem) => {
    const namespaces = [
      { name: "chat", [option]: prefix },
      { name: "other", ...toClients },
      clients,
      users,
    ];
    expect(problemsOf(channelOf(...namespaces))).toEqual([
      `${chat}.${option}: "${prefix}" ${problem}`,
    ]);
  });

  it("may be private, or a part of a name, and leads where the names of the channels lead", () => {
    const namespaces = [
      { name: "chat", [option]: "$clients:" },
      { name: "game", [option]: "who-" },
      { ...clients, name: "who-game" },
      clients,
    ];
    expect(problemsOf(channelOf(...namespaces))).toEqual([]);
    expect(
      problemsOf({ channel: { without_namespace: { [option]: "who-" }, namespaces: [clients] } }),
    ).toEqual([`channel.without_namespace.${option}: "who-" ${lost("map_clients")}`]);
  });
});
