import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { run } from "../../../cli/program.ts";
import type { Shell } from "../../../cli/shell.ts";

/** The end of a command. */
interface Ran {
  readonly code: number;
  readonly printed: string;
  readonly noted: string;
}

/** The time at which commands run: 2026-11-22T12:00:00Z. */
export const nowMs = 1_795_348_800_000;

/** Secrets as `npm start` has them. */
export const developmentSecrets = `API_KEY="development-api-key"
TOKEN_HMAC_SECRET_KEY="development-token-hmac-secret-key"
`;

/**
 * Runs commands in this process, in a folder of the test.
 *
 * @param files the folder's files by their names
 * @param folder the working directory
 * @returns runs a command line, with variables of the environment and a standard input
 */
export function recordedShell(
  files: Readonly<Record<string, string>> = {},
  folder: string = temporaryFolder(),
): RunCommand {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return async (args, { environment = {}, input = "", answer, atMs = nowMs } = {}) => {
    const { shell, printed, noted } = shellOf(folder, environment, input, answer, atMs);
    const before = process.exitCode;
    process.exitCode = undefined;
    try {
      const code = await run(args, shell);
      return { code, printed: printed.join("\n"), noted: noted.join("\n") };
    } finally {
      process.exitCode = before;
    }
  };
}

/** A shell whose outputs are kept; `told` is what the line of progress has shown. */
export function shellOf(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
  input = "",
  answer?: string,
  atMs: number = nowMs,
) {
  const [printed, noted, told]: [string[], string[], string[]] = [[], [], []];
  const shell: Shell = {
    environment,
    folder,
    isTerminal: false,
    print: (text) => void printed.push(text),
    note: (text) => void noted.push(text),
    progress: (text) => void told.push(text),
    input: () => Promise.resolve(input),
    inputPieces: () => piecesOf(input),
    ask: () => Promise.resolve(answer),
    nowMs: () => atMs,
  };
  return { shell, printed, noted, told };
}

/** A text in pieces of some characters. */
async function* piecesOf(text: string): AsyncGenerator<string> {
  for (const [piece] of text.matchAll(/.{1,100}/gsu)) yield piece;
}

/** A folder that is removed when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs a command line without the name of the program. */
export type RunCommand = (
  args: readonly string[],
  given?: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly input?: string;
    /** To a question; absent: nobody is at the terminal. */
    readonly answer?: string;
    /** The time at which the command runs, if it isn't {@link nowMs}. */
    readonly atMs?: number;
  },
) => Promise<Ran>;
