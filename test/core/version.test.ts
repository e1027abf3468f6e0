import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { packageName, version } from "../../src/version.ts";

it("[W1] the version for clients is the package's, with the product's name", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const manifest: { name: string; version: string } = JSON.parse(text);
  expect(version).toBe(`${manifest.version} Dormouse`);
  expect(packageName).toBe(manifest.name);
});
