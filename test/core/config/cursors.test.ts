import { describe, expect, it } from "vitest";
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
      { ...history, cursors: { enabled: true, unread_max: 1_001 } },
      ".unread_max: 1001 is not a whole number from 1 to 1000",
    ],
    [
      { ...history, cursors: { enabled: true, unread_from: "some" } },
      '.unread_from: "some" is not one of "all", "none", "subscribed"',
    ],
    [
      { ...history, cursors: { enabled: true, unread_tags_filter: "kind" } },
      ".unread_tags_filter must be a tags filter, found a string",
    ],
    [
      { ...history, cursors: { enabled: true, unread_tags_filter: { key: "a", cmp: "no" } } },
      ".unread_tags_filter is no valid tags filter",
    ],
    [
      { ...history, cursors: { enabled: true, notify_after: "500ms" } },
      '.notify_after: "500ms" is shorter than 1s',
    ],
    [
      { ...history, cursors: { enabled: true, notify_after: "25h" } },
      '.notify_after: "25h" is longer than 86400s',
    ],
    [
      { ...history, cursors: { enabled: true, notify_seen: true } },
      ".notify_seen requires notify_after",
    ],
    [{ ...history, cursors: { enable: true } }, ".enable is unknown; did you mean enabled?"],
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
    [{ notify_after: "5m" }, {}, ".notify_after is not shorter than history_ttl"],
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
