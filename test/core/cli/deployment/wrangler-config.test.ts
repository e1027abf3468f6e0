import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { configurationFile } from "../../../../cli/deployment/wrangler-config.ts";

it("[A8] the configuration that is checked is in the file that wrangler finds", (test) => {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(configurationFile({}, folder)).toBe(join(folder, "wrangler.toml"));
  for (const name of ["wrangler.toml", "wrangler.jsonc", "wrangler.json"]) {
    writeFileSync(join(folder, name), "");
    expect(configurationFile({}, folder)).toBe(join(folder, name));
  }
  expect(configurationFile({ file: "other.toml" }, folder)).toBe(join(folder, "other.toml"));
});
