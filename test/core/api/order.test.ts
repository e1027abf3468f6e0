import { describe, expect, it } from "vitest";
import { availableEntry } from "../../../src/api/order-methods.ts";
import { planCalls } from "../../../src/api/calls.ts";
import { parseEntry } from "../../../src/api/methods.ts";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const disconnect = (request: object) => parseEntry("disconnect", JSON.stringify(request), caller());
const forced = { code: 3503, reason: "force disconnect" };

describe("a disconnect request", () => {
  it("[U1] names a user, and may name one of the user's connections", () => {
    expect(disconnect({ user: "ada" })).toStrictEqual({
      outcome: "order",
      user: "ada",
      order: { method: "disconnect", code: forced },
    });
    const narrow = { user: "ada", client: "c1", session: "s1", whitelist: ["c2"] };
    expect(disconnect(narrow)).toMatchObject({
      order: { client: "c1", session: "s1", whitelist: ["c2"] },
    });
  });

  it.each([
    [
      { code: 4321, reason: "no more" },
      { code: 4321, reason: "no more" },
    ],
    [{ code: 3000 }, { code: 3000, reason: "" }],
    [{ code: 4999 }, { code: 4999, reason: "" }],
    [{ reason: "no more" }, { code: 3503, reason: "no more" }],
    [{}, forced],
    [null, forced],
  ])("[U1] takes the code %j", (asked, code) => {
    expect(disconnect({ user: "ada", disconnect: asked })).toMatchObject({ order: { code } });
  });

  it.each([
    [{ disconnect: { code: 2999 } }, "disconnect.code must be 3000 to 4999"],
    [{ disconnect: { code: 5000 } }, "disconnect.code must be 3000 to 4999"],
    [{ disconnect: { reason: "é".repeat(62) } }, "disconnect.reason has more than 123 bytes"],
    [{ disconnect: { reason: "123" } }, "disconnect.reason must not be valid JSON"],
    [
      { whitelist: Array.from({ length: limits.orderWhitelistMax + 1 }, () => "c") },
      "whitelist has more than 1000 entries",
    ],
    [{ user: "x".repeat(limits.userCharactersMax + 1) }, "user has more than 16384 characters"],
  ])("[B2] is answered 107 for %.60j", (more, detail) => {
    expect(disconnect({ user: "ada", ...more })).toMatchObject({
      outcome: "refused",
      error: { code: 107 },
      detail,
    });
  });

  it("[B2] takes a reason of exactly the bytes that a close frame has room for", () => {
    const reason = `${"é".repeat(61)}x`;
    expect(disconnect({ user: "ada", disconnect: { reason } })).toMatchObject({
      order: { code: { reason } },
    });
    const whitelist = Array.from({ length: limits.orderWhitelistMax }, () => "c");
    expect(disconnect({ user: "ada", whitelist }).outcome).toBe("order");
    expect(disconnect({ user: "x".repeat(limits.userCharactersMax) }).outcome).toBe("order");
  });

  it("[A17] names what is wrong with the tags filter of a subscribe", () => {
    const filter = { key: "lang", cmp: "eq", val: "en" };
    expect(subscribe(filter)).toMatchObject({ order: { subscription: { serverFilter: filter } } });
    expect(subscribe(null)).toMatchObject({ outcome: "order" });
    expect(subscribe({ key: "lang", cmp: "nosuch" })).toMatchObject({
      error: { code: 107 },
      detail: "server_tags_filter is no valid filter",
    });
    expect(subscribe("text")).toMatchObject({ error: { code: 107 } });
  });

  it("[U6] without a user has to name one anonymous connection", () => {
    expect(disconnect({})).toMatchObject({ outcome: "refused", error: { code: 108 } });
    expect(disconnect({ client: "c1" })).toMatchObject({ outcome: "order", user: "" });
    expect(disconnect({ session: "s1" })).toMatchObject({ outcome: "order", user: "" });
  });

  it("[U5] is answered 108 where users have no homes", () => {
    const entry = disconnect({ user: "ada" });
    if (entry.outcome === "malformed") throw new Error(entry.detail);
    expect(availableEntry(entry, { enabled: true, status: false })).toBe(entry);
    expect(availableEntry(entry, { enabled: false, status: false })).toMatchObject({
      error: { code: 108 },
      detail: "client.users.enabled is false",
    });
  });
});

function subscribe(server_tags_filter: unknown) {
  const request = JSON.stringify({ user: "ada", channel: "news", server_tags_filter });
  return parseEntry("subscribe", request, caller());
}

function subscribeUntil(expire_at: number) {
  const request = JSON.stringify({ user: "ada", channel: "a", expire_at });
  return parseEntry("subscribe", request, { ...caller(), nowMs: 5_000 });
}

function unsubscribe(user: string, channel: string) {
  const entry = parseEntry("unsubscribe", JSON.stringify({ user, channel }), caller());
  if (entry.outcome === "malformed") throw new Error(entry.detail);
  return entry;
}

function parse(method: "block_user" | "unblock_user" | "refresh", request: object) {
  return parseEntry(method, JSON.stringify(request), caller());
}

const revoke = (request: object) => parseEntry("revoke_token", JSON.stringify(request), caller());

const invalidate = (request: object) =>
  parseEntry("invalidate_user_tokens", JSON.stringify(request), caller());

describe("a block", () => {
  it("[U9] names a user, and may end by itself", () => {
    expect(parse("block_user", { user: "ada", expire_at: 7 })).toStrictEqual({
      outcome: "order",
      user: "ada",
      order: { method: "block_user", expireAtSeconds: 7 },
    });
    expect(parse("unblock_user", { user: "ada" })).toMatchObject({ user: "ada" });
    for (const method of ["block_user", "unblock_user"] as const)
      expect(parse(method, {})).toMatchObject({ error: { code: 107 }, detail: "user is required" });
  });
});

describe("a revocation", () => {
  it("[U10] names a token by its jti, and no user", () => {
    expect(revoke({ uid: "t1", expire_at: 7 })).toStrictEqual({
      outcome: "order",
      user: tokenKey("t1"),
      order: { method: "revoke_token", expireAtSeconds: 7 },
    });
    expect(disconnect({ user: tokenKey("t1") })).not.toMatchObject({ user: tokenKey("t1") });
  });

  it.each([
    [{}, "uid is required"],
    [
      { uid: "x".repeat(limits.tokenUidCharactersMax + 1) },
      "uid must be well-formed Unicode of at most 256 characters",
    ],
    [{ uid: "\ud800" }, "uid must be well-formed Unicode of at most 256 characters"],
  ])("[B2] is answered 107 for %.40j", (request, detail) => {
    expect(revoke(request)).toMatchObject({ error: { code: 107 }, detail });
  });
});

describe("an invalidation of a user's tokens", () => {
  it("[U11] [U29] names a user, and may name a channel and times", () => {
    const order = { method: "invalidate_user_tokens", channel: "", issuedBeforeSeconds: 0 };
    expect(invalidate({ user: "ada" })).toStrictEqual({
      outcome: "order",
      user: "ada",
      order: { ...order, expireAtSeconds: 0 },
    });
    const narrow = { user: "ada", channel: "news", issued_before: 5, expire_at: 9 };
    expect(invalidate(narrow)).toMatchObject({
      order: { channel: "news", issuedBeforeSeconds: 5, expireAtSeconds: 9 },
    });
  });

  it("[U11] is refused without a user, and for a channel that can't exist", () => {
    for (const request of [{}, { channel: "news" }])
      expect(invalidate(request)).toMatchObject({
        error: { code: 107 },
        detail: "user is required",
      });
    expect(invalidate({ user: "ada", channel: "unknown:a" })).toMatchObject({
      error: { code: 102 },
    });
  });
});

describe("a subscribe or refresh request", () => {
  it("[U7] passes on info and data as they were written, or from base64", () => {
    const request = `{"user":"ada","channel":"news","info":{"n":1.0},"b64data":"eyJhIjoxfQ==","expire_at":9,
      "recover_since":{"offset":3,"epoch":"e"},"override":{"presence":{"value":true},"join_leave":null}}`;
    expect(parseEntry("subscribe", request, caller())).toStrictEqual({
      outcome: "order",
      user: "ada",
      order: {
        method: "subscribe",
        subscription: {
          channel: "news",
          override: { presence: true },
          info: '{"n":1.0}',
          data: '{"a":1}',
        },
        expireAtSeconds: 9,
        recoverSince: { offset: 3, epoch: "e" },
      },
    });
  });

  it("[U28] is answered 100 if it is a subscribe that has ended", () => {
    expect(subscribeUntil(5)).toMatchObject({
      error: { code: 100, temporary: false },
      detail: "expire_at has passed",
    });
    for (const seconds of [0, 6])
      expect(subscribeUntil(seconds)).toMatchObject({ outcome: "order" });
  });

  it("[U8] [B2] has an info of at most what a session can keep", () => {
    const longest = "x".repeat(limits.sessionClaimsBytesMax - 2);
    expect(parse("refresh", { user: "ada", info: longest })).toMatchObject({
      outcome: "order",
      order: { expired: false },
    });
    expect(parse("refresh", { user: "ada", info: `${longest}x` })).toMatchObject({
      error: { code: 107 },
    });
    expect(parse("refresh", { user: "ada", b64info: "%" })).toMatchObject({ error: { code: 107 } });
  });

  it("[B2] has at most so many characters in all", () => {
    const client = "x".repeat(limits.orderCharactersMax);
    expect(disconnect({ user: "ada", client })).toMatchObject({ error: { code: 107 } });
  });
});

describe("a request that says on whom it acts", () => {
  const label_filter = { key: "tier", cmp: "eq", val: "pro" };
  it.each([
    ["disconnect", { all_users: true }, "all_users"],
    ["disconnect", { label_filter }, "label_filter"],
    ["refresh", { label_filter: {} }, "label_filter"],
    ["unsubscribe", { channel: "news", label_filter }, "label_filter"],
    ["subscribe", { channel: "news", all_users: true }, "all_users"],
    ["connections", { label_filter }, "label_filter"],
    ["unsubscribe", { channel: "news", whitelist: ["c1"] }, "whitelist"],
    ["refresh", { whitelist: ["c1"] }, "whitelist"],
    ["block_user", { client: "c1" }, "client"],
    ["unblock_user", { session: "s1" }, "session"],
    ["invalidate_user_tokens", { client: "c1" }, "client"],
    ["revoke_token", { uid: "t1", client: "c1" }, "client"],
  ] as const)(
    "[W10] is answered 107 for a field that %s doesn't read: %j",
    (method, more, name) => {
      const request = { user: "ada", ...more };
      expect(parseEntry(method, JSON.stringify(request), caller())).toMatchObject({
        error: { code: 107 },
        detail: `${name} is not a field of this method`,
      });
    },
  );

  it("[W10] may have such a field if it says nothing, and any other one", () => {
    const nothing = {
      all_users: false,
      label_filter: null,
      whitelist: [],
      client: "",
      session: "",
    };
    for (const method of ["refresh", "block_user"] as const) {
      const request = JSON.stringify({ user: "ada", ...nothing, nosuch: 1 });
      expect(parseEntry(method, request, caller())).toMatchObject({ outcome: "order" });
    }
  });
});

describe("the orders of one request", () => {
  it("[W3] share a call for each user, in their order", () => {
    const entries = [unsubscribe("ada", "a"), unsubscribe("bob", "a"), unsubscribe("ada", "b")];
    const plan = planCalls(entries);
    if (plan.outcome === "refused") throw new Error(plan.detail);
    expect(plan.calls).toMatchObject([
      { user: "ada", orders: [{ channel: "a" }, { channel: "b" }], entryIndexes: [0, 2] },
      { user: "bob", orders: [{ channel: "a" }], entryIndexes: [1] },
    ]);
    expect(unsubscribe("ada", "unknown:a")).toMatchObject({ error: { code: 102 } });
  });
});
