import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TrackSignatures } from "../../../workers/platform/key-signatures.ts";

/** As docs/shared-poll.md says it. */
function sign(
  secret: string,
  keys: readonly string[],
  user: string,
  channel: string,
  expireAt = 2_000,
): string {
  const digest = createHash("sha256").update(keys.join("\0")).digest("hex");
  const text = ["1000", `${expireAt}`, user, channel, digest].join("\0");
  return `1000:${expireAt}:${createHmac("sha256", secret).update(text).digest("hex")}`;
}

const keys = ["a", "ключ", "c"];

/** The verdict on a signature, for Ada's keys at second 1,500. */
async function verdict(signature: string, given: readonly string[] = keys, user = "ada") {
  const signatures = new TrackSignatures({
    current: "current",
    previous: "previous",
    previousValidUntilSeconds: 0,
  });
  const items = given.map((key) => ({ key, version: 0n }));
  const [one] = await signatures.verify([{ signature, items }], user, "prices:eu", 1_500_000);
  return one?.outcome;
}

describe("the signatures of keys", () => {
  it("[SP1] are those of one of the secrets, over the times, the user, the channel and the keys", async () => {
    expect(await verdict(sign("current", keys, "ada", "prices:eu"))).toBe("verified");
    expect(await verdict(sign("previous", keys, "ada", "prices:eu"))).toBe("verified");
    expect(await verdict(sign("current", keys, "ada", "prices:eu", 1_400))).toBe("expired");
    expect(await verdict(sign("current", [], "", "prices:eu"), [], "")).toBe("verified");
  });

  it.each([
    ["another secret", sign("other", keys, "ada", "prices:eu")],
    ["an empty secret", sign("", keys, "ada", "prices:eu")],
    ["another user", sign("current", keys, "bob", "prices:eu")],
    ["another channel", sign("current", keys, "ada", "prices:us")],
    ["keys in another order", sign("current", keys.toReversed(), "ada", "prices:eu")],
    ["fewer keys", sign("current", ["a"], "ada", "prices:eu")],
    ["other times", sign("current", keys, "ada", "prices:eu").replace(":2000:", ":9000:")],
    ["nothing", ""],
  ])("[SP1] aren't those with %s", async (_, signature) => {
    expect(await verdict(signature)).toBe("invalid");
  });

  it("[SP1] aren't valid for parts that are divided otherwise", async () => {
    expect(await verdict(sign("current", ["a\0b"], "ada", "prices:eu"), ["a\0b"])).toBe("invalid");
    expect(await verdict(sign("current", ["a"], "a\0b", "prices:eu"), ["a"], "a\0b")).toBe(
      "invalid",
    );
  });

  it("[SP1] are all invalid without a secret", async () => {
    const items = [{ key: "a", version: 0n }];
    const signature = sign("", ["a"], "ada", "prices:eu");
    const none = new TrackSignatures({ current: "", previous: "", previousValidUntilSeconds: 0 });
    expect(await none.verify([{ signature, items }], "ada", "prices:eu", 0)).toEqual([
      { outcome: "invalid" },
    ]);
  });

  it("[SP1] are those of the previous secret until it ends", async () => {
    const items = [{ key: "a", version: 0n }];
    const signature = sign("previous", ["a"], "ada", "prices:eu", 0);
    const signatures = new TrackSignatures({
      current: "current",
      previous: "previous",
      previousValidUntilSeconds: 1_500,
    });
    const outcomeAt = async (nowMs: number) => {
      const batches = [{ signature, items }];
      const [one] = await signatures.verify(batches, "ada", "prices:eu", nowMs);
      return one?.outcome;
    };
    expect([await outcomeAt(1_500_000), await outcomeAt(1_500_001)]).toEqual([
      "verified",
      "invalid",
    ]);
  });
});
