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
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeFiles } from "../configuration/write-files.ts";

export type TakenFolder =
  | {
      readonly outcome: "taken";
      /**
       * The server's process keeps this descriptor open. While that process lives, no other server can take the folder.
       */
      readonly descriptor: number;
    }
  | { readonly outcome: "refused"; readonly problem: string };

/**
 * Locks the state folder of a server for as long as this process lives, or the process to which the descriptor is
 * passed. Two servers on one folder would both assign offsets to the same channels.
 */
export function takeStateFolder(folder: string): TakenFolder {
  const problem = lockFolder(folder, "--state");
  if (problem !== undefined) return { outcome: "refused", problem };
  // Of a server that was killed: by now its id may be that of any process, and an update would signal it.
  rmSync(join(folder, "server"), { force: true });
  const pipe = join(folder, "alive");
  if (!madePipe(pipe))
    return { outcome: "refused", problem: `can't create a named pipe in ${folder}` };
  if (isRead(pipe)) {
    const orphan = `a server whose parent process was killed still uses ${folder}`;
    return { outcome: "refused", problem: `${orphan}: end it with kill -9 ${processOf(folder)}` };
  }
  const { O_RDONLY, O_NONBLOCK } = constants;
  return { outcome: "taken", descriptor: openSync(pipe, O_RDONLY | O_NONBLOCK) };
}

/**
 * Locks a folder for as long as this process lives.
 *
 * @param option the option by which the operator can choose another folder
 * @returns the problem; undefined if there is none
 */
export function lockFolder(folder: string, option: string): string | undefined {
  const problem = writingProblem(folder);
  if (problem !== undefined) return problem;
  try {
    // The operating system holds this lock, and releases it however this process ends. A lock file would remain after a
    // crash.
    lock = new DatabaseSync(join(folder, "lock"));
    lock.exec("BEGIN EXCLUSIVE");
    return undefined;
  } catch {
    return `another server uses the state folder ${folder}: choose another folder with ${option}`;
  }
}

/**
 * Stores the id of the server's process, which {@link takeStateFolder} names if this process is killed and the server
 * stays.
 */
export function noteProcess(folder: string, processId: number): void {
  writeNote(folder, "process", String(processId));
}

/** Stores the id of the process of `npm run serve` itself, for {@link runningServer}. */
export function noteServer(folder: string, processId: number): void {
  writeNote(folder, "server", String(processId));
}

/** Writes a file of the state folder whole, for its user alone. */
export function writeNote(folder: string, name: string, contents: string): void {
  const path = join(folder, name);
  writeFiles([{ path, shown: path, contents, mode: 0o600, replaces: true }]);
}

export type RunningServer =
  | { readonly outcome: "running"; readonly processId: number }
  | { readonly outcome: "none"; readonly problem: string };

/** The process of `npm run serve` that has the folder now. */
export function runningServer(folder: string): RunningServer {
  const held = join(folder, "lock");
  if (!existsSync(held) || !isOpen(held))
    return { outcome: "none", problem: `no server uses the state folder ${folder}` };
  const file = join(folder, "server");
  if (!existsSync(file)) {
    const problem = `the server that uses ${folder} can't be updated: restart it`;
    return { outcome: "none", problem };
  }
  return { outcome: "running", processId: Number(readFileSync(file, "utf8")) };
}

/** Whether another process has a database open. SQLite gives one process the whole database only if no other has it. */
export function isOpen(file: string): boolean {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

// A variable, because a database without references would be closed, which would release the lock.
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
 * Whether any process has the pipe open. The lock ends with the process that took it, and can't be passed on. A
 * descriptor can be passed on, and unlike a stored process id it never refers to another process.
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

/**
 * Creates the folder, and checks that it can be written. The parent folder must exist, so that a misspelt path doesn't
 * start a new server without history.
 */
function writingProblem(folder: string): string | undefined {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    rmdirSync(mkdtempSync(join(folder, "try-")));
    return undefined;
  } catch (error) {
    return `can't write to the state folder ${folder}: ${codeOf(error)}`;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "for an unknown reason";
}
