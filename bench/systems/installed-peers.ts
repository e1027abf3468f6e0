import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The folder of the programs that Dormouse is compared with, and of their packages. */
export const peersFolder = fileURLToPath(new URL("../peers", import.meta.url));

/**
 * Installs the packages of the peers unless they are installed already. The product's own install doesn't include them.
 */
export function installPeers(): Promise<void> {
  installation ??= install();
  return installation;
}

let installation: Promise<void> | undefined;

async function install(): Promise<void> {
  // npm writes this file when the install is complete.
  const installedAtMs = modifiedAtMs(join("node_modules", ".package-lock.json"));
  if (installedAtMs > modifiedAtMs("package-lock.json")) return;
  console.error("Installing the packages that Dormouse is compared with");
  await promisify(execFile)("npm", ["ci", "--prefix", peersFolder], { cwd: peersFolder });
}

/** Ms since 1970; 0 for a missing file. */
function modifiedAtMs(name: string): number {
  return statSync(join(peersFolder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
