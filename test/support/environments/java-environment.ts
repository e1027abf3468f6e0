import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
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
    const hash = createHash("sha256");
    for (const file of [projectFile, scenarioFile]) hash.update(readFileSync(file));
    const folder = join(environments, hash.digest("hex").slice(0, 16));
    if (!existsSync(folder)) await make(folder);
    return new JavaEnvironment([folder, join(folder, "*")].join(delimiter));
  }

  private constructor(classPath: string) {
    this.#classPath = classPath;
  }

  /**
   * Starts the scenario, which ends with the test.
   *
   * @param words its arguments, which the scenario's comment explains
   */
  listen(test: TestContext, words: readonly string[]): Script {
    return new Script(test, "Listen", "java", ["-cp", this.#classPath, "Listen", ...words]);
  }
}

/** Creates a folder atomically, also if several processes create it at the same time. */
async function make(folder: string): Promise<void> {
  mkdirSync(environments, { recursive: true });
  const unfinished = mkdtempSync(join(environments, "unfinished-"));
  try {
    const project = ["--quiet", "--batch-mode", "--file", projectFile];
    const gather = ["dependency:copy-dependencies", `-DoutputDirectory=${unfinished}`];
    await run("mvn", [...project, ...gather]);
    const classPath = join(unfinished, "*");
    await run("javac", ["-encoding", "UTF-8", "-cp", classPath, "-d", unfinished, scenarioFile]);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/** Rejects with the program's standard error. */
const run = promisify(execFile);
const projectFile = join(packageRoot, "test", "clients", "java", "pom.xml");
const scenarioFile = join(packageRoot, "test", "clients", "java", "Listen.java");
const environments = join(packageRoot, "node_modules", ".cache", "dormouse-java");
