import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository: where every command of wrangler's is run. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The script that node runs for a command of wrangler's. */
export const wranglerScript = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
