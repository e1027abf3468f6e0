#!/usr/bin/env node
/** `dormouse`: runs one command of the command line (docs/command-line.md). */
import { clearLine, cursorTo } from "node:readline";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { run } from "./program.ts";
import type { Shell } from "./shell.ts";

let showsProgress = false;

const shell: Shell = {
  environment: process.env,
  folder: process.cwd(),
  isTerminal: process.stdout.isTTY,
  print: (line) => {
    endProgress();
    process.stdout.write(`${line}\n`);
  },
  note: (line) => {
    endProgress();
    process.stderr.write(`${line}\n`);
  },
  progress: (line) => {
    if (!process.stderr.isTTY) return;
    endProgress();
    process.stderr.write(line);
    showsProgress = true;
  },
  input: () => text(process.stdin),
  inputPieces,
  ask,
  nowMs: () => Date.now(),
};

// The SDK looks for a debug flag in the storage of a browser, and Node.js prints a warning when it is asked for one.
Object.defineProperty(globalThis, "localStorage", { value: undefined, configurable: true });

// A reader such as `head` may close the pipe; there is nobody left to write to.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

process.exitCode = await run(process.argv.slice(2), shell);

/** Clears the line of progress, if there is one. */
function endProgress(): void {
  if (!showsProgress) return;
  clearLine(process.stderr, 0);
  cursorTo(process.stderr, 0);
  showsProgress = false;
}

async function* inputPieces(): AsyncGenerator<string> {
  for await (const piece of process.stdin.setEncoding("utf8")) yield String(piece);
}

/** Asks on the standard error output, because the standard output is for results. */
async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
