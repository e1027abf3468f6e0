import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { wireBytesTable } from "./wire-bytes.ts";

it("[W7] docs/transports.md says how many bytes a publication takes on each wire", () => {
  expect(readFileSync("docs/transports.md", "utf8")).toContain(wireBytesTable());
});
