import { describe, expect, it } from "vitest";
import {
  capabilitiesOn,
  type Capability,
  parseCapabilities,
} from "../../../src/access/capabilities.ts";
import { parseConnectionClaims } from "../../../src/access/parse-claims.ts";
import { limits } from "../../../src/limits.ts";
import type { JsonValue } from "../../../src/protocol/wire-value.ts";

/** What a claim allows on a channel; throws if the claim is invalid. */
function allowed(caps: JsonValue, channel: string): readonly Capability[] {
  const parsed = parseCapabilities(caps);
  if (parsed.outcome === "invalid") throw new Error(parsed.reason);
  return parsed.text === undefined ? [] : capabilitiesOn(parsed.text, channel);
}

function reasonOf(caps: JsonValue): string {
  const parsed = parseCapabilities(caps);
  return parsed.outcome === "invalid" ? parsed.reason : "none";
}

const withRegex = (source: string) => [{ channels: [source], match: "regex", allow: ["sub"] }];

describe("[A16] the claim caps", () => {
  it.each<[JsonValue, string, readonly Capability[]]>([
    [[], "news", []],
    [[{ channels: ["news"], allow: ["sub"] }], "news", ["sub"]],
    [[{ channels: ["news"], allow: ["sub"] }], "newsroom", []],
    [[{ channels: ["news:*"], allow: ["sub"] }], "news:1", []],
    [[{ channels: ["news:*"], match: "", allow: ["sub"] }], "news:*", ["sub"]],
    [[{ channels: ["a", "news:*"], match: "wildcard", allow: ["pub"] }], "news:1", ["pub"]],
    [[{ channels: ["news:*"], match: "wildcard", allow: ["pub"] }], "news", []],
    [
      [{ channels: ["*"], match: "wildcard", allow: ["sub", "pub", "prs", "hst"] }],
      "$any:1",
      ["sub", "pub", "prs", "hst"],
    ],
    [
      [{ channels: [String.raw`^posts_[\d]+$`], match: "regex", allow: ["hst"] }],
      "posts_12",
      ["hst"],
    ],
    [[{ channels: [String.raw`^posts_[\d]+$`], match: "regex", allow: ["hst"] }], "posts_x", []],
    [[{ channels: ["sts_"], match: "regex", allow: ["hst"] }], "posts_x", ["hst"]],
    [[{ channels: ["news"], match: null, allow: ["hst", "sub", "sub"] }], "news", ["sub", "hst"]],
    [[{ channels: ["news"] }], "news", []],
    [[{ allow: ["sub"] }], "news", []],
    [[{ channels: ["news"], allow: ["sub"], later: 1 }], "news", ["sub"]],
  ])("%j allows on %s: %j", (caps, channel, capabilities) => {
    expect(allowed(caps, channel)).toStrictEqual(capabilities);
    // From what is kept of the last time, too.
    expect(allowed(caps, channel)).toStrictEqual(capabilities);
  });

  it("[A33] is read up to the first name or pattern that matches, as in Centrifugo", () => {
    const caps = [
      { channels: ["news", "user_42"], allow: ["sub"] },
      { channels: ["user_*"], match: "wildcard", allow: ["pub"] },
      { channels: ["^user_4"], match: "regex", allow: ["hst"] },
      { channels: ["user_42", "news"], allow: ["prs"] },
    ];
    expect(allowed(caps, "user_42")).toStrictEqual(["sub"]);
    expect(allowed(caps, "user_43")).toStrictEqual(["pub"]);
    expect(allowed(caps, "other")).toStrictEqual([]);
  });

  const shape =
    '"caps" claim must be an array of {channels, match, allow}, with "", "wildcard" or "regex" for match, and sub, pub, prs, hst or call in allow';
  it.each<[JsonValue]>([
    [{}],
    ["sub"],
    [1],
    [["sub"]],
    [[[]]],
    [[null]],
    [[{ channels: "news", allow: ["sub"] }]],
    [[{ channels: [1], allow: ["sub"] }]],
    [[{ channels: ["news"], allow: "sub" }]],
    [[{ channels: ["news"], allow: ["subscribe"] }]],
    [[{ channels: ["news"], allow: [1] }]],
    [[{ channels: ["news"], allow: ["sub"], match: "glob" }]],
    [[{ channels: ["news"], allow: ["sub"], match: 1 }]],
    [[{ channels: ["news"], allow: ["sub"] }, { channels: {} }]],
  ])("is refused: %j", (caps) => {
    expect(reasonOf(caps)).toBe(shape);
  });

  it.each([
    ["(", "invalid"],
    ["^(?=a)", "lookaround"],
    [String.raw`(a)\1`, "backreference"],
    [`^a{${limits.capabilityStepsMax}}$`, "too-large"],
    ["a{1000000000}", "too-large"],
  ])("[B9] is refused with the regular expression %s: %s", (source, fault) => {
    expect(reasonOf(withRegex(source))).toBe(
      `"caps" claim has a regular expression that can't be used: ${fault}`,
    );
  });

  it("[B1] has limits: for channels, characters and steps of expressions, each together", () => {
    const channels = Array.from({ length: limits.capabilityChannelsMax }, (_, index) => `${index}`);
    expect(allowed([{ channels, allow: ["sub"] }], "255")).toStrictEqual(["sub"]);
    const oneMore = [
      { channels, allow: [] },
      { channels: ["x"], allow: [] },
    ];
    expect(reasonOf(oneMore)).toBe(
      `"caps" claim has more than ${limits.capabilityChannelsMax} channels`,
    );
    const kept = JSON.stringify([{ channels: [""], match: "", allow: ["sub"] }]).length;
    const longest = "x".repeat(limits.capabilitiesLengthMax - kept);
    expect(allowed([{ channels: [longest], allow: ["sub"] }], longest)).toStrictEqual(["sub"]);
    expect(reasonOf([{ channels: [`${longest}x`], allow: ["sub"] }])).toBe(
      `"caps" claim has more than ${limits.capabilitiesLengthMax} characters`,
    );
    // The end of a pattern is a step, too.
    const half = limits.capabilityStepsMax / 2 - 1;
    const two = (first: number) => [...withRegex(`a{${first}}`), ...withRegex(`b{${half}}`)];
    expect(allowed(two(half), "b".repeat(half))).toStrictEqual(["sub"]);
    expect(reasonOf(two(half + 1))).toContain("too-large");
  });

  it("[B9] is compared with a name in time in proportion to it, whatever the expressions", () => {
    const caps = withRegex("^(a|a)*a*a*a*a*a*a*b$");
    const startedMs = performance.now();
    for (let length = 1; length < 255; length++)
      expect(allowed(caps, "a".repeat(length))).toStrictEqual([]);
    // One name of 255 letters would take JavaScript's own expression longer than for ever.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it("[B1] is kept compiled for some claims, and what it allows for some channels", () => {
    const claims = Array.from({ length: limits.capabilityClaimsKept * 2 + 1 }, (_, index) => [
      { channels: [`^room:${index}:[0-9]+$`], match: "regex", allow: ["sub"] },
    ]);
    for (const [index, caps] of [...claims, ...claims].entries()) {
      const room = index % claims.length;
      expect(allowed(caps, `room:${room}:1`)).toStrictEqual(["sub"]);
      expect(allowed(caps, `room:${room + 1}:1`)).toStrictEqual([]);
    }
    const many = withRegex("^[0-9]*[02468]$");
    for (let index = 0; index < limits.capabilityChannelsKept * 3; index++)
      expect(allowed(many, `${index}`)).toHaveLength(index % 2 === 0 ? 1 : 0);
  });

  it("[V1] that only another release can read allows nothing", () => {
    const text = JSON.stringify(withRegex("(?<=a)b"));
    expect(capabilitiesOn(text, "ab")).toStrictEqual([]);
  });
});

describe("a connection token", () => {
  const rules = { userIdClaim: "sub" };
  const claimsOf = (payload: string) => parseConnectionClaims(payload, rules, 0);

  it("[A16] has the capabilities of its caps, and keeps nothing else of them", () => {
    const caps = `[{"allow":["pub"],"channels":["news"],"later":1}]`;
    expect(claimsOf(`{"sub":"42","caps":${caps}}`)).toStrictEqual({
      outcome: "verified",
      claims: {
        user: "42",
        expireAtSeconds: 0,
        capabilities: `[{"channels":["news"],"match":"","allow":["pub"]}]`,
      },
    });
    for (const nothing of ["[]", "null"]) {
      expect(claimsOf(`{"sub":"42","caps":${nothing}}`)).toStrictEqual({
        outcome: "verified",
        claims: { user: "42", expireAtSeconds: 0 },
      });
    }
  });

  it("[A33] with caps that can't be read is invalid, and the reason quotes nothing of them", () => {
    const verdict = claimsOf(`{"caps":[{"channels":["hunter2("],"match":"regex"}]}`);
    expect(verdict).toStrictEqual({
      outcome: "invalid",
      reason: `"caps" claim has a regular expression that can't be used: invalid`,
    });
  });
});
