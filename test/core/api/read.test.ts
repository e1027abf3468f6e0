import { describe, expect, it } from "vitest";
import { parseChannelRequest } from "../../../src/api/read.ts";
import { channelConfig } from "./channel-config.ts";

const config = channelConfig();

describe.each(["history_remove", "presence", "presence_stats"] as const)(
  "a %s request",
  (method) => {
    it("[W1] asks its channel", () => {
      expect(parseChannelRequest(method, `{"channel":"news","x":1}`, config)).toStrictEqual({
        outcome: "call",
        channel: "news",
        command: { method },
      });
    });

    it("[W1] is refused without a channel and for an unknown namespace", () => {
      expect(parseChannelRequest(method, "{}", config)).toMatchObject({
        outcome: "refused",
        error: { code: 107 },
      });
      expect(parseChannelRequest(method, `{"channel":"strange:a"}`, config)).toMatchObject({
        error: { code: 102 },
      });
    });

    it("[W4] is malformed when the channel is no string", () => {
      expect(parseChannelRequest(method, `{"channel":{}}`, config)).toStrictEqual({
        outcome: "malformed",
        detail: "the field channel must be a string",
      });
    });
  },
);
