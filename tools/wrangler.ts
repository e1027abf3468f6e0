import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository, in which wrangler commands run. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The script of the wrangler command. */
export const wranglerScript = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
