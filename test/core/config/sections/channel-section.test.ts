import { describe, expect, it } from "vitest";
import { configOf, problemsOf } from "../parsed.ts";

const channelProblems = (channel: object) => problemsOf({ channel });

describe("[A8] the channel section", () => {
  it("gives each namespace its own options, in order, and none of another's", () => {
    const { channel } = configOf({
      channel: {
        without_namespace: { join_leave: true },
        namespaces: [{ name: "chat", presence: true }, { name: "a.B-9_" }],
      },
    });
    expect([...channel.namespaces.keys()]).toEqual(["chat", "a.B-9_"]);
    const off = configOf({}).channel.withoutNamespace;
    expect(channel.withoutNamespace).toStrictEqual({ ...off, joinLeave: true });
    expect(channel.namespaces.get("chat")).toStrictEqual({ ...off, presence: true });
    expect(channel.namespaces.get("a.B-9_")).toStrictEqual(off);
  });

  it("takes a publication_data_format for namespaces that have none", () => {
    const { channel } = configOf({
      channel: {
        publication_data_format: "json_object",
        namespaces: [
          { name: "own", publication_data_format: "binary" },
          { name: "empty", publication_data_format: "" },
        ],
      },
    });
    const all = [channel.withoutNamespace, ...channel.namespaces.values()];
    const formats = all.map(({ publicationDataFormat }) => publicationDataFormat);
    expect(formats).toEqual(["json_object", "binary", "json_object"]);
    expect(channelProblems({ publication_data_format: "xml" })).toEqual([
      'channel.publication_data_format: "xml" is not one of "", "json", "json_object", "binary"',
    ]);
  });

  it("takes __proto__ and constructor for namespace names like any other", () => {
    const { channel } = configOf({
      channel: { namespaces: [{ name: "__proto__" }, { name: "constructor", presence: true }] },
    });
    expect(channel.namespaces.get("constructor")?.presence).toBe(true);
    expect(channel.namespaces.get("__proto__")?.presence).toBe(false);
    expect(channel.namespaces.size).toBe(2);
  });

  const meaning = "is not a namespace name: two or more of A-Z, a-z, 0-9, -, _ and .";
  it.each([
    ["a", `channel.namespaces[0] ("a").name: "a" ${meaning}`],
    ["a:b", `channel.namespaces[0] ("a:b").name: "a:b" ${meaning}`],
    ["ab\n", String.raw`channel.namespaces[0] ("ab\n").name: "ab\n" ${meaning}`],
    ["", `channel.namespaces[0].name: "" ${meaning}`],
    [undefined, "channel.namespaces[0].name is missing"],
  ])("refuses %j for the name of a namespace", (name, problem) => {
    expect(channelProblems({ namespaces: [{ name }] })).toEqual([problem]);
  });

  it("refuses a name that another namespace has, naming both", () => {
    const namespaces = [{ name: "chat" }, { name: "news" }, { name: "chat" }];
    expect(channelProblems({ namespaces })).toEqual([
      'channel.namespaces[2] ("chat").name is already the name of channel.namespaces[0] ("chat")',
    ]);
  });

  it("reports two missing names as missing, not as duplicates, and no name for a value that isn't an object", () => {
    expect(channelProblems({ namespaces: [{}, {}, "chat"] })).toEqual([
      "channel.namespaces[2] must be an object, found a string",
      "channel.namespaces[0].name is missing",
      "channel.namespaces[1].name is missing",
    ]);
  });

  it("takes a name only for namespaces", () => {
    expect(channelProblems({ without_namespace: { name: "chat" } })).toEqual([
      "channel.without_namespace.name is unknown",
    ]);
  });
});
