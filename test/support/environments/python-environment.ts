import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { cachedFolder } from "./cached-folder.ts";
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
    const content = `${readFileSync(requirements, "utf8")}${version}`;
    const folder = await cachedFolder("python", content, install);
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

async function install(folder: string): Promise<void> {
  await run("python3", ["-m", "venv", folder]);
  const pip = ["-m", "pip", "--disable-pip-version-check"];
  const python = interpreterOf(folder);
  // Without dependencies, so that every version is pinned; the check finds missing ones.
  const options = ["--quiet", "--no-deps", "--no-compile", "-r", requirements];
  await run(python, [...pip, "install", ...options]);
  await run(python, [...pip, "check"]);
}

function interpreterOf(folder: string): string {
  return join(folder, "bin", "python");
}

/** Rejects with the program's standard error. */
const run = promisify(execFile);
const scenarios = join(packageRoot, "test", "clients", "python");
const requirements = join(scenarios, "requirements.txt");
