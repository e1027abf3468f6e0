import { fileURLToPath } from "node:url";

/** The folder of the package, in which its wrangler.toml and its Worker are: also for the built command line. */
export const packageRoot = fileURLToPath(new URL("..", import.meta.url));
