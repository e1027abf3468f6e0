import { describe, expect, it } from "vitest";
import type { SubscriptionOverride } from "../../../src/access/claims.ts";
import {
  type ClaimRules,
  parseConnectionClaims,
  parseSubscriptionClaims,
} from "../../../src/access/parse-claims.ts";
import { limits } from "../../../src/limits.ts";

const nowMs = 1_700_000_000_500;
const nowSeconds = nowMs / 1000;
/** The rules of a configuration without token options. */
const noRules: ClaimRules = { userIdClaim: "sub" };

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function connection(payload: string) {
  return parseConnectionClaims(payload, noRules, nowMs);
}

/** A subscription token for channel `room`, with more claims. */
function subscription(more: string) {
  const payload = `{"channel":"room"${more === "" ? "" : `,${more}`}}`;
  return parseSubscriptionClaims(payload, noRules, nowMs);
}

/** The two kinds of token, each with a payload with more claims. */
const kinds = [
  ["connection", (more: string) => connection(`{${more}}`)],
  ["subscription", subscription],
] as const;

describe("the payload of a connection token", () => {
  it("[A1] without claims is nobody's and never ends", () => {
    expect(connection("{}")).toStrictEqual({
      outcome: "verified",
      claims: { user: "", expireAtSeconds: 0 },
    });
  });

  it("[W1] may say everything at once", () => {
    const payload = `{"sub":"42","exp":1700000100,"nbf":1700000000,"iat":1,"jti":"x","info":{"a":1},"aud":["b"],"channels":[],"meta":1}`;
    expect(connection(payload)).toStrictEqual({
      outcome: "verified",
      claims: {
        user: "42",
        expireAtSeconds: 1_700_000_100,
        uid: "x",
        issuedAtSeconds: 1,
        info: `{"a":1}`,
        meta: "1",
      },
    });
  });

  it.each([[`"room"`], [`""`], ["1"], ["null"]])(
    "[A4] with a channel opens no connection: %s",
    (channel) => {
      expect(connection(`{"sub":"42","channel":${channel}}`).outcome).toBe("invalid");
    },
  );
});

describe("the payload of a subscription token", () => {
  it("[A4] says which channel it opens, and to whom", () => {
    expect(subscription(`"sub":"42"`)).toStrictEqual({
      outcome: "verified",
      claims: { user: "42", channel: "room", client: "", expireAtSeconds: 0, override: {} },
    });
  });

  it("[W1] may say everything at once", () => {
    const more = `"sub":"42","client":"c1","exp":1700000100,"info":[1],"data":{"b":2},"override":{"presence":{"value":true}}`;
    expect(subscription(more)).toStrictEqual({
      outcome: "verified",
      claims: {
        user: "42",
        channel: "room",
        client: "c1",
        expireAtSeconds: 1_700_000_100,
        info: "[1]",
        data: `{"b":2}`,
        override: { presence: true },
      },
    });
  });

  it.each([
    [""],
    [`,"channel":""`],
    [`,"channel":1`],
    [`,"channel":null`],
    [`,"channel":["room"]`],
  ])("[A4] without a channel opens none: {sub%s}", (channel) => {
    expect(parseSubscriptionClaims(`{"sub":"42"${channel}}`, noRules, nowMs)).toStrictEqual({
      outcome: "invalid",
      reason: '"channel" claim is missing',
    });
  });

  it.each([["1"], ["[]"], ["{}"], ["false"]])("[A4] must name a client by text: %s", (client) => {
    expect(subscription(`"client":${client}`).outcome).toBe("invalid");
  });
});

describe.each(kinds)("the payload of a %s token", (_, parse) => {
  it.each([["1"], ["[]"], ["{}"], ["true"], [String.raw`"a\ud800"`]])(
    "[A2] must name its user by text: %s",
    (sub) => {
      expect(parse(`"sub":${sub}`)).toStrictEqual({
        outcome: "invalid",
        reason: '"sub" claim must be a well-formed string',
      });
    },
  );

  it("[A2] takes null for no user", () => {
    expect(parse(`"sub":null`)).toMatchObject({ outcome: "verified", claims: { user: "" } });
  });

  it.each([
    ["exp", "ended long ago", 0],
    ["exp", "ended before 1970", -1],
    ["exp", "ended a moment before 1970", -0.5],
    ["exp", "ended a moment ago", nowSeconds - 0.001],
    ["exp", "ends now", nowSeconds],
    ["nbf", "begins in a moment", nowSeconds + 0.001],
    ["nbf", "begins in a year", nowSeconds + 31_536_000],
  ])("[C3] has expired when %s %s", (claim, __, time) => {
    expect(parse(`"${claim}":${time}`)).toMatchObject({ outcome: "expired" });
  });

  it("[C3] has expired by exp whatever expire_at says", () => {
    const past = nowSeconds - 1;
    expect(parse(`"exp":${past},"expire_at":0`)).toMatchObject({ outcome: "expired" });
    expect(parse(`"exp":${past},"expire_at":${nowSeconds + 9}`)).toMatchObject({
      outcome: "expired",
    });
  });

  it.each([
    [`"exp":1700000009`, 1_700_000_009],
    [`"exp":1700000009.9`, 1_700_000_009],
    [`"exp":1.700000009e9`, 1_700_000_009],
    [`"exp":"1700000009"`, 1_700_000_009],
    [`"exp":"1.700000009e9"`, 1_700_000_009],
    [`"nbf":"1600000000"`, 0],
    [`"iat":"-1.5"`, 0],
    [`"exp":null`, 0],
    [`"nbf":1700000000.5`, 0],
    [`"nbf":0`, 0],
    [`"nbf":-1`, 0],
    [`"exp":1700000009,"expire_at":1700000300`, 1_700_000_300],
    [`"exp":1700000300,"expire_at":1700000009`, 1_700_000_009],
    [`"exp":1700000009,"expire_at":0`, 0],
    [`"exp":1700000009,"expire_at":null`, 1_700_000_009],
    [`"expire_at":1700000009`, 1_700_000_009],
    [`"expire_at":1600000000`, 1_600_000_000],
    [`"expire_at":0.5`, 1],
    [`"expire_at":-0.5`, 1],
    [`"expire_at":-1`, 1],
    [`"exp":1700000009,"expire_at":-1700000009`, 1],
    [`"iat":1900000000`, 0],
  ])("[C5] with {%s} ends what it opened at %i", (payload, expireAtSeconds) => {
    expect(parse(payload)).toMatchObject({ outcome: "verified", claims: { expireAtSeconds } });
  });

  it.each([["exp"], ["nbf"], ["expire_at"], ["iat"]])("[A2] must give %s as a number", (claim) => {
    const texts = [`" 1"`, `"1 "`, `"0x1"`, `"01"`, `"+1"`, `"1e999"`, `"NaN"`, `"tomorrow"`];
    for (const value of [...texts, "true", "false", "[]", "{}", `""`, "1e999", "-1e999"]) {
      expect(parse(`"${claim}":${value}`)).toStrictEqual({
        outcome: "invalid",
        reason: `"${claim}" claim must be a number`,
      });
    }
  });

  it("[U10] may name itself with a text of a bounded length", () => {
    const longest = "é".repeat(limits.tokenUidCharactersMax);
    expect(parse(`"jti":"${longest}","iat":1.5`)).toMatchObject({
      claims: { uid: longest, issuedAtSeconds: 1.5 },
    });
    for (const jti of [`"${longest}x"`, "1", "{}", "true", String.raw`"\ud800"`]) {
      expect(parse(`"jti":${jti}`)).toStrictEqual({
        outcome: "invalid",
        reason: '"jti" claim must be a well-formed string of at most 256 characters',
      });
    }
  });

  it("[W2] keeps the text of info as it was written, but for line breaks", () => {
    const info = `{ "n":1.00, "big":12345678901234567890,"n":2e0 ,"é":"\\u00e9<" }`;
    expect(parse(`"info" : ${info} `)).toMatchObject({ claims: { info } });
    expect(parse(`"info":{"a":\r\n1\n}`)).toMatchObject({ claims: { info: `{"a":1}` } });
  });

  it.each([["0"], ["false"], [`""`], ["[]"], ["{}"]])(
    "[W2] takes any value as info: %s",
    (info) => {
      expect(parse(`"info":${info}`)).toMatchObject({ claims: { info } });
    },
  );

  it("[W2] takes null for no info", () => {
    expect(parse(`"info":null`)).toStrictEqual(parse(`"jti":null`));
    expect(parse(`"info":null,"b64info":null`)).toStrictEqual(parse(`"jti":""`));
  });

  it("[W2] takes the last of two infos, as of two users", () => {
    expect(parse(`"info":1,"info":2,"sub":"a","sub":"b"`)).toMatchObject({
      claims: { info: "2", user: "b" },
    });
  });

  it("[W1] takes b64info before info, wherever it stands", () => {
    const encoded = base64(`{ "n":1.00,"é":"😀" }`);
    for (const payload of [`"info":1,"b64info":"${encoded}"`, `"b64info":"${encoded}","info":1`]) {
      expect(parse(payload)).toMatchObject({ claims: { info: `{ "n":1.00,"é":"😀" }` } });
    }
  });

  it.each([[`""`], ["null"]])("[W1] takes an empty b64info for none: %s", (encoded) => {
    expect(parse(`"info":1,"b64info":${encoded}`)).toMatchObject({ claims: { info: "1" } });
  });

  it.each([
    ["no base64", `"!!!"`],
    ["base64 of no JSON", `"${base64("{")}"`],
    ["base64 of nothing but spaces", `"${base64(" ")}"`],
    ["base64 of JSON with a byte order mark", `"${base64("\uFEFF1")}"`],
    ["base64 of text that isn't UTF-8", `"${Buffer.from([0x22, 0xff, 0x22]).toString("base64")}"`],
    ["a number", "1"],
    ["an object", "{}"],
  ])("[A2] is invalid when b64info is %s", (__, encoded) => {
    expect(parse(`"info":1,"b64info":${encoded}`)).toStrictEqual({
      outcome: "invalid",
      reason: '"b64info" must be base64 of JSON',
    });
  });

  it("[A2] takes nothing from names that every object has", () => {
    const payload = `"__proto__":{"sub":"42","exp":1,"info":1},"constructor":1,"toString":2`;
    expect(parse(payload)).toStrictEqual(parse(""));
  });
});

describe("the data of a subscription token", () => {
  it("[W2] is kept as it was written", () => {
    expect(subscription(`"data":{"n": 1.00}`)).toMatchObject({ claims: { data: `{"n": 1.00}` } });
  });

  it("[W1] is that of b64data first", () => {
    const more = `"b64data":"${base64("[1.0]")}","data":2`;
    expect(subscription(more)).toMatchObject({ claims: { data: "[1.0]" } });
  });

  it("[A2] makes the token invalid when it is no base64 of JSON", () => {
    expect(subscription(`"b64data":"e30"`)).toMatchObject({ claims: { data: "{}" } });
    expect(subscription(`"b64data":"${base64("{]")}"`)).toStrictEqual({
      outcome: "invalid",
      reason: '"b64data" must be base64 of JSON',
    });
  });

  it("[W1] is none of a connection token's business", () => {
    expect(connection(`{"data":1,"b64data":"!!!"}`)).toStrictEqual(connection("{}"));
  });
});

describe("the override of a subscription token", () => {
  it.each<[string, keyof SubscriptionOverride]>([
    ["presence", "presence"],
    ["join_leave", "joinLeave"],
    ["force_push_join_leave", "forcePushJoinLeave"],
    ["force_positioning", "forcePositioning"],
    ["force_recovery", "forceRecovery"],
  ])("[W1] sets %s, and nothing else", (name, key) => {
    for (const value of [true, false]) {
      expect(subscription(`"override":{"${name}":{"value":${value}}}`)).toMatchObject({
        outcome: "verified",
        claims: { override: { [key]: value } },
      });
    }
    expect(subscription(`"override":{"${name}":null}`)).toStrictEqual(subscription(""));
  });

  it("[W1] sets exactly the known options that it names", () => {
    const override = `{"presence":{"value":true},"force_recovery":{"value":false},"other":{"value":true}}`;
    const parsed = subscription(`"override":${override}`);
    expect(parsed).toHaveProperty("claims.override", { presence: true, forceRecovery: false });
  });

  it.each([["{}"], ["null"]])("[W1] may be empty: %s", (override) => {
    expect(subscription(`"override":${override}`)).toStrictEqual(subscription(""));
  });

  it.each([
    ["1"],
    [`"presence"`],
    ["true"],
    ["[]"],
    [`[{"presence":{"value":true}}]`],
    [`{"presence":true}`],
    [`{"presence":{}}`],
    [`{"presence":{"value":null}}`],
    [`{"presence":{"value":1}}`],
    [`{"presence":{"value":"true"}}`],
    [`{"presence":[true]}`],
    [`{"force_recovery":{"value":true},"join_leave":{"value":"no"}}`],
  ])("[A2] makes the token invalid when it is of another type: %s", (override) => {
    expect(subscription(`"override":${override}`)).toStrictEqual({
      outcome: "invalid",
      reason: '"override" claim must be an object of {"value": boolean} objects',
    });
  });
});

describe("a payload that is no JSON object", () => {
  it.each([
    ["null"],
    ["1"],
    [`"text"`],
    ["[]"],
    ["[{}]"],
    ["true"],
    [""],
    ["{"],
    ["{}{}"],
    ["\uFEFF{}"],
  ])("[A2] is invalid for either kind: %s", (payload) => {
    const outcome = { outcome: "invalid", reason: "the payload is not a JSON object" };
    expect(parseConnectionClaims(payload, noRules, nowMs)).toStrictEqual(outcome);
    expect(parseSubscriptionClaims(payload, noRules, nowMs)).toStrictEqual(outcome);
  });
});
