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
  const lists = mkdtempSync(join(tmpdir(), "dormouse-lists-"));
  try {
    // Lists of its own, because those of the machine may be missing or old, and none of what the machine has installed.
    mkdirSync(join(lists, "cache", "archives", "partial"), { recursive: true });
    mkdirSync(join(lists, "lists", "partial"), { recursive: true });
    const options = [
      `Dir::State=${lists}`,
      `Dir::Cache=${join(lists, "cache")}`,
      "Dir::State::status=/dev/null",
      "APT::Sandbox::User=",
    ].flatMap((option) => ["-o", option]);
    await run("apt-get", [...options, "--quiet", "update"]);
    const names = neededBy(packages, options).filter((name) => kept.test(name));
    if (names.length > 0) await run("apt-get", [...options, "download", ...names], { cwd: lists });
    for (const file of readdirSync(lists).filter((name) => name.endsWith(".deb")))
      await run("dpkg-deb", ["--extract", join(lists, file), folder]);
  } finally {
    rmSync(lists, { recursive: true });
  }
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
