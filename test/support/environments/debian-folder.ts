import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachedFolder } from "./cached-folder.ts";

/**
 * A folder with the files of Debian's packages, with nothing installed on the machine. It is created on first use, which
 * takes a download, and reused from then on.
 *
 * @param packages their names
 * @param kept     which of them, and of all that they need, are unpacked
 * @returns undefined on a machine whose distribution has no such packages
 */
export async function debianFolder(
  packages: readonly string[],
  kept: RegExp,
): Promise<string | undefined> {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return undefined;
  const release = spawnSync("cat", ["/etc/os-release"], { encoding: "utf8" }).stdout;
  const content = JSON.stringify([packages, release]);
  const folder = await cachedFolder("debian", content, (empty) => unpack(empty, packages, kept));
  return existsSync(join(folder, "usr")) ? folder : undefined;
}

/** Leaves the folder empty without packages. */
async function unpack(folder: string, packages: readonly string[], kept: RegExp): Promise<void> {
  const options = await (listed ??= list());
  const downloads = mkdtempSync(join(tmpdir(), "dormouse-packages-"));
  try {
    const names = neededBy(packages, options).filter((name) => kept.test(name));
    const download = [...options, "download", ...names];
    if (names.length > 0) await run("apt-get", download, { cwd: downloads });
    for (const file of readdirSync(downloads))
      await run("dpkg-deb", ["--extract", join(downloads, file), folder]);
  } finally {
    rmSync(downloads, { recursive: true });
  }
}

/** The options of {@link list}, which this process calls once. */
let listed: Promise<readonly string[]> | undefined;

/**
 * Downloads the lists of all packages, and gives the options with which `apt-get` reads them until this process ends. They
 * are its own, because those of the machine may be missing or old, without what the machine has installed.
 */
async function list(): Promise<readonly string[]> {
  const lists = mkdtempSync(join(tmpdir(), "dormouse-lists-"));
  process.once("exit", () => rmSync(lists, { recursive: true }));
  mkdirSync(join(lists, "cache", "archives", "partial"), { recursive: true });
  mkdirSync(join(lists, "lists", "partial"), { recursive: true });
  const options = [
    `Dir::State=${lists}`,
    `Dir::Cache=${join(lists, "cache")}`,
    "Dir::State::status=/dev/null",
    "APT::Sandbox::User=",
  ].flatMap((option) => ["-o", option]);
  await run("apt-get", [...options, "--quiet", "update"]);
  return options;
}

/** The packages, with all those that they need; none if the distribution lacks one. */
function neededBy(packages: readonly string[], options: readonly string[]): readonly string[] {
  const install = [...options, "install", "--simulate", "--no-install-recommends", ...packages];
  const simulated = spawnSync("apt-get", install, { encoding: "utf8" });
  if (simulated.status !== 0) return [];
  return Array.from(simulated.stdout.matchAll(/^Inst (\S+)/gm), ([, name = ""]) => name);
}

/** Rejects with the program's standard error. */
const run = promisify(execFile);
