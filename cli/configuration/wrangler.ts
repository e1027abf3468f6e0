import { join } from "node:path";
import { packageRoot } from "../package-root.ts";

/** The script of the wrangler command. */
export const wranglerScript = join(packageRoot, "node_modules", "wrangler", "bin", "wrangler.js");

/** The names of wrangler's configuration file, in the order in which wrangler looks for them. */
export const wranglerFiles = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
