import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { LaravelEnvironment } from "../../support/environments/laravel-environment.ts";

const execute = promisify(execFile);
const examples = join(packageRoot, "examples", "testing");
const folder = mkdtempSync(join(tmpdir(), "dormouse-suite-"));
const php = await LaravelEnvironment.open();

beforeAll(() => {
  const programs = join(folder, "node_modules", ".bin");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const program = join(programs, "dormouse");
  const script = join(packageRoot, "cli", "dormouse.ts");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(program, 0o755);
  for (const path of ["config.json", "pytest", "phpunit"])
    cpSync(join(examples, path), path.includes(".") ? join(folder, path) : folder, {
      recursive: true,
    });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("[TK11] [TK12] dormouse test-server serves a suite", () => {
  it.runIf(php !== undefined)("of PHPUnit", async () => {
    const [program = "", ...words] = php?.phpunit("OrdersTest.php") ?? [];
    const { stdout } = await execute(program, words, { cwd: folder });
    expect(stdout).toContain("OK (2 tests, 2 assertions)");
  });
});
