import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
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
  it("of pytest", async () => {
    const { interpreter } = await PythonEnvironment.open();
    const words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_orders.py"];
    const { stdout } = await execute(interpreter, words, { cwd: folder });
    expect(stdout).toMatch(/^\d passed/m);
  });

  it.runIf(php !== undefined)("of PHPUnit", async () => {
    const [program = "", ...words] = php?.phpunit("OrdersTest.php") ?? [];
    const { stdout } = await execute(program, words, { cwd: folder });
    expect(stdout).toContain("OK (2 tests, 2 assertions)");
  });
});

it("[TK12] dormouse test-server says where it is, answers hooks that it is told to, and ends with SIGTERM", async () => {
  const TMPDIR = mkdtempSync(join(folder, "state-"));
  const program = join(folder, "node_modules", ".bin", "dormouse");
  const server = spawn(program, ["test-server", "--hook", "onConnect"], {
    cwd: folder,
    env: { ...process.env, TMPDIR },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = await once(createInterface(server.stdout), "line");
    const { control }: { control: string } = JSON.parse(String(line));
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ hook: "onConnect", answer: { result: { user: "ann" } } });
    const answer = await fetch(`${control}/hook`, { method: "POST", headers, body });
    expect(await answer.json()).toEqual({ result: {} });
    expect(statesIn(TMPDIR)).toHaveLength(1);
  } finally {
    server.kill("SIGTERM");
  }
  // As a shell has it for a program that a signal has ended.
  expect(await once(server, "exit")).toEqual([143, null]);
  expect(statesIn(TMPDIR)).toEqual([]);
});

/** The folders of servers that run, in a folder. */
function statesIn(parent: string): readonly string[] {
  return readdirSync(parent).filter((name) => name.startsWith("dormouse-kit-"));
}
