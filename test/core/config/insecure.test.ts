import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/parse-config.ts";

const keys = ["client", "http_api", "admin"] as const;

describe("an insecure mode", () => {
  it.each(keys)("[A11] is refused outside development: %s.insecure", (section) => {
    expect(parseConfig({ [section]: { insecure: true } })).toEqual({
      outcome: "bad",
      problems: [`${section}.insecure is for npm start only`],
    });
    expect(parseConfig({ [section]: { insecure: false } }).outcome).toBe("config");
  });

  it.each([
    ["client", "lets every client do everything"],
    ["http_api", "needs no API key"],
    ["admin", "has nothing to open"],
  ])("[A11] is noted in development: %s.insecure", (section, effect) => {
    const parsed = parseConfig({ [section]: { insecure: true } }, { development: true });
    expect(parsed).toMatchObject({
      outcome: "config",
      notes: [`${section}.insecure ${effect}`],
    });
  });

  it("[A11] opens every namespace to clients, and turns no feature on", () => {
    const options = { allow_user_limited_channels: true, presence: true };
    const input = {
      client: { insecure: true },
      channel: { without_namespace: options, namespaces: [{ name: "chat" }] },
    };
    const parsed = parseConfig(input, { development: true });
    if (parsed.outcome === "bad") throw new Error(parsed.problems.join());
    const { client, channel } = parsed.config;
    expect(client.allowAnonymousConnectWithoutToken).toBe(true);
    const chat = channel.namespaces.get("chat");
    for (const each of [channel.withoutNamespace, chat]) {
      expect(each).toMatchObject({
        allowSubscribeForClient: true,
        allowSubscribeForAnonymous: true,
        allowPublishForClient: true,
        allowPublishForAnonymous: true,
        allowPresenceForClient: true,
        allowPresenceForAnonymous: true,
        allowHistoryForClient: true,
        allowHistoryForAnonymous: true,
        allowUserLimitedChannels: false,
        historySize: 0,
      });
    }
    expect(channel.withoutNamespace.presence).toBe(true);
    expect(chat?.presence).toBe(false);
  });
});
