import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { V4WorkerOptionsShape } from "miniflare";
import type { Unstable_Config } from "wrangler";
import { wranglerModule } from "../packages.ts";
import { DormouseTestError } from "../test-error.ts";

/** Which wrangler file is read, and for which environment. */
export interface WranglerChoice {
  /** The path from the working directory. */
  readonly file: string;
  readonly environment: string | undefined;
}

/** A wrangler file as wrangler itself reads it: with the values of an environment, and with the secrets of `.dev.vars`. */
export interface WranglerProject {
  readonly file: string;
  readonly folder: string;
  readonly config: Unstable_Config;
  /** What wrangler gives to miniflare for this Worker. Nothing in it reaches beyond this machine. */
  readonly worker: V4WorkerOptionsShape;
}

/** Where no database listens, for a hyperdrive of which nobody says where its database is. */
export const noDatabase = "postgres://nobody:nothing@127.0.0.1:1/none";

/** The names of wrangler's file, in the order in which wrangler looks for them. */
const wranglerFiles = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** The wrangler file of a module: in its folder, or in the nearest one above; undefined if there is none. */
export function nearestWranglerFile(modulePath: string): string | undefined {
  const folder = dirname(resolve(modulePath));
  const found = wranglerFiles.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  return dirname(folder) === folder ? undefined : nearestWranglerFile(folder);
}

/**
 * Reads a wrangler file with the wrangler of the project, by the functions with which Cloudflare's own test runner reads it.
 *
 * @throws {DormouseTestError} with what wrangler says of the file
 */
export function readWranglerProject({ file, environment }: WranglerChoice): WranglerProject {
  const path = resolve(file);
  if (!existsSync(path)) throw new DormouseTestError(`wrangler: there is no file ${path}`);
  const wrangler = wranglerModule();
  try {
    return quietly(() => {
      const config = wrangler.unstable_readConfig({
        config: path,
        ...(environment !== undefined && { env: environment }),
      });
      const { definedEnvironments: names = [] } = config;
      if (environment !== undefined && !names.includes(environment))
        throw new Error(
          `it has no environment ${environment}; it has ${names.join(", ") || "none"}`,
        );
      const worker = workerOptions(config, environment);
      return { file: path, folder: dirname(path), config, worker };
    });
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    throw new DormouseTestError(`wrangler can't read ${path}: ${says}`);
  }
}

function workerOptions(
  config: Unstable_Config,
  environment: string | undefined,
): V4WorkerOptionsShape {
  // Wrangler insists on a database. One that a variable of the process names goes before what is said here.
  const hyperdrive = config.hyperdrive.map((one) => ({
    ...one,
    remote: false,
    localConnectionString: one.localConnectionString ?? noDatabase,
  }));
  const { workerOptions: options } = wranglerModule().unstable_getMiniflareWorkerOptions(
    { ...config, hyperdrive },
    environment,
    { overrides: { enableContainers: false } },
  );
  // The modules are bundled here, where the rules are read from the configuration.
  const { modulesRules: _, ...rest } = options;
  return rest;
}

/** Lets wrangler say nothing but errors: it warns of costs in the account, which tests don't reach. */
function quietly<Result>(read: () => Result): Result {
  const { WRANGLER_LOG: level } = process.env;
  process.env["WRANGLER_LOG"] = level ?? "error";
  try {
    return read();
  } finally {
    if (level === undefined) delete process.env["WRANGLER_LOG"];
  }
}
