import { describe, expect, it } from "vitest";
import { resolveChannel, unknownNamespace } from "../../../src/channel/channel-name.ts";
import type { ChannelConfig } from "../../../src/config/config.ts";
import { configured } from "../../support/configured.ts";

/** The namespaces differ in their history size; 1 is the one of channels without a namespace. */
const channel = configured({
  channel: {
    without_namespace: { history_size: 1, history_ttl: "1s" },
    namespaces: [
      { name: "chat", history_size: 2, history_ttl: "1s" },
      {
        name: "dialog",
        history_size: 3,
        history_ttl: "1s",
        allow_user_limited_channels: true,
      },
      { name: "word", history_size: 4, history_ttl: "1s", channel_regex: "^\\p{L}+$" },
      {
        name: "both",
        channel_regex: "^[a-z]+#\\d+(,\\d+)*$",
        allow_user_limited_channels: true,
      },
    ],
  },
}).channel;

const unknown = { outcome: "unknown-namespace" };

function resolve(name: string, changes: Partial<ChannelConfig> = {}) {
  const resolved = resolveChannel(name, { ...channel, ...changes });
  if (resolved.outcome !== "resolved") return resolved;
  const { options, private: isPrivate, users } = resolved;
  return { size: options.historySize, isPrivate, users };
}

describe("the namespace in a channel name", () => {
  it.each([
    ["news", 1],
    ["a b/c?d&e=f\u0000~\u007F", 1],
    ["chat:news", 2],
    ["chat:", 2],
    ["chat:news:today", 2],
    ["$news", 1],
    ["$chat:news", 2],
    ["$", 1],
    ["chat", 1],
    ["dialog#42", 1],
  ])("[C6] is what stands before the first boundary: %j", (name, size) => {
    expect(resolve(name)).toMatchObject({ size });
  });

  it.each([
    "news:chat",
    ":news",
    "CHAT:news",
    "$:news",
    "$$chat:news",
    "chat news:x",
    "constructor:x",
  ])("[A1] must be configured: %j", (name) => {
    expect(resolve(name)).toEqual(unknown);
  });

  it("[C6] has the boundary that is configured, of any length", () => {
    const slashes = { namespaceBoundary: "//" };
    expect(resolve("chat//news", slashes)).toMatchObject({ size: 2 });
    expect(resolve("chat:news", slashes)).toMatchObject({ size: 1 });
    expect(resolve("chat/news", slashes)).toMatchObject({ size: 1 });
    expect(resolve("news//chat", slashes)).toEqual(unknown);
    expect(resolve("word//é", slashes)).toMatchObject({ size: 4 });
    expect(resolve("chat:news", { namespaceBoundary: "" })).toMatchObject({ size: 1 });
  });
});

describe("the private prefix", () => {
  it.each([
    ["$news", true],
    ["$chat:news", true],
    ["news", false],
    ["news$", false],
    ["chat:$news", false],
  ])("[A5] counts only in front: %j", (name, isPrivate) => {
    expect(resolve(name)).toMatchObject({ isPrivate });
  });

  it("[A5] is what is configured, or nothing", () => {
    const long = { privatePrefix: "private-" };
    expect(resolve("private-chat:news", long)).toMatchObject({ size: 2, isPrivate: true });
    expect(resolve("$news", long)).toMatchObject({ size: 1, isPrivate: false });
    expect(resolve("$news", { privatePrefix: "" })).toMatchObject({ size: 1, isPrivate: false });
  });
});

describe("the users in a channel name", () => {
  it.each([
    ["dialog:#42", ["42"]],
    ["dialog:room#42", ["42"]],
    ["dialog:room#42,43", ["42", "43"]],
    ["dialog:room#1#42,43", ["42", "43"]],
    ["dialog:room#", [""]],
    ["dialog:room#42,", ["42", ""]],
    ["dialog:room# 42", [" 42"]],
    ["$dialog:room#42", ["42"]],
    ["dialog:room", undefined],
    ["chat:room#42", undefined],
    ["room#42", undefined],
  ])("[A5] stand after the last boundary, where the namespace limits users: %j", (name, users) => {
    expect(resolve(name)).toHaveProperty("users", users);
  });

  it("[A5] are divided as configured", () => {
    expect(resolve("dialog:room@42;43", { userBoundary: "@", userSeparator: ";" })).toMatchObject({
      users: ["42", "43"],
    });
    expect(resolve("dialog:room##4#2", { userBoundary: "##" })).toMatchObject({ users: ["4#2"] });
    expect(resolve("dialog:room#42,43", { userSeparator: "" })).toMatchObject({ users: ["42,43"] });
    expect(resolve("dialog:room#42", { userBoundary: "" })).toHaveProperty("users", undefined);
  });
});

describe("the characters of a channel name", () => {
  const badCharacter = {
    outcome: "bad-name",
    reason: "the channel name has a character that is not allowed",
  };

  it.each(["é", "news\u0080", "chat:é", "dialog:room#é", "$chat:日本", "chat:😀"])(
    "[A1] are ASCII where no expression says otherwise: %j",
    (name) => {
      expect(resolve(name)).toEqual(badCharacter);
    },
  );

  it("[A1] match the namespace's expression, from the namespace on", () => {
    for (const name of ["word:é", "$word:日本", "word:a"]) {
      expect(resolve(name)).toMatchObject({ size: 4 });
    }
    for (const name of ["word:", "word:a1", "word:a:b", "word:#a"]) {
      expect(resolve(name)).toEqual(badCharacter);
    }
    expect(resolve("both:room#42,43")).toMatchObject({ users: ["42", "43"] });
    expect(resolve("both:room")).toEqual(badCharacter);
    // The same name asked twice is the same name.
    expect(resolve("word:é")).toEqual(resolve("word:é"));
  });
});

describe("the length of a channel name", () => {
  it("[B1] is 1 to 255 bytes unless configured", () => {
    expect(resolve("")).toEqual({ outcome: "bad-name", reason: "the channel name is empty" });
    expect(resolve("x".repeat(255))).toMatchObject({ size: 1 });
    expect(resolve("x".repeat(256))).toEqual({
      outcome: "bad-name",
      reason: "the channel name is over 255 bytes",
    });
    expect(resolve("xxxx", { maxLengthBytes: 3 })).toMatchObject({ outcome: "bad-name" });
  });

  it("[B1] is counted in bytes of UTF-8, with prefix and namespace", () => {
    expect(resolve(`word:${"é".repeat(125)}`)).toMatchObject({ size: 4 });
    expect(resolve(`word:${"é".repeat(126)}`)).toMatchObject({ outcome: "bad-name" });
    expect(resolve(`$word:${"é".repeat(125)}`)).toMatchObject({ outcome: "bad-name" });
  });
});

describe("why a channel is unknown", () => {
  it.each([
    ["chats:1", "chats; did you mean chat?"],
    ["$dialogs:1", "dialogs; did you mean dialog?"],
    ["orders:1", "orders"],
    [":1", '""'],
    ["a\nb:1", '"a\\nb"'],
    [`${"x".repeat(200)}:1`, `"${"x".repeat(64)}"…`],
  ])("[W1] names the namespace, and the nearest one: %j", (name, text) => {
    expect(unknownNamespace(name, channel)).toBe(`channel.namespaces doesn't have ${text}`);
  });
});
