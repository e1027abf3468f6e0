import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";

/** The machine and the versions of a run. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGibibytes: number;
  /** Such as `Linux 6.1.0`. */
  readonly system: string;
  /** By name, such as `node`, `workerd`, `ws`. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Reads the facts about this machine. The commit is left out without git or a repository. */
export function thisMachine(): Machine {
  const commit = commitHere();
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    versions: {
      dormouse: [packageAt("package.json").version, commit].filter((part) => part !== "").join(" "),
      node: process.versions.node,
      workerd: packageAt("node_modules/workerd/package.json").version,
      ...packageAt("bench/peers/package.json").dependencies,
    },
  };
}

/** One line for people. */
export function machineLine({ processor, cores, memoryGibibytes, system }: Machine): string {
  return `${cores} × ${processor}, ${memoryGibibytes} GiB, ${system}`;
}

/** One line for people. */
export function versionsLine({ versions }: Machine): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}

function packageAt(path: string): Package {
  const found: Partial<Package> = JSON.parse(readFileSync(join(root, path), "utf8"));
  return { version: found.version ?? "", dependencies: found.dependencies ?? {} };
}

/** Such as `1a2b3c4`, with a plus sign if files differ from it. */
function commitHere(): string {
  try {
    const changed = git("status", "--porcelain", "--untracked-files=no") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${changed ? "+" : ""}`;
  } catch {
    return "";
  }
}

function git(...given: readonly string[]): string {
  const printed = execFileSync("git", given, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
  return printed.toString().trim();
}

interface Package {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, "../..");
