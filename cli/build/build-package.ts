/**
 * Part of `npm run build`: builds the modules that an installed package gives to Workers and backends, as `dist/lib`. Each
 * source becomes a module and its declarations: the Worker's own bundler leaves out what isn't used, and what goes wrong is
 * named by the file that it stands in. The dependencies stay dependencies, so that a Worker with hono has one hono.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { packageRoot } from "../package-root.ts";

const emitting = [
  "--noEmit false",
  "--declaration",
  "--rewriteRelativeImportExtensions",
  "--rootDir .",
  "--outDir dist/lib",
].flatMap((option) => option.split(" "));
const lib = join(packageRoot, "dist", "lib");
rmSync(lib, { recursive: true, force: true });
for (const project of ["package", "package/test"])
  execFileSync("npx", ["tsc", "-p", project, ...emitting], { cwd: packageRoot, stdio: "inherit" });
await buildTestServer(join(packageRoot, "dist", "test"));

/** Builds what the test kit runs beside its own modules: the server as one module, and what is around it. */
async function buildTestServer(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  cpSync(join(packageRoot, "package", "test", "worker"), folder, { recursive: true });
  const { outputFiles } = await build({
    entryPoints: [join(packageRoot, "workers", "edge.ts")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
  });
  writeFileSync(join(folder, "server.js"), outputFiles[0]?.text ?? "");
}
