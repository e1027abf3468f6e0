/**
 * Part of `npm run build`: builds the modules that an installed package gives to Workers and backends, as `dist/lib`. Each
 * source becomes a module and its declarations: the Worker's own bundler leaves out what isn't used, and what goes wrong is
 * named by the file that it stands in. The dependencies stay dependencies, so that a Worker with hono has one hono.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../package-root.ts";

rmSync(join(packageRoot, "dist", "lib"), { recursive: true, force: true });
execFileSync("npx", ["tsc", "-p", "package"], { cwd: packageRoot, stdio: "inherit" });
