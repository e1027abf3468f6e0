import { basename } from "node:path";
import type { TestContext } from "vitest";
import { Script, type ScriptEvent } from "./script.ts";

export type PythonEvent = ScriptEvent;

/** A Python scenario in a process of its own. */
export class PythonScript extends Script {
  /**
   * @param test its end ends the process; if it failed, the process's output is shown
   * @param interpreter of the environment that the scenario needs
   * @param file the scenario's path
   * @param options its only argument
   */
  constructor(test: TestContext, interpreter: string, file: string, options: object) {
    // Undisturbed by the user's settings for Python, with UTF-8, and without leaving files behind.
    const flags = ["-E", "-s", "-B", "-X", "utf8"];
    super(test, basename(file), interpreter, [...flags, file, JSON.stringify(options)]);
  }
}
