import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { configOf, problemsOf } from "../parsed.ts";

describe("[A8] the http_api section", () => {
  const billing = {
    name: "billing",
    secret: "API_KEY_BILLING",
    methods: ["publish", "broadcast"],
    channels: ["billing:*", "news"],
  };

  it("[A14] takes keys with what they admit", () => {
    const second = { ...billing, name: "shop", secret: "API_KEY_SHOP_2", methods: ["*"] };
    expect(configOf({ http_api: { keys: [billing, second] } }).httpApi.keys).toStrictEqual([
      {
        name: "billing",
        secret: "API_KEY_BILLING",
        rights: { methods: ["publish", "broadcast"], channels: ["billing:*", "news"] },
      },
      {
        name: "shop",
        secret: "API_KEY_SHOP_2",
        rights: { methods: ["*"], channels: ["billing:*", "news"] },
      },
    ]);
  });

  it.each(["name", "methods", "channels"])("[A14] refuses a key without %s", (name) => {
    // As JSON has it, undefined is absent.
    const [problem, ...more] = problemsWith({ ...billing, [name]: undefined });
    expect(problem).toMatch(/^http_api\.keys\[0\].* is missing/);
    expect(problem).toContain(`.${name} is missing`);
    expect(more).toEqual([]);
  });

  it("[OW5] notes a key without a secret, and refuses an empty one", () => {
    const { secret: _, ...named } = billing;
    expect(problemsWith(named)).toEqual([]);
    expect(parseConfig({ http_api: { keys: [named] } })).toMatchObject({
      notes: [
        expect.stringMatching(
          /keys\[0\].*\.secret is absent: only a Worker with a service binding/,
        ),
      ],
    });
    expect(problemsWith({ ...billing, secret: "" })).toEqual([
      expect.stringMatching(/\.secret is missing$/),
    ]);
  });

  it.each([
    ["name", "bil ling"],
    ["name", "x".repeat(65)],
    ["secret", "hunter2-hunter2-hunter2"],
    ["secret", "API_KEY"],
    ["secret", "API_KEY_PREVIOUS"],
    ["secret", "API_KEY_BILLING_PREVIOUS"],
    ["secret", "CHANNELS"],
    ["methods", ["publish", "publsh"]],
    ["methods", ["batch"]],
    ["methods", []],
    ["methods", "publish"],
    ["channels", [""]],
    ["channels", ["{news,chat"]],
    ["channels", []],
    ["channels", [5]],
    ["key", "hunter2-hunter2-hunter2"],
    ["methds", ["publish"]],
  ])("[A14] [A7] refuses the %s %j of a key, and quotes no secret", (name, value) => {
    const [problem, ...more] = problemsWith({ ...billing, [name]: value });
    expect(problem).toMatch(/^http_api\.keys\[0\]/);
    expect(problem).toContain(`.${name}`);
    expect(problem).not.toContain("hunter2");
    expect(more).toEqual([]);
  });

  it("[A14] refuses a name or a secret of another key", () => {
    expect(problemsWith(billing, { ...billing, secret: "API_KEY_SHOP" })).toStrictEqual([
      `http_api.keys[1] ("billing").name is already the name of http_api.keys[0] ("billing")`,
    ]);
    expect(problemsWith(billing, { ...billing, name: "shop" })).toStrictEqual([
      `http_api.keys[1] ("shop").secret is already the secret of http_api.keys[0] ("billing")`,
    ]);
  });

  it("[B1] [A14] refuses more keys than limits.apiKeysMax", () => {
    const many = Array.from({ length: limits.apiKeysMax + 1 }, (_, index) => ({
      ...billing,
      name: `key${index}`,
      secret: `API_KEY_${index}`,
    }));
    expect(problemsWith(...many)).toStrictEqual([
      `http_api.keys has more than ${limits.apiKeysMax} entries`,
    ]);
    expect(configOf({ http_api: { keys: many.slice(1) } }).httpApi.keys).toHaveLength(
      limits.apiKeysMax,
    );
  });
});

/** The problems of a configuration with these keys. */
function problemsWith(...keys: readonly object[]): readonly string[] {
  return problemsOf({ http_api: { keys } });
}
