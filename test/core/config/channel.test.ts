import { describe, expect, it } from "vitest";
import type { ChannelOptions } from "../../../src/config/config.ts";
import { limits } from "../../../src/limits.ts";
import { Pattern } from "../../../src/access/pattern.ts";
import { compiled } from "../../support/compiled.ts";
import { configOf, problemsOf } from "./parsed.ts";

/** The options that refer to a backend, and those of maps, cursors, shared polls and placement, have tests of their own. */
type OtherOption =
  | "subscribeHook"
  | "publishHook"
  | "subRefreshHook"
  | "subscriptionType"
  | "presenceMaps"
  | "placement"
  | "map"
  | "cursors"
  | "sharedPoll";

/** One value other than the default for each option, as it is parsed. The compiler sees to it that none is missing. */
const everyOption: Required<Omit<ChannelOptions, OtherOption>> = {
  presence: true,
  joinLeave: true,
  forcePushJoinLeave: true,
  historySize: 10,
  historyTtlMs: 60_000,
  historyMetaTtlMs: 120_000,
  forcePositioning: true,
  allowPositioning: true,
  forceRecovery: true,
  recoveryMode: "cache",
  autoCacheRecover: true,
  allowRecovery: true,
  allowSubscribeForClient: true,
  allowSubscribeForAnonymous: true,
  allowPublishForClient: true,
  allowPublishForSubscriber: true,
  allowPublishForAnonymous: true,
  allowPresenceForClient: true,
  allowPresenceForSubscriber: true,
  allowPresenceForAnonymous: true,
  allowHistoryForClient: true,
  allowHistoryForSubscriber: true,
  allowHistoryForAnonymous: true,
  allowUserLimitedChannels: true,
  limitedChannelsForSubscribersOnly: true,
  channelRegex: compiled("^[a-z]+$"),
  publicationDataFormat: "json",
  allowDelta: true,
  deltaPublish: true,
  allowTagsFilter: true,
};

const history = { history_size: 1, history_ttl: "1s" };

/** Options that some options require. */
const companions: Record<string, object> = {
  forcePushJoinLeave: { join_leave: true },
  historySize: history,
  historyTtlMs: history,
  forcePositioning: history,
  allowPositioning: history,
  forceRecovery: history,
  recoveryMode: history,
  autoCacheRecover: { ...history, force_recovery_mode: "cache" },
  allowRecovery: history,
  allowDelta: history,
  deltaPublish: { ...history, allowed_delta_types: ["fossil"] },
};

const optionsOf = (options: object) =>
  configOf({ channel: { without_namespace: options } }).channel.withoutNamespace;
const optionProblems = (options: object) => problemsOf({ channel: { without_namespace: options } });
const path = "channel.without_namespace";

describe("[A8] channel options", () => {
  it.each(Object.entries(everyOption))("sets %s by its snake_case name", (property, value) => {
    const companion = companions[property] ?? {};
    const written = { ...companion, ...snakeCase(property, value) };
    expect(optionsOf(written)).toStrictEqual({ ...optionsOf(companion), [property]: value });
  });

  it("sets all of them together, for a namespace as for channels without one", () => {
    const written = Object.assign(
      {},
      ...Object.entries(everyOption).map(([property, value]) => snakeCase(property, value)),
    );
    const { channel } = configOf({
      channel: { without_namespace: written, namespaces: [{ ...written, name: "chat" }] },
    });
    const all = { ...everyOption, subscriptionType: "stream" };
    expect(channel.withoutNamespace).toStrictEqual(all);
    expect(channel.namespaces.get("chat")).toStrictEqual(all);
  });

  const refused: readonly [string, unknown, string][] = [
    ["presence", "true", " must be true or false, found a string"],
    ["history_size", -1, `: -1 is not a whole number from 0 to ${limits.historySizeMax}`],
    [
      "history_size",
      limits.historySizeMax + 1,
      `: ${limits.historySizeMax + 1} is not a whole number from 0 to ${limits.historySizeMax}`,
    ],
    [
      "history_ttl",
      60,
      ' must be a duration such as "25s" or "1h30m" (units: h, m, s, ms), found a number',
    ],
    [
      "history_meta_ttl",
      "1y",
      ': "1y" is not a duration such as "25s" or "1h30m" (units: h, m, s, ms)',
    ],
    ["channel_regex", "(", ': "(" is not a valid JavaScript regular expression'],
    ["channel_regex", "(?P<a>b)", ': "(?P<a>b)" is not a valid JavaScript regular expression'],
    ["channel_regex", "\\-", String.raw`: "\\-" is not a valid JavaScript regular expression`],
    ["channel_regex", "^a(?=b)", ': "^a(?=b)" has a lookaround, which is not supported'],
    [
      "channel_regex",
      "^(a)\\1$",
      String.raw`: "^(a)\\1$" has a backreference, which is not supported`,
    ],
    [
      "channel_regex",
      "a{2000}",
      ': "a{2000}" takes more than 2000 steps when its repetitions are written out: write smaller counts',
    ],
    ["channel_regex", [], " must be a string, found an array"],
    ["publication_data_format", "xml", ': "xml" is not one of "", "json", "json_object", "binary"'],
    [
      "publication_data_format",
      1,
      ' must be one of "", "json", "json_object", "binary", found a number',
    ],
    ["allow_tags_filter", "true", " must be true or false, found a string"],
    ["delta_publish", 1, " must be true or false, found a number"],
    ["force_recovery_mode", "map", ': "map" is not one of "", "stream", "cache"'],
    ["force_recovery_mode", true, ' must be one of "", "stream", "cache", found a boolean'],
    ["auto_cache_recover", "true", " must be true or false, found a string"],
    ["allow_publish_for_clients", true, " is unknown; did you mean allow_publish_for_client?"],
  ];
  it.each(refused)("refuses %s: %j", (key, value, predicate) => {
    expect(optionProblems({ [key]: value })).toEqual([`${path}.${key}${predicate}`]);
  });

  it.each(["", "stream"])("takes %j for recovery from the stream, the default", (mode) => {
    expect(optionsOf({ force_recovery_mode: mode })).toStrictEqual(optionsOf({}));
  });

  it.each([[["xdelta"]], [["fossil", "xdelta"]], ["fossil"], [true], [[1]]])(
    "refuses allowed_delta_types: %j",
    (types) => {
      const problems = optionProblems({ ...history, allowed_delta_types: types });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(`${path}.allowed_delta_types`);
    },
  );

  it("takes no allowed_delta_types at all for none", () => {
    expect(optionsOf({ allowed_delta_types: [] })).toStrictEqual(optionsOf({}));
  });

  it.each(["", "json", "json_object", "binary"])("takes publication_data_format %j", (format) => {
    const { publicationDataFormat } = optionsOf({ publication_data_format: format });
    expect(publicationDataFormat).toBe(format);
  });

  it("matches a channel_regex by characters, the same way every time", () => {
    const { channelRegex } = optionsOf({ channel_regex: "^.$" });
    expect([channelRegex?.test("🐭"), channelRegex?.test("🐭")]).toEqual([true, true]);
  });

  it("takes an empty channel_regex for none", () => {
    expect(optionsOf({ channel_regex: "" })).not.toHaveProperty("channelRegex");
  });
});

describe("[H6] history_meta_ttl", () => {
  it("is the channel section's when the namespace has none, or 0", () => {
    expect(metaTtlMs({})).toBe(48 * 3_600_000);
    expect(metaTtlMs({ history_meta_ttl: "0s" })).toBe(48 * 3_600_000);
    expect(metaTtlMs({ history_meta_ttl: "1h" })).toBe(3_600_000);
  });

  it("is 30 days by default", () => {
    expect(optionsOf({}).historyMetaTtlMs).toBe(30 * 24 * 3_600_000);
  });
});

/** The value for a namespace with these options, where the channel section says 48h. */
function metaTtlMs(options: object): number | undefined {
  const channel = { history_meta_ttl: "48h", namespaces: [{ ...options, name: "chat" }] };
  return configOf({ channel }).channel.namespaces.get("chat")?.historyMetaTtlMs;
}

/** `{historyTtlMs: 60000}` as the operator writes it: `{history_ttl: "60s"}`. */
function snakeCase(property: string, value: ChannelOptions[keyof ChannelOptions]): object {
  const isDuration = property.endsWith("Ms");
  if (property === "allowDelta") return { allowed_delta_types: ["fossil"] };
  // The other option that has another name here.
  const name = property
    .replace("recoveryMode", "forceRecoveryMode")
    .replace(/Ms$/, "")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (isDuration) return { [name]: `${Number(value) / 1_000}s` };
  return { [name]: value instanceof Pattern ? value.source : value };
}
