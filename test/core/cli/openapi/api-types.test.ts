import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { apiTypes } from "../../../../cli/openapi/api-types.ts";
import { packageRoot } from "../../../../cli/package-root.ts";

it.each([...apiTypes()])("the types in %s are those of the HTTP API", (name, text) => {
  const file = `workers/embedded/${name}`;
  const formatter = join(packageRoot, "node_modules", ".bin", "oxfmt");
  const options = ["-c", join(packageRoot, ".oxfmtrc.json"), `--stdin-filepath=${file}`];
  const formatted = execFileSync(formatter, options, { input: text, encoding: "utf8" });
  expect(formatted).toBe(readFileSync(join(packageRoot, file), "utf8"));
});
