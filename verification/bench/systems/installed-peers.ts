import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Where the programs lie that Dormouse is compared with, and what they are made of. */
export const peersFolder = fileURLToPath(new URL("../peers", import.meta.url));

/** Installs the packages of the peers, which the product's own install leaves alone, unless they are there already. */
export function installPeers(): Promise<void> {
  installation ??= install();
  return installation;
}

let installation: Promise<void> | undefined;

async function install(): Promise<void> {
  // npm writes this file when it has put everything there.
  const installedAtMs = modifiedAtMs(join("node_modules", ".package-lock.json"));
  if (installedAtMs > modifiedAtMs("package-lock.json")) return;
  console.error("Installing the packages that Dormouse is compared with");
  await promisify(execFile)("npm", ["ci", "--prefix", peersFolder], { cwd: peersFolder });
}

/** Ms since 1970; 0 for a file that isn't there. */
function modifiedAtMs(name: string): number {
  return statSync(join(peersFolder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
