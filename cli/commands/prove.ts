import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { packageRoot } from "../package-root.ts";
import { type Shell, usageFailure } from "../shell.ts";

/** `dormouse prove`: runs the proof (docs/guarantees.md), which breaks a real server and checks every delivery. */
export function proveCommand(shell: Shell): Command {
  return new Command("prove")
    .description("break a real server on purpose, and check every delivery (in the repository)")
    .argument("[options...]", "the options of npm run prove, after --")
    .addHelpText(
      "after",
      `
The proof's own options: dormouse prove -- --help

Examples:
  dormouse prove
  dormouse prove -- --seed 7 --seconds 60`,
    )
    .action(async (options: readonly string[]) => {
      const script = join(packageRoot, "test", "verification", "prove", "prove.ts");
      if (!existsSync(script) || packageRoot.includes("node_modules"))
        throw usageFailure("the proof is in Dormouse's repository: run npm run prove there");
      const running = spawn(process.execPath, [script, ...options], {
        cwd: packageRoot,
        stdio: "inherit",
        env: shell.environment,
      });
      process.exitCode = await new Promise<number>((resolve) => {
        running.once("exit", (code) => resolve(code ?? 1));
      });
    });
}
