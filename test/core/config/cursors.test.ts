import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { configOf, problemsOf } from "./parsed.ts";

const history = { history_size: 10, history_ttl: "5m" };
const filter = { key: "kind", cmp: "eq", val: "message" };
const optionsOf = (cursors: object) =>
  configOf({ channel: { without_namespace: { ...history, cursors } } }).channel.withoutNamespace
    .cursors;
const problems = (options: object) => problemsOf({ channel: { without_namespace: options } });
const path = "channel.without_namespace.cursors";

describe("[CU8] [CU9] the options cursors of a namespace", () => {
  it("are off unless they are switched on, and have defaults", () => {
    expect(optionsOf({})).toBeUndefined();
    expect(optionsOf({ enabled: false, unread_max: 5 })).toBeUndefined();
    expect(optionsOf({ enabled: true })).toStrictEqual({
      unreadFrom: "all",
      unreadMax: 1_000,
      audience: "none",
      receipts: "backend",
    });
  });

  it("are read", () => {
    const given = { unread_from: "subscribed", unread_max: 99, unread_tags_filter: filter };
    expect(optionsOf({ enabled: true, ...given })).toMatchObject({
      unreadFrom: "subscribed",
      unreadMax: 99,
      unreadFilter: filter,
    });
  });

  it.each([
    [
      { ...history, cursors: { enabled: true, unread_tags_filter: { key: "a", cmp: "no" } } },
      ".unread_tags_filter is no valid tags filter",
    ],
    [
      { ...history, cursors: { enabled: true, notify_seen: true } },
      ".notify_seen requires notify_after",
    ],
    [{ cursors: { enabled: true } }, ".enabled requires history: set history_size and history_ttl"],
    [
      { subscription_type: "map", map: { mode: "persistent" }, cursors: { enabled: true } },
      '.enabled is not for subscription_type "map"',
    ],
  ])("are refused: %j", (options, problem) => {
    expect(problems(options)).toStrictEqual([path + problem]);
  });
});

describe("[CU28] the options that tell a backend of what members haven't seen", () => {
  const cursors = { enabled: true, audience: "named", notify_after: "30s" };
  const told = (given: object, events: object) =>
    problemsOf({
      events: { target: "queue:EVENTS", types: ["unseen"], ...events },
      channel: { namespaces: [{ name: "chat", ...history, cursors: { ...cursors, ...given } }] },
    });
  const ofChat = 'channel.namespaces[0] ("chat").cursors';

  it("are read", () => {
    expect(told({}, {})).toStrictEqual([]);
    expect(told({ notify_after: "294999ms" }, {})).toStrictEqual([]);
    const input = {
      events: { target: "queue:EVENTS", types: ["unseen", "seen"], namespaces: [""] },
      channel: {
        without_namespace: {
          ...history,
          cursors: { ...cursors, notify_seen: true, notify_unless: "read" },
        },
      },
    };
    expect(configOf(input).channel.withoutNamespace.cursors?.notify).toStrictEqual({
      afterMs: 30_000,
      unless: "read",
      seen: true,
    });
  });

  it.each([
    [{ audience: "none" }, {}, ".notify_after requires cursors.audience"],
    [
      { notify_after: "5m" },
      {},
      ".notify_after with a tenth of it, at most 5s, is not shorter than history_ttl",
    ],
    [
      { notify_after: "295s" },
      {},
      ".notify_after with a tenth of it, at most 5s, is not shorter than history_ttl",
    ],
    [
      {},
      { types: ["publication"] },
      '.notify_after requires events with "unseen" among their types',
    ],
    [{ notify_seen: true }, {}, '.notify_seen requires events with "seen" among their types'],
    [{}, { namespaces: [""] }, ".notify_after requires the namespace among events.namespaces"],
  ])("are refused: %j with %j", (given, events, problem) => {
    expect(told(given, events)).toStrictEqual([ofChat + problem]);
  });

  it("are refused without events", () => {
    const namespaces = [{ name: "chat", ...history, cursors }];
    expect(problemsOf({ channel: { namespaces } })).toStrictEqual([
      `${ofChat}.notify_after requires events with "unseen" among their types`,
    ]);
  });
});

describe("[CU36] [CU42] the options of receipts", () => {
  const receipts = { name: "receipts", subscription_type: "map_receipts", map: { key_ttl: "1m" } };
  const cursors = { enabled: true, receipts_channel_prefix: "receipts:" };
  const problemsWith = (...namespaces: readonly object[]) =>
    problemsOf({ channel: { namespaces: [...namespaces, receipts] } });
  const ofChat = 'channel.namespaces[0] ("chat").cursors';

  it("are read", () => {
    const { channel } = configOf({
      channel: {
        namespaces: [{ ...receipts, name: "of" }, receipts],
        without_namespace: {
          ...history,
          cursors: { ...cursors, receipts: "subscriber", receipts_channel_prefix: "of:" },
        },
      },
    });
    expect(channel.withoutNamespace.cursors).toMatchObject({
      receipts: "subscriber",
      receiptsPrefix: "of:",
    });
    expect(channel.namespaces.get("receipts")).toMatchObject({
      subscriptionType: "map_receipts",
      map: { mode: "ephemeral", keyTtlMs: 60_000 },
    });
  });

  it.each([
    [
      { receipts_channel_prefix: "chat:" },
      '.receipts_channel_prefix: "chat:" leads to no namespace with subscription_type "map_receipts"',
    ],
  ])("are refused: %j", (given, problem) => {
    const chat = { name: "chat", ...history, cursors: { ...cursors, ...given } };
    expect(problemsWith(chat)).toStrictEqual([ofChat + problem]);
  });

  it("[A11] let all clients see receipts with client.insecure", () => {
    const input = {
      client: { insecure: true },
      channel: { without_namespace: { ...history, cursors: { enabled: true } } },
    };
    const parsed = parseConfig(input, { development: true });
    if (parsed.outcome !== "config") throw new Error("refused");
    const { withoutNamespace } = parsed.config.channel;
    expect(withoutNamespace).toMatchObject({
      allowPublishForClient: true,
      allowPublishForAnonymous: true,
      cursors: { receipts: "publisher" },
    });
  });

  it("are refused where it isn't known who may publish, and where one prefix begins with another", () => {
    const asked = {
      name: "chat",
      ...history,
      publish_proxy_enabled: true,
      cursors: { ...cursors, receipts: "publisher" },
    };
    const proxy = { publish: { endpoint: "https://backend.example.com" } };
    const namespaces = [asked, receipts];
    expect(problemsOf({ channel: { proxy, namespaces } })).toStrictEqual([
      `${ofChat}.receipts "publisher" is not for publish_proxy_enabled: a backend decides on each publication`,
    ]);
    const chat = {
      name: "chat",
      ...history,
      cursors: { ...cursors, receipts_channel_prefix: "receipts:x" },
    };
    expect(problemsWith(chat, { name: "room", ...history, cursors })).toStrictEqual([
      `${ofChat}.receipts_channel_prefix: "receipts:x" begins with the prefix of another namespace's receipts`,
    ]);
  });

  it.each([
    [{ map: {} }, '.map.key_ttl is missing: "map_receipts" requires it'],
    [{ history_size: 5, history_ttl: "1m" }, ".history_size is not for receipts"],
    [
      { cursors: { enabled: true } },
      '.cursors.enabled is not for subscription_type "map_receipts"',
    ],
    [
      { map_users_presence_channel_prefix: "users:" },
      '.subscription_type "map_receipts" has no presence maps',
    ],
  ])("of their own namespace are those of a map that nobody changes: %j", (given, problem) => {
    const users = { name: "users", subscription_type: "map_users", map: { key_ttl: "1m" } };
    const found = problemsOf({ channel: { namespaces: [{ ...receipts, ...given }, users] } });
    expect(found[0]).toContain(`channel.namespaces[0] ("receipts")${problem}`);
  });
});
