import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Schema, Validator } from "@cfworker/json-schema";
import { expect, it } from "vitest";
import { parseFile } from "../../../../cli/configuration/document.ts";
import { packageRoot } from "../../../../cli/package-root.ts";
import { wranglerSchema } from "../../../../cli/package-types/wrangler-schema.ts";

const schema: Schema = wranglerSchema();
const validator = new Validator(schema, "7", false);

const files = [
  "wrangler.toml",
  "examples/wrangler.example.toml",
  "examples/template/wrangler.jsonc",
];

function documentIn(file: string) {
  const parsed = parseFile(file, readFileSync(join(packageRoot, file), "utf8"));
  if (parsed.outcome === "bad") throw new Error(parsed.problem);
  return parsed.document;
}

it.each(files)("[A8] the schema for editors takes %s", (file) => {
  expect(validator.validate(documentIn(file)).errors).toEqual([]);
});

it.each(files.filter((file) => file.endsWith(".toml")))(
  "%s names the schema for its editor",
  (file) => {
    const [, path = ""] =
      /^#:schema (\S+)\n/.exec(readFileSync(join(packageRoot, file), "utf8")) ?? [];
    expect(existsSync(join(packageRoot, dirname(file), path))).toBe(true);
  },
);

it.each([
  ["a misspelt key", { client: { ping_intervall: "4s" } }, "ping_intervall"],
  ["a key that isn't there", { redis: {} }, "redis"],
  ["a value of another type", { client: { ping_interval: 4 } }, "type"],
  ["a choice that there isn't", { client: { pong: "often" } }, "enum"],
  ["a number below the least", { client: { queue_max_size: 1 } }, "minimum"],
  [
    "an option of a namespace",
    { channel: { namespaces: [{ name: "chat", presense: true }] } },
    "presense",
  ],
])("[A8] the schema for editors refuses %s, also in an environment", (_, config, named) => {
  for (const document of [{ vars: { config } }, { env: { staging: { vars: { config } } } }]) {
    const { valid, errors } = validator.validate(document);
    expect(valid).toBe(false);
    expect(JSON.stringify(errors)).toContain(named);
  }
});

it("the schema of the installed package has wrangler's own beside it", () => {
  const own = "../../wrangler/config-schema.json";
  expect(wranglerSchema(own)).toMatchObject({ allOf: [{ $ref: own }] });
  // As from node_modules/dormouse-realtime/dist.
  const folder = join(packageRoot, "node_modules", "dormouse-realtime", "dist");
  expect(existsSync(join(folder, own))).toBe(true);
});
