import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { cachedFolder } from "./cached-folder.ts";
import { Script } from "./script.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** Whether this machine can build the sources in test/clients/java: with a JDK of version 17 or later, and Maven. */
export function hasJava(): boolean {
  const compiler = spawnSync("javac", ["-version"], { encoding: "utf8" });
  const version = /^javac (\d+)/.exec(compiler.stdout ?? "")?.[1];
  return Number(version ?? 0) >= 17 && spawnSync("mvn", ["-version"]).status === 0;
}

/** The scenarios of test/clients/java, compiled, with the packages of their pom.xml. */
export class JavaEnvironment {
  readonly #classPath: string;

  /** Created on first use, which takes a download, and reused from then on. */
  static async open(): Promise<JavaEnvironment> {
    const content = [projectFile, ...scenarioFiles]
      .map((file) => readFileSync(file, "utf8"))
      .join("");
    const folder = await cachedFolder("java", content, compile);
    return new JavaEnvironment([folder, join(folder, "*")].join(delimiter));
  }

  private constructor(classPath: string) {
    this.#classPath = classPath;
  }

  /**
   * Starts a scenario, which ends with the test.
   *
   * @param words its arguments, which the scenario's comment explains
   */
  run(test: TestContext, scenario: Scenario, words: readonly string[]): Script {
    return new Script(test, scenario, "java", ["-cp", this.#classPath, scenario, ...words]);
  }
}

async function compile(folder: string): Promise<void> {
  const project = ["--quiet", "--batch-mode", "--file", projectFile];
  const gather = ["dependency:copy-dependencies", `-DoutputDirectory=${folder}`];
  await run("mvn", [...project, ...gather]);
  const classPath = join(folder, "*");
  await run("javac", ["-encoding", "UTF-8", "-cp", classPath, "-d", folder, ...scenarioFiles]);
}

/** Rejects with the program's standard error. */
const run = promisify(execFile);
const sources = join(packageRoot, "test", "clients", "java");
const projectFile = join(sources, "pom.xml");
/** The official client of the server's own protocol, those of Pusher, and the official client of changes. */
const scenarios = ["Listen", "PusherListen", "Changes"] as const;
type Scenario = (typeof scenarios)[number];
const scenarioFiles = scenarios.map((name) => join(sources, `${name}.java`));
