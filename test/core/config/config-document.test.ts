import { describe, expect, it } from "vitest";
import { parseConfigDocument } from "../../../src/config/parse-config.ts";

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

const notADocument = "config must be an object or a JSON string of one, found";

describe("[A8] parseConfigDocument", () => {
  it.each([
    ["undefined", undefined, {}],
    ["an empty object", {}, {}],
    ["an object", { client: { connection_limit: 7 } }, { client: { connection_limit: 7 } }],
    ["JSON text", '{"client":{"connection_limit":7}}', { client: { connection_limit: 7 } }],
    ["an object with an undefined value", { client: undefined }, {}],
  ])("takes %s", (_, input, document) => {
    expect(parseConfigDocument(input)).toEqual({ outcome: "document", document });
  });

  it.each([
    ["an empty string", "", "config is a string that is not valid JSON: see line 1, column 1"],
    ["broken JSON", "{", "config is a string that is not valid JSON: see line 1, column 2"],
    ["null", null, `${notADocument} null`],
    ["a number", 5, `${notADocument} a number`],
    ["a boolean", true, `${notADocument} a boolean`],
    ["an array", [], `${notADocument} an array`],
    ["JSON text of an array", "[]", `${notADocument} an array`],
    ["JSON text of JSON text", '"{}"', `${notADocument} a string`],
    ["a function", () => 1, `${notADocument} a value that is not JSON`],
    ["an object with a cycle", cyclic, `${notADocument} a value that is not JSON`],
    ["an object with a bigint", { client: 1n }, `${notADocument} a value that is not JSON`],
  ])("refuses %s", (_, input, problem) => {
    expect(parseConfigDocument(input)).toEqual({ outcome: "bad", problem });
  });

  it("[A7] does not quote broken JSON, which may hold a secret", () => {
    const parsed = parseConfigDocument('{"http_api":{"key":hunter2}}');
    expect(JSON.stringify(parsed)).not.toContain("hunter2");
    expect(parsed.outcome).toBe("bad");
  });
});
