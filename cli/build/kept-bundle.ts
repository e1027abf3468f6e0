/** `node cli/build/kept-bundle.ts` builds the bundle of wrangler.toml before its first start, as in a container. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { configurationFile, wranglerConfigOf } from "../deployment/wrangler-config.ts";
import type { Target } from "../configuration/command-line.ts";
import { packageRoot } from "../package-root.ts";
import { productionBundle } from "./production-bundle.ts";
import { writeChanged } from "./write-changed.ts";

/** `npm ci` deletes it together with the packages from which the bundles were made. */
const folder = join(packageRoot, "node_modules", ".cache", "dormouse-bundles");

/** How many bundles are kept: those of this version and of the one before, for some configurations. */
const keptMax = 8;

/** What a bundle is made from, beside wrangler's configuration. The lock file stands for the packages. */
const sources = ["package-lock.json", "package.json", "src", "tsconfig.json", "workers"];

/**
 * The production bundle. It is built only if none is kept that was made from the same sources, packages and settings: to
 * build it takes longer than all else at a start.
 */
export function keptBundle(target: Target): string {
  const config = wranglerConfigOf(target);
  const environment = target.environment === undefined ? [] : ["--env", target.environment];
  const build = () =>
    productionBundle(undefined, ["--config", configurationFile(target), ...environment]);
  const { alias = {}, rules, build: before, main } = config;
  // What is elsewhere isn't looked at.
  const isOurs =
    main === join(packageRoot, "workers", "edge.ts") &&
    Object.keys(alias).length + rules.length === 0 &&
    before.command === undefined;
  if (!isOurs) return build();
  // Paths and variables are no part of the bundle.
  const settings = {
    ...config,
    vars: undefined,
    configPath: undefined,
    userConfigPath: undefined,
    assets: undefined,
  };
  const file = join(folder, `${keyOf(JSON.stringify(settings))}.js`);
  if (existsSync(file)) return kept(file);
  const bundle = build();
  keep(file, bundle);
  return bundle;
}

/** A hash of the settings and of the names and contents of all sources. */
function keyOf(settings: string): string {
  const hash = createHash("sha256").update(settings);
  for (const name of sources) addTo(hash, join(packageRoot, name));
  return hash.digest("hex");
}

/** A file that isn't there, as the settings of the compiler in a container, adds nothing. */
function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) hash.update(`\0${path}\0`).update(readFileSync(path));
  else for (const name of readdirSync(path).toSorted()) addTo(hash, join(path, name));
}

function kept(file: string): string {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Another user's folder: then the order in which bundles are forgotten is another one.
  }
  return readFileSync(file, "utf8");
}

/** Keeps a bundle, and deletes those that weren't used for longest. A folder that can't be written keeps none. */
function keep(file: string, bundle: string): void {
  try {
    writeChanged(file, Buffer.from(bundle));
    const files = readdirSync(folder).map((name) => join(folder, name));
    const byUse = files.toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
    for (const old of byUse.slice(keptMax)) rmSync(old, { force: true });
  } catch {
    // The next start builds it again.
  }
}

if (import.meta.main) keptBundle({});
