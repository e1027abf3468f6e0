import { describe, expect, it } from "vitest";
import { parseEntry } from "../../../src/api/methods.ts";
import { caller } from "./channel-config.ts";

const backend = caller();

describe.each(["history_remove", "presence", "presence_stats"] as const)(
  "a %s request",
  (method) => {
    it("[W1] asks its channel", () => {
      expect(parseEntry(method, `{"channel":"news","x":1}`, backend)).toStrictEqual({
        outcome: "call",
        channel: "news",
        command: { method },
      });
    });

    it("[W1] is refused without a channel and for an unknown namespace", () => {
      expect(parseEntry(method, "{}", backend)).toMatchObject({
        outcome: "refused",
        error: { code: 107 },
      });
      expect(parseEntry(method, `{"channel":"strange:a"}`, backend)).toMatchObject({
        error: { code: 102 },
      });
    });
  },
);
