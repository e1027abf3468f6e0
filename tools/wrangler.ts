import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository, in which wrangler commands run. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The script of the wrangler command. */
export const wranglerScript = join(root, "node_modules", "wrangler", "bin", "wrangler.js");

/** The names of wrangler's configuration file, in the order in which wrangler looks for them. */
export const wranglerFiles = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
