import { describe, expect, it } from "vitest";
import type { Entry } from "../../../src/api/command.ts";
import { planCalls } from "../../../src/api/calls.ts";
import { parseEntry } from "../../../src/api/methods.ts";
import { availableEntry } from "../../../src/api/order-methods.ts";
import { encodeStatuses, usersByHome } from "../../../src/api/status-methods.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const update = (request: object) =>
  parseEntry("update_user_status", JSON.stringify(request), caller());
const get = (request: object, from = caller()) =>
  parseEntry("get_user_status", JSON.stringify(request), from);
const many = (count: number) => Array.from({ length: count }, (_, index) => `user${index}`);

describe("a request for users' status", () => {
  it("[U25] names users, each once", () => {
    expect(update({ users: ["b", "a", "b"], state: "busy" })).toStrictEqual({
      outcome: "question",
      question: { method: "update_user_status", users: ["b", "a"], state: "busy" },
    });
    expect(get({ users: ["b", "a", "b"] })).toStrictEqual({
      outcome: "question",
      question: { method: "get_user_status", users: ["b", "a"] },
    });
  });

  it("[B2] is answered 107 for no users, too many, and what is too large", () => {
    const long = "x".repeat(limits.userCharactersMax + 1);
    for (const users of [[], [""], ["a", ""], many(limits.statusUsersMax + 1), [long], ["\uD800"]])
      expect(get({ users })).toMatchObject({ error: { code: 107 } });
    expect(get({ users: many(limits.statusUsersMax) })).toMatchObject({ outcome: "question" });
    const state = "é".repeat(limits.statusBytesMax / 2);
    expect(update({ users: ["a"], state })).toMatchObject({ outcome: "question" });
    expect(update({ users: ["a"], state: `${state}x` })).toMatchObject({ error: { code: 107 } });
  });

  it("[U25] [A14] is admitted by a key for all channels, and where it is switched on", () => {
    const one = caller({ methods: ["*"], channels: ["news"] });
    expect(get({ users: ["a"] }, one)).toMatchObject({ error: { code: 103 } });
    const question = { method: "delete_user_status", users: ["a"] } as const;
    const asked: Entry = { outcome: "question", question };
    expect(availableEntry(asked, { enabled: true, status: true })).toBe(asked);
    expect(availableEntry(asked, { enabled: true, status: false })).toMatchObject({
      error: { code: 108 },
      detail: "client.users.status.enabled is false",
    });
  });

  it("[W3] counts in a batch as the homes that are called", () => {
    const users = many(limits.statusUsersMax);
    const question = { method: "get_user_status", users } as const;
    const asked: Entry = { outcome: "question", question };
    const most = Math.floor(limits.requestChannelsMax / limits.homes);
    const ask = (count: number) => planCalls(Array.from({ length: count }, () => asked));
    expect(ask(most).outcome).toBe("plan");
    expect(ask(most + 1)).toMatchObject({ error: { code: 107 } });
    expect(usersByHome(users).size).toBe(limits.homes);
  });
});

describe("the statuses of users", () => {
  const ada = { user: "ada", activeSeconds: 1, onlineSeconds: 2, state: "busy" };
  const bob = { user: "bob", activeSeconds: 0, onlineSeconds: 0, state: "" };

  it("[U25] are written in the order of the request", () => {
    expect(encodeStatuses(["bob", "ada"], [{ statuses: [ada] }, { statuses: [bob] }])).toBe(
      '{"statuses":[{"user":"bob","active":0,"online":0,"state":""},{"user":"ada","active":1,"online":2,"state":"busy"}]}',
    );
  });

  it("[U25] are incomplete without the answer of a home or of an object", () => {
    const shown =
      '{"statuses":[{"user":"ada","active":1,"online":2,"state":"busy"}],"incomplete":true}';
    expect(encodeStatuses(["bob", "ada"], [{ statuses: [ada] }, undefined])).toBe(shown);
    expect(encodeStatuses(["ada"], [{ statuses: [ada], incomplete: true }])).toBe(shown);
  });
});
