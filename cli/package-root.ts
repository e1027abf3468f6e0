import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the package, in which its wrangler.toml and its Worker are: also for the built command line. */
export const packageRoot = fileURLToPath(new URL("..", import.meta.url));

/** The server of an installed package, which was built of its sources, from there. */
export const builtWorker = "dist/lib/package/worker.js";

/** The schema of wrangler's file with Dormouse's configuration, for editors, from there. */
export const editorSchema = "dist/wrangler-schema.json";

/** The Worker's main module, from there: its source in a clone, and what was built of it in an installed package. */
export const workerModule = existsSync(join(packageRoot, "workers", "edge.ts"))
  ? "workers/edge.ts"
  : builtWorker;
