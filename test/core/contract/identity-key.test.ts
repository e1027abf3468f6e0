import { describe, expect, it } from "vitest";
import { tokenKey, uidOfKey, userKey, userOfKey } from "../../../src/contract/identity-key.ts";

describe("the key of a user or a token", () => {
  const odd = [
    "\u0001token:a",
    "\u0001user:a",
    "\u0001user:\u0001token:a",
    "\u0001",
    "",
    "token:a",
  ];

  it.each(["ada", "42", ...odd])("[U10] of user %j is never that of a token", (user) => {
    const key = userKey(user);
    expect(uidOfKey(key)).toBeUndefined();
    expect(userOfKey(key)).toBe(user);
  });

  it.each(["a", ...odd])("[U10] of token %j names the token", (uid) => {
    expect(uidOfKey(tokenKey(uid))).toBe(uid);
  });

  it("[V1] is the ID of nearly every user", () => {
    expect(["ada", "", "user:1", "token:1"].map(userKey)).toStrictEqual([
      "ada",
      "",
      "user:1",
      "token:1",
    ]);
    expect(tokenKey("a")).toBe("\u0001token:a");
  });
});
