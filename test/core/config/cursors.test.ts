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
