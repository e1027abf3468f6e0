import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { Script } from "./script.ts";

/** Whether this machine can build what is in test/clients/java: it has a JDK of version 17 or later, and Maven. */
export function hasJava(): boolean {
  const compiler = spawnSync("javac", ["-version"], { encoding: "utf8" });
  const version = /^javac (\d+)/.exec(compiler.stdout ?? "")?.[1];
  return Number(version ?? 0) >= 17 && spawnSync("mvn", ["-version"]).status === 0;
}

/** The scenarios of test/clients/java, compiled, with the packages of their pom.xml. */
export class JavaEnvironment {
  readonly #classPath: string;

  /** Made when it is first asked for, which takes a download, and found again from then on. */
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
   * Starts the scenario, which doesn't outlive the test.
   *
   * @param words its arguments, which its own text explains
   */
  listen(test: TestContext, words: readonly string[]): Script {
    return new Script(test, "Listen", "java", ["-cp", this.#classPath, "Listen", ...words]);
  }
}

/** Makes a folder that is there whole or not at all, however many make it at the same time. */
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

/** Rejects with what the program printed on its standard error. */
const run = promisify(execFile);

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const projectFile = join(root, "test", "clients", "java", "pom.xml");
const scenarioFile = join(root, "test", "clients", "java", "Listen.java");
const environments = join(root, "node_modules", ".cache", "dormouse-java");
