import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { PythonScript } from "./python-script.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** A Python that has the packages of test/clients/python/requirements.txt, and none but those. */
export class PythonEnvironment {
  /** The path of its Python. */
  readonly interpreter: string;

  /**
   * Created on first use, which takes a download, and reused from then on.
   *
   * @throws if this machine has no Python
   */
  static async open(): Promise<PythonEnvironment> {
    const version = await pythonVersion();
    const hash = createHash("sha256").update(readFileSync(requirements)).update(version);
    const folder = join(environments, hash.digest("hex").slice(0, 16));
    if (!existsSync(folder)) await make(folder);
    return new PythonEnvironment(interpreterOf(folder));
  }

  private constructor(interpreter: string) {
    this.interpreter = interpreter;
  }

  /**
   * Starts a scenario, which ends with the test.
   *
   * @param name of its file, without `.py`
   * @param options as the scenario's comment explains
   */
  run(test: TestContext, name: string, options: object): PythonScript {
    return new PythonScript(test, this.interpreter, join(scenarios, `${name}.py`), options);
  }
}

/** The version of this machine's Python; each version has its own environments. */
async function pythonVersion(): Promise<string> {
  const check =
    "import sys, venv, ensurepip; assert sys.version_info >= (3, 10), sys.version; print(sys.version)";
  try {
    return (await run("python3", ["-c", check])).stdout;
  } catch (error) {
    throw new Error(
      "The tests with packages of PyPI need a `python3` of version 3.10 or later with `venv` " +
        "(on Debian and Ubuntu: apt-get install python3 python3-venv).",
      { cause: error },
    );
  }
}

/** Creates an environment atomically, also if several processes create it at the same time. */
async function make(folder: string): Promise<void> {
  mkdirSync(environments, { recursive: true });
  const unfinished = mkdtempSync(join(environments, "unfinished-"));
  try {
    await run("python3", ["-m", "venv", unfinished]);
    const pip = ["-m", "pip", "--disable-pip-version-check"];
    const python = interpreterOf(unfinished);
    // Without dependencies, so that every version is pinned; the check finds missing ones.
    await run(python, [...pip, "install", "--quiet", "--no-deps", "-r", requirements]);
    await run(python, [...pip, "check"]);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function interpreterOf(folder: string): string {
  return join(folder, "bin", "python");
}

/** Rejects with the program's standard error. */
const run = promisify(execFile);
const scenarios = join(packageRoot, "test", "clients", "python");
const requirements = join(scenarios, "requirements.txt");
const environments = join(packageRoot, "node_modules", ".cache", "dormouse-python");
