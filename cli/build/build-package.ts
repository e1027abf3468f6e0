/**
 * Part of `npm run build`: builds the modules that an installed package gives to Workers and backends, as `dist/lib`. Each
 * source becomes a module and its declarations: the Worker's own bundler leaves out what isn't used, and what goes wrong is
 * named by the file that it stands in. The dependencies stay dependencies, so that a Worker with hono has one hono.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { packageRoot } from "../package-root.ts";
import { workerBuild } from "../../package/test/worker-build.ts";
import { configDeclaration } from "../options/config-declaration.ts";
import { wranglerSchema } from "../options/wrangler-schema.ts";
import { writeChanged } from "./write-changed.ts";

/** The files of each project from which all others of the package are imported. */
const entriesOfProjects = {
  package: ["package/*.ts", "workers/exports.d.ts", "workers/embedded/kept-publications.ts"],
  "package/ai": ["package/ai/index.ts"],
  "package/react": ["package/react/index.ts"],
  "package/test": ["package/test/**/*.ts"],
};

/** What `dormouse-realtime/files` exports (package/files.d.ts): files of `public`. */
const fileSets = {
  consoleFiles: ["console.js", "console.css", "icon.svg", "rules.json"].map(
    (name) => `console/${name}`,
  ),
  swaggerFiles: ["openapi.json", "swagger.html", "swagger.css"],
  clientFiles: ["keepalive-websocket.js", "messagepack-centrifuge.js"],
};

buildModules(join(packageRoot, "dist", "lib"));
// Beside it in an installed package is wrangler, whose own schema stays in force.
writeChanged(
  join(packageRoot, "dist", "wrangler-schema.json"),
  Buffer.from(JSON.stringify(wranglerSchema("../../wrangler/config-schema.json"))),
);
await buildTestServer(join(packageRoot, "dist", "test"));

/** Compiles the entries and all that they import into a folder. */
function buildModules(folder: string): void {
  const compiled = mkdtempSync(join(tmpdir(), "dormouse-build-"));
  try {
    for (const [project, entries] of Object.entries(entriesOfProjects))
      compile(project, entries, compiled);
    // The compiler's declaration has each option's sentence, but neither its default nor its unit.
    const declaration = join(compiled, "src", "features", "options.d.ts");
    writeChanged(declaration, Buffer.from(configDeclaration()));
    const files = join(compiled, "package", "files");
    writeChanged(`${files}.js`, Buffer.from(filesModule(join(packageRoot, "public"))));
    writeChanged(`${files}.d.ts`, readFileSync(join(packageRoot, "package", "files.d.ts")));
    replaceFiles(compiled, folder);
  } finally {
    rmSync(compiled, { recursive: true });
  }
}

/**
 * The module of `dormouse-realtime/files`. Texts in a module are what every bundler takes, and what needs no folder of assets,
 * of which a Worker has one at most.
 *
 * @param folder with the files that are served
 */
function filesModule(folder: string): string {
  const sets = Object.entries(fileSets).map(([name, paths]) => {
    const files = paths.map((path) => [`/${path}`, readFileSync(join(folder, path), "utf8")]);
    return `export const ${name} = ${JSON.stringify(Object.fromEntries(files))};\n`;
  });
  return sets.join("");
}

/** Compiles entries with the options of a project, which for editors lists all files that it sees. */
function compile(project: string, entries: readonly string[], outDir: string): void {
  const cache = join(packageRoot, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  // Beside the installed packages, where the compiler looks for types.
  const folder = mkdtempSync(join(cache, "dormouse-build-"));
  try {
    const emitted = { noEmit: false, composite: false, declaration: true };
    const places = { rootDir: packageRoot, outDir, rewriteRelativeImportExtensions: true };
    const config = {
      extends: join(packageRoot, project, "tsconfig.json"),
      compilerOptions: { ...emitted, ...places },
      include: entries.map((entry) => join(packageRoot, entry)),
      exclude: [],
    };
    writeChanged(join(folder, "tsconfig.json"), Buffer.from(JSON.stringify(config)));
    execFileSync("npx", ["tsc", "-p", folder], { cwd: packageRoot, stdio: "inherit" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes a folder as another one is. Files that are the same in both stay as they are. */
function replaceFiles(from: string, to: string): void {
  const files = new Set(filesIn(from));
  for (const file of files) writeChanged(join(to, file), readFileSync(join(from, file)));
  // What a build that runs at the same time hasn't finished isn't a module.
  for (const file of filesIn(to))
    if (/\.[jt]s$/.test(file) && !files.has(file)) rmSync(join(to, file), { force: true });
}

/** All files below a folder, by their paths from there. */
function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Builds what the test kit runs beside its own modules: the server as one module, and what is around it. */
async function buildTestServer(folder: string): Promise<void> {
  const around = join(packageRoot, "package", "test", "worker");
  for (const file of filesIn(around))
    writeChanged(join(folder, file), readFileSync(join(around, file)));
  const { outputFiles } = await build({
    entryPoints: [join(packageRoot, "workers", "edge.ts")],
    ...workerBuild,
  });
  for (const { contents } of outputFiles) writeChanged(join(folder, "server.js"), contents);
}
