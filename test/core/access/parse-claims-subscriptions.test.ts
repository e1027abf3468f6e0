import { describe, expect, it } from "vitest";
import {
  parseConnectionClaims,
  parseSubscriptionClaims,
} from "../../../src/access/parse-claims.ts";
import { limits } from "../../../src/limits.ts";
import { filterNode } from "../protocol/any-filter.ts";

function connection(payload: string) {
  return parseConnectionClaims(payload, { userIdClaim: "sub" }, 0);
}

function subscription(more: string) {
  return parseSubscriptionClaims(`{"channel":"room"${more}}`, { userIdClaim: "sub" }, 0);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** The subscriptions that a connection token with these claims makes. */
function made(claims: string) {
  const outcome = connection(`{${claims}}`);
  return outcome.outcome === "verified" ? outcome.claims.subscriptions : outcome;
}

describe("the channels of a connection token", () => {
  it("[C9] are subscriptions without anything else", () => {
    expect(made(`"channels":["a","$b:c#42"]`)).toStrictEqual([
      { channel: "a", override: {} },
      { channel: "$b:c#42", override: {} },
    ]);
  });

  it("[C9] are one subscription each, however often they are named", () => {
    expect(made(`"channels":["a","b","a","\\u0061"]`)).toStrictEqual([
      { channel: "a", override: {} },
      { channel: "b", override: {} },
    ]);
  });

  it.each(["[]", "null"])("[C9] may be none: %s", (channels) => {
    expect(connection(`{"channels":${channels}}`)).toStrictEqual(connection("{}"));
  });

  it.each([`"a"`, "{}", "1", "true", "[1]", `["a",null]`, `[["a"]]`])(
    "[A2] make the token invalid when they are of another type: %s",
    (channels) => {
      for (const subs of ["", `,"subs":{"b":{}}`]) {
        expect(connection(`{"channels":${channels}${subs}}`)).toStrictEqual({
          outcome: "invalid",
          reason: '"channels" claim must be an array of strings',
        });
      }
    },
  );

  it("[G1] may be more than a connection can have, for that has an answer of its own", () => {
    const names = Array.from({ length: limits.channelLimitMax + 1 }, (_, index) => `${index}`);
    expect(made(`"channels":${JSON.stringify(names)}`)).toHaveLength(limits.channelLimitMax + 1);
  });

  it("[C9] are none of a subscription token's business", () => {
    expect(subscription(`,"channels":1,"subs":2`)).toStrictEqual(subscription(""));
  });
});

describe("the subs of a connection token", () => {
  it("[C9] are subscriptions with all that is said of them", () => {
    const subs = `{"a":{"info":{"n":1.0},"data":[2.50],"override":{"presence":{"value":true},"force_recovery":{"value":false}}},"b":{}}`;
    expect(made(`"subs":${subs}`)).toStrictEqual([
      {
        channel: "a",
        info: `{"n":1.0}`,
        data: "[2.50]",
        override: { presence: true, forceRecovery: false },
      },
      { channel: "b", override: {} },
    ]);
  });

  it("[C9] replace the channels, unless there are none", () => {
    expect(made(`"channels":["a"],"subs":{"b":{}}`)).toStrictEqual([
      { channel: "b", override: {} },
    ]);
    for (const subs of ["{}", "null"]) {
      expect(made(`"channels":["a"],"subs":${subs}`)).toStrictEqual([
        { channel: "a", override: {} },
      ]);
    }
  });

  it("[W2] keep payloads unchanged, whatever is around them", () => {
    const info = `{ "n":1.00, "big":12345678901234567890,"é":"\\u00e9<" }`;
    const claims = `"info":0,"a":{"info":1},"subs" : { "b":{"info":2} , "a" : {"info": ${info} } }`;
    expect(made(claims)).toStrictEqual([
      { channel: "b", info: "2", override: {} },
      { channel: "a", info, override: {} },
    ]);
  });

  it("[W2] count as JSON does where a name comes twice", () => {
    const twice = `{"a":{"info":1,"data":1},"a":{"info":2,"info":3}}`;
    expect(made(`"subs":{"x":{}},"subs":${twice}`)).toStrictEqual([
      { channel: "a", info: "3", override: {} },
    ]);
  });

  it("[W2] find a channel under whatever escapes spell it, and under names that every object has", () => {
    const subs = `{"\\u0061\\"":{"info":1},"__proto__":{"data":2},"constructor":{"info":3}}`;
    expect(made(`"subs":${subs}`)).toStrictEqual([
      { channel: `a"`, info: "1", override: {} },
      { channel: "__proto__", data: "2", override: {} },
      { channel: "constructor", info: "3", override: {} },
    ]);
  });

  it("[W1] take the base64 forms first", () => {
    const encoded = base64(`[1.0]`);
    const sub = `{"info":1,"b64info":"${encoded}","data":2,"b64data":"${encoded}"}`;
    expect(made(`"subs":{"a":${sub}}`)).toStrictEqual([
      { channel: "a", info: "[1.0]", data: "[1.0]", override: {} },
    ]);
    const bare = `{"b64info":"${encoded}","b64data":"${encoded}"}`;
    expect(made(`"subs":{"a":${bare}}`)).toStrictEqual(made(`"subs":{"a":${sub}}`));
  });

  it.each(["null", `{"info":null,"data":null,"b64info":"","b64data":null,"override":null}`])(
    "[W1] may say nothing of a channel: %s",
    (sub) => {
      expect(made(`"subs":{"a":${sub}}`)).toStrictEqual([{ channel: "a", override: {} }]);
    },
  );

  it.each([
    ["[]", '"subs" claim must be an object of objects'],
    [`"a"`, '"subs" claim must be an object of objects'],
    ["1", '"subs" claim must be an object of objects'],
    [`{"secret-4711":1}`, '"subs" claim must be an object of objects'],
    [`{"a":{},"secret-4711":[]}`, '"subs" claim must be an object of objects'],
    [`{"secret-4711":{"b64info":"{4711"}}`, '"subs" claim: "b64info" must be base64 of JSON'],
    [`{"secret-4711":{"b64data":1}}`, '"subs" claim: "b64data" must be base64 of JSON'],
    [
      `{"secret-4711":{"override":{"presence":true}}}`,
      '"subs" claim: "override" must be an object of {"value": boolean} objects',
    ],
  ])("[A7] make the token invalid for a reason that quotes nothing: %s", (subs, reason) => {
    expect(connection(`{"subs":${subs}}`)).toStrictEqual({ outcome: "invalid", reason });
  });
});

describe("[A17] the claim server_tags_filter", () => {
  const claim = `"server_tags_filter":{"key":"team","cmp":"eq","val":"red"}`;
  const serverFilter = filterNode({ key: "team", cmp: "eq", val: "red" });

  it("is the filter of a subscription token, or of a channel in the subs of a connection token", () => {
    expect(subscription(`,${claim}`)).toMatchObject({ claims: { serverFilter } });
    expect(made(`"subs":{"a":{${claim}},"b":{}}`)).toStrictEqual([
      { channel: "a", serverFilter, override: {} },
      { channel: "b", override: {} },
    ]);
  });

  it("has no effect elsewhere in a connection token", () => {
    expect(made(`"channels":["a"],${claim}`)).toStrictEqual([{ channel: "a", override: {} }]);
  });

  it("[A7] makes the token invalid if it isn't a filter, for a reason that quotes nothing", () => {
    const invalid = `"server_tags_filter":{"key":"secret-4711","cmp":"secret-4711"}`;
    const reason = "server_tags_filter is no valid filter";
    expect(subscription(`,${invalid}`)).toStrictEqual({ outcome: "invalid", reason });
    expect(connection(`{"subs":{"secret-4711":{${invalid}}}}`)).toStrictEqual({
      outcome: "invalid",
      reason: `"subs" claim: ${reason}`,
    });
  });
});
