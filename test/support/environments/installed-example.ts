import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../../cli/package-root.ts";
import { packageName } from "../../../src/version.ts";
import { packedInto } from "./packed-package.ts";

/**
 * Copies a project of `examples` into a folder, and installs what it depends on: the package as it is packed, and everything
 * else from the registry but wrangler. That would take most of the time, and nothing of the package is in it.
 *
 * @param versions of dependencies, in place of the example's own
 * @returns the name of the package's file in the folder
 */
export async function installExample(
  folder: string,
  example: string,
  versions: Readonly<Record<string, string>> = {},
): Promise<string> {
  const archive = await packedInto(folder);
  cpSync(join(packageRoot, "examples", example), folder, { recursive: true });
  const file = join(folder, "package.json");
  const project: PackageFile = JSON.parse(readFileSync(file, "utf8"));
  const { wrangler: _, ...devDependencies } = project.devDependencies;
  const dependencies = {
    ...project.dependencies,
    ...versions,
    [packageName]: `file:${archive}`,
  };
  writeFileSync(file, JSON.stringify({ ...project, dependencies, devDependencies }, undefined, 2));
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
  // So that the error says that it was npm.
  await promisify(execFile)("npm", install, { cwd: folder, timeout: 240_000 });
  return archive;
}

/** Gives a project a package of this repository: nothing is downloaded. */
export function linkPackage(project: string, name: string): void {
  const installed = join("node_modules", name);
  mkdirSync(dirname(join(project, installed)), { recursive: true });
  symlinkSync(join(packageRoot, installed), join(project, installed));
}

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
