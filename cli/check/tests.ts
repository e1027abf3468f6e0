/**
 * `npm test`: the tests that need nothing but Node.js, in at most four minutes. Those of core compute, and those of workers
 * and of the official client mostly wait, so the two run beside each other. The last line counts both.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packageRoot } from "../package-root.ts";
import { closingLine, countsIn, failureLines } from "./closing-lines.ts";

const runs = [
  // One process less than with the others alone: they share the processors.
  { name: "core", args: ["--project", "core", "--maxWorkers", "2"] },
  { name: "others", args: ["--project", "workers", "--project", "official", "--maxWorkers", "3"] },
];

/** Runs vitest, and passes its output on, each line after the name of the run. */
async function run({ name, args }: (typeof runs)[number]): Promise<readonly string[]> {
  const child = spawn(
    process.execPath,
    [join(packageRoot, "node_modules/vitest/vitest.mjs"), "run", ...args],
    {
      cwd: packageRoot,
      stdio: ["ignore", "pipe", "pipe"],
      // Tests start the command line some hundred times: compiling it anew would take most of their processor time.
      env: {
        NODE_COMPILE_CACHE: join(packageRoot, "node_modules/.cache/compiled"),
        ...process.env,
      },
    },
  );
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      console.log(`${name} | ${line}`);
    });
  }
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
  return lines;
}

const outputs = await Promise.all(runs.map(run));
const counts = countsIn(outputs);
if (counts.failed > 0) process.exitCode = 1;
console.log([...outputs.flatMap(failureLines), closingLine(counts)].join("\n"));
