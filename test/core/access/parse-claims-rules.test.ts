import { describe, expect, it } from "vitest";
import {
  type ClaimRules,
  parseConnectionClaims,
  parseSubscriptionClaims,
} from "../../../src/access/parse-claims.ts";

const noRules: ClaimRules = { userIdClaim: "sub" };
const nowMs = 1_700_000_000_000;

/** The two kinds of token, each with a payload. */
const kinds = [
  [
    "connection",
    (more: string, rules = noRules) => parseConnectionClaims(`{${more}}`, rules, nowMs),
  ],
  [
    "subscription",
    (more: string, rules = noRules) => {
      const payload = `{"channel":"room"${more === "" ? "" : `,${more}`}}`;
      return parseSubscriptionClaims(payload, rules, nowMs);
    },
  ],
] as const;

describe.each(kinds)("the rules for the claims of a %s token", (_, parse) => {
  const us = { userIdClaim: "sub", audience: "us" };
  const ours = { userIdClaim: "sub", audienceRegex: /^us-\d+$/u };
  const house = { userIdClaim: "sub", issuer: "house" };
  const houses = { userIdClaim: "sub", issuerRegex: /^https:\/\/[a-z]+\.house$/u };

  it.each<[string, string, ClaimRules]>([
    ["the audience", `"aud":"us"`, us],
    ["one of several audiences", `"aud":["them",1,null,"us"]`, us],
    ["an audience that matches", `"aud":"us-1"`, ours],
    ["one of several audiences that match", `"aud":["us","us-2"]`, ours],
    ["both, each by another audience", `"aud":["us","us-2"]`, { ...us, ...ours }],
    ["the issuer", `"iss":"house"`, house],
    ["an issuer that matches", `"iss":"https://a.house"`, houses],
    ["everything", `"aud":"us","iss":"house"`, { ...us, ...house }],
  ])("[A2] are kept by %s", (__, claims, rules) => {
    expect(parse(claims, rules)).toStrictEqual(parse(""));
  });

  it.each<[string, ClaimRules]>([
    ["", us],
    [`"aud":null`, us],
    [`"aud":[]`, us],
    [`"aud":"US"`, us],
    [`"aud":"us-4711"`, us],
    [`"aud":{"us":"us"}`, us],
    [`"aud":[["us"]]`, us],
    ["", ours],
    [`"aud":"them"`, ours],
    [`"aud":["us-","us-x4711"]`, ours],
    [`"aud":"us"`, { ...us, ...ours }],
    [`"aud":"us-1"`, { ...us, ...ours }],
  ])("[A2] are broken by another audience: {%s}", (claims, rules) => {
    const outcome = { outcome: "invalid", reason: 'unexpected "aud" claim' };
    expect(parse(claims, rules)).toStrictEqual(outcome);
  });

  it.each<[string, ClaimRules]>([
    ["", house],
    [`"iss":null`, house],
    [`"iss":"House"`, house],
    [`"iss":"house-4711"`, house],
    [`"iss":["house"]`, house],
    ["", houses],
    [`"iss":1`, houses],
    [`"iss":["https://a.house"]`, houses],
    [`"iss":"https://a.house.example"`, houses],
    [`"iss":"house"`, { ...house, ...houses }],
  ])("[A2] are broken by another issuer: {%s}", (claims, rules) => {
    const outcome = { outcome: "invalid", reason: 'unexpected "iss" claim' };
    expect(parse(claims, rules)).toStrictEqual(outcome);
  });

  it("[C3] say nothing of a token that has expired", () => {
    expect(parse(`"exp":1,"aud":"them","iss":"them"`, { ...us, ...house })).toMatchObject({
      outcome: "expired",
    });
  });

  it("[A2] take the user from the claim they name, and from no other", () => {
    const rules = { userIdClaim: "https://example.com/id" };
    expect(parse(`"sub":"a","https://example.com/id":"b"`, rules)).toMatchObject({
      outcome: "verified",
      claims: { user: "b" },
    });
    expect(parse(`"sub":"a"`, rules)).toMatchObject({ claims: { user: "" } });
    expect(parse(`"https://example.com/id":4711`, rules)).toStrictEqual({
      outcome: "invalid",
      reason: '"https://example.com/id" claim must be a well-formed string',
    });
  });

  it.each(["__proto__", "constructor", "toString"])(
    "[A2] take the user from the claim %s only where the token has it",
    (userIdClaim) => {
      expect(parse("", { userIdClaim })).toMatchObject({ claims: { user: "" } });
      expect(parse(`"${userIdClaim}":"b"`, { userIdClaim })).toMatchObject({
        claims: { user: "b" },
      });
    },
  );
});
