import { describe, expect, it } from "vitest";
import { problemsOf } from "./parsed.ts";

const path = "channel.without_namespace";
const history = { history_size: 10, history_ttl: "1h" };

const problemsOfOptions = (options: object) =>
  problemsOf({ channel: { without_namespace: options } });

describe("[A8] options that must go together", () => {
  it.each([
    ["history", history],
    ["history turned off in words", { history_size: 0, history_ttl: "0s" }],
    ["history and recovery", { ...history, force_recovery: true, allow_positioning: true }],
    ["join_leave without presence", { join_leave: true }],
    ["join_leave that is pushed", { join_leave: true, force_push_join_leave: true }],
    ["a position that lives as long as its history", { ...history, history_meta_ttl: "1h" }],
    ["cache recovery", { ...history, force_recovery_mode: "cache", auto_cache_recover: true }],
    ["stream recovery in words", { force_recovery_mode: "stream", auto_cache_recover: false }],
    ["deltas", { ...history, allowed_delta_types: ["fossil"], delta_publish: true }],
    ["no deltas in words", { allowed_delta_types: [], delta_publish: false }],
    ["a tags filter without history", { allow_tags_filter: true }],
    ["history as long as the default history_meta_ttl", { ...history, history_ttl: "720h" }],
  ])("takes %s", (_, options) => {
    expect(problemsOfOptions(options)).toEqual([]);
  });

  it.each([
    [{ force_push_join_leave: true }, [`${path}.force_push_join_leave requires join_leave`]],
    [
      { force_recovery_mode: "cache" },
      [`${path}.force_recovery_mode requires history: set history_size and history_ttl`],
    ],
    [
      { ...history, auto_cache_recover: true },
      [`${path}.auto_cache_recover requires force_recovery_mode "cache"`],
    ],
    [
      { ...history, force_recovery_mode: "stream", auto_cache_recover: true },
      [`${path}.auto_cache_recover requires force_recovery_mode "cache"`],
    ],
    [{ history_size: 1 }, [`${path}.history_size requires history_ttl`]],
    [{ history_size: 1, history_ttl: "0s" }, [`${path}.history_size requires history_ttl`]],
    [{ history_ttl: "1s" }, [`${path}.history_ttl requires history_size`]],
    [
      { ...history, history_meta_ttl: "59m" },
      [`${path}.history_ttl is longer than ${path}.history_meta_ttl`],
    ],
    [
      { ...history, history_ttl: "721h" },
      [`${path}.history_ttl is longer than channel.history_meta_ttl`],
    ],
    [
      { allow_recovery: true, history_size: 1 },
      [
        `${path}.allow_recovery requires history: set history_size and history_ttl`,
        `${path}.history_size requires history_ttl`,
      ],
    ],
    [
      { allowed_delta_types: ["fossil"] },
      [`${path}.allowed_delta_types requires history: set history_size and history_ttl`],
    ],
    [
      { allowed_delta_types: ["fossil"], delta_publish: true },
      [
        `${path}.allowed_delta_types requires history: set history_size and history_ttl`,
        `${path}.delta_publish requires history: set history_size and history_ttl`,
      ],
    ],
    [{ ...history, delta_publish: true }, [`${path}.delta_publish requires allowed_delta_types`]],
  ])("refuses %j", (options, problems) => {
    expect(problemsOfOptions(options)).toEqual(problems);
  });

  it.each(["force_positioning", "allow_positioning", "force_recovery", "allow_recovery"])(
    "refuses %s without history",
    (name) => {
      expect(problemsOfOptions({ [name]: true })).toEqual([
        `${path}.${name} requires history: set history_size and history_ttl`,
      ]);
    },
  );

  it("compares with the channel section's history_meta_ttl in every namespace", () => {
    const channel = {
      history_meta_ttl: "30m",
      namespaces: [
        { name: "chat", ...history },
        { name: "news", ...history },
        { name: "logs", ...history, history_meta_ttl: "2h" },
      ],
    };
    expect(problemsOf({ channel })).toEqual([
      'channel.namespaces[0] ("chat").history_ttl is longer than channel.history_meta_ttl',
      'channel.namespaces[1] ("news").history_ttl is longer than channel.history_meta_ttl',
    ]);
  });

  it.each([
    [{ history_size: "10", history_ttl: "1h", allow_recovery: true }, "history_size must be"],
    [{ history_size: 10, history_ttl: "1", force_recovery: true }, "history_ttl: "],
    [{ ...history, history_ttl: "999h", history_meta_ttl: 5 }, "history_meta_ttl must be"],
    [{ ...history, force_recovery_mode: 1, auto_cache_recover: true }, "force_recovery_mode must"],
    [{ history_size: -1, history_ttl: "1h", force_recovery_mode: "cache" }, "history_size: -1"],
    [{ ...history, allowed_delta_types: 1, delta_publish: true }, "allowed_delta_types must be"],
    [{ join_leave: 1, force_push_join_leave: true }, "join_leave must be"],
  ])("doesn't report consequences of a bad value: %j", (options, start) => {
    const problems = problemsOfOptions(options);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${path}.${start}`);
  });

  it("does not hold a bad history_meta_ttl of the channel section against a namespace", () => {
    const channel = {
      history_meta_ttl: "long",
      without_namespace: { ...history, history_ttl: "999h" },
    };
    expect(problemsOf({ channel })).toEqual([
      'channel.history_meta_ttl: "long" is not a duration such as "25s" or "1h30m" (units: h, m, s, ms)',
    ]);
  });
});
