import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type TakenFolder =
  | {
      readonly outcome: "taken";
      /** What the server's process is to keep open: as long as it lives, nobody else gets the folder. */
      readonly descriptor: number;
    }
  | { readonly outcome: "refused"; readonly problem: string };

/**
 * Makes a server's folder its own, for as long as this process lives, or the one that was given the descriptor. Two servers on
 * one folder would each believe that they alone assign a channel's offsets.
 */
export function takeStateFolder(folder: string): TakenFolder {
  const problem = writingProblem(folder);
  if (problem !== undefined) return { outcome: "refused", problem };
  try {
    // Held by the system and not by a file's being there: however this process ends, the next one isn't kept out.
    lock = new DatabaseSync(join(folder, "lock"));
    lock.exec("BEGIN EXCLUSIVE");
  } catch {
    const taken = `another server has its state in ${folder}: name another folder with --state`;
    return { outcome: "refused", problem: taken };
  }
  const pipe = join(folder, "alive");
  if (!madePipe(pipe))
    return { outcome: "refused", problem: `no named pipe can be made in ${folder}` };
  if (isRead(pipe)) {
    const orphan = `a server whose parent was killed still runs on ${folder}`;
    return { outcome: "refused", problem: `${orphan}: end it with kill -9 ${processOf(folder)}` };
  }
  const { O_RDONLY, O_NONBLOCK } = constants;
  return { outcome: "taken", descriptor: openSync(pipe, O_RDONLY | O_NONBLOCK) };
}

/** Notes whom {@link takeStateFolder} is to name, should this process be killed and leave that one behind. */
export function noteProcess(folder: string, processId: number): void {
  writeFileSync(join(folder, "process"), String(processId), { mode: 0o600 });
}

// What nothing refers to is closed, and the lock would be gone.
let lock: DatabaseSync | undefined;

function madePipe(pipe: string): boolean {
  if (existsSync(pipe)) return true;
  try {
    execFileSync("mkfifo", ["-m", "600", pipe], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether any process has the pipe open. The lock ends with the process that took it, and can't be handed on; a descriptor can,
 * and unlike a noted process id it is never somebody else's.
 */
function isRead(pipe: string): boolean {
  const { O_WRONLY, O_NONBLOCK } = constants;
  try {
    closeSync(openSync(pipe, O_WRONLY | O_NONBLOCK));
    return true;
  } catch (error) {
    if (codeOf(error) === "ENXIO") return false;
    throw error;
  }
}

function processOf(folder: string): string {
  const file = join(folder, "process");
  return existsSync(file) ? readFileSync(file, "utf8") : "and its process id";
}

/** The folder that it lies in has to be there: a misspelt path shouldn't begin a new life without history. */
function writingProblem(folder: string): string | undefined {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    rmdirSync(mkdtempSync(join(folder, "try-")));
    return undefined;
  } catch (error) {
    return `the state folder ${folder} can't be written: ${codeOf(error)}`;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "for an unknown reason";
}
