import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildConsole } from "../../../../cli/build/build-console.ts";

it("[N1] a console that is as it was isn't written again, so that no running server starts anew", async (test) => {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const writtenAt = () =>
    readdirSync(folder).map(
      (name) => [name, statSync(join(folder, name), { bigint: true }).mtimeNs] as const,
    );
  await buildConsole(folder);
  const first = writtenAt();
  expect(first.map(([name]) => name)).toEqual([
    "console.css",
    "console.js",
    "icon.svg",
    "rules.json",
  ]);
  await buildConsole(folder);
  expect(writtenAt()).toEqual(first);

  const style = join(folder, "console.css");
  const built = readFileSync(style, "utf8");
  writeFileSync(style, "of another release");
  await buildConsole(folder);
  expect(readFileSync(style, "utf8")).toBe(built);
});
