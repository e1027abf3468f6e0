import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "./parsed.ts";

const history = { history_size: 1, history_ttl: "1s" };

const optionsOf = (options: object) =>
  configOf({ channel: { without_namespace: options } }).channel.withoutNamespace;
const optionProblems = (options: object) => problemsOf({ channel: { without_namespace: options } });
const path = "channel.without_namespace";

describe("[A8] channel options", () => {
  const refused: readonly [string, unknown, string][] = [
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
