import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What a compiler prints: nothing if it finds nothing wrong, and otherwise its problems, with which it fails. */
export async function compilerOutput(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  try {
    return (await execute(program, args, options)).stdout;
  } catch (error) {
    const { stdout } = Object(error);
    if (typeof stdout !== "string" || stdout === "") throw error;
    return stdout;
  }
}

const execute = promisify(execFile);
