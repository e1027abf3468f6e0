import { existsSync, readFileSync, realpathSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { isClone, esbuildModule, packageFolder } from "../packages.ts";
import { type JsonConfig, keptEvents } from "../hooks.ts";
import { DormouseTestError } from "../test-error.ts";
import { workerBuild } from "../worker-build.ts";
import type { WorkerModules } from "../worker-code.ts";
import { globPattern } from "./glob.ts";
import type { WranglerProject } from "./wrangler-file.ts";

/** The code of a Worker of one's own. */
export interface WorkerBundle {
  readonly code: string;
  /** The names that its main module exports, such as `default`. */
  readonly exports: readonly string[];
  /** Modules that aren't JavaScript, such as `.wasm`, as rules of wrangler's file say. */
  readonly others: WorkerModules;
}

/**
 * Bundles the main module of a Worker as wrangler does: with the constants, the aliases and the rules of its file.
 *
 * @throws {DormouseTestError} if there is no such file
 */
export async function bundledWorker(
  main: string,
  project: WranglerProject | undefined,
): Promise<WorkerBundle> {
  const path = resolve(main);
  if (!existsSync(path))
    throw new DormouseTestError(
      `worker: there is no file ${path}${project?.config.build.command === undefined ? "" : `; does "${project.config.build.command}" make it?`}`,
    );
  const others = new Map<string, WorkerModules[number]>();
  const options = {
    ...workerBuild,
    stdin: {
      contents: entryOf(path, eventsOf(project)),
      resolveDir: dirname(path),
      sourcefile: "test-entry.js",
    },
    metafile: true as const,
    logOverride: { "import-is-undefined": "silent" },
    loader: { ".js": "jsx", ".mjs": "jsx", ".cjs": "jsx" },
    plugins: [otherModules(project, others), nodeModules],
    ...(project && projectOptions(project)),
  } satisfies BuildOptions;
  const { outputFiles, metafile } = await esbuildModule().build(options);
  const [output] = Object.values(metafile.outputs);
  return {
    code: outputFiles[0]?.text ?? "",
    exports: output?.exports ?? [],
    others: [...others.values()],
  };
}

/** A module with all that the Worker exports, which lets the server keep what is published. */
function entryOf(path: string, events: JsonConfig | undefined): string {
  const from = JSON.stringify(path);
  const lines = [
    `export * from ${from};`,
    `import * as worker from ${from};`,
    `export default worker.default;`,
  ];
  if (events !== undefined) {
    // The file that the Worker itself imports: another copy would know nothing of its configuration.
    const switches = realpathSync(
      isClone
        ? join(packageFolder, "workers", "embedded", "kept-publications.ts")
        : join(packageFolder, "dist", "lib", "workers", "embedded", "kept-publications.js"),
    );
    lines.push(
      `import { keepPublications } from ${JSON.stringify(switches)};`,
      `globalThis.dormouseTestEvents = keepPublications(${JSON.stringify(events)});`,
    );
  }
  return lines.join("\n");
}

/** The events that keep what is published; undefined for a Worker whose build leaves events out. */
function eventsOf(project: WranglerProject | undefined): JsonConfig | undefined {
  return "DORMOUSE_WITHOUT_EVENTS" in (project?.config.define ?? {}) ? undefined : keptEvents;
}

/** The options of esbuild that a wrangler file sets. */
function projectOptions({ config, folder }: WranglerProject) {
  const nodeEnv = JSON.stringify(process.env["NODE_ENV"] ?? "development");
  return {
    absWorkingDir: folder,
    define: { "process.env.NODE_ENV": nodeEnv, ...config.define },
    ...(config.alias && { alias: config.alias }),
    ...(config.tsconfig !== undefined && { tsconfig: resolve(folder, config.tsconfig) }),
    ...(config.jsx_factory !== undefined && { jsxFactory: config.jsx_factory }),
    ...(config.jsx_fragment !== undefined && { jsxFragment: config.jsx_fragment }),
    ...(config.keep_names !== undefined && { keepNames: config.keep_names }),
  } satisfies BuildOptions;
}

/** Modules of Node.js without `node:` before their names, which the runtime has with `nodejs_compat`. */
const nodeModules: Plugin = {
  name: "node-modules",
  setup(build) {
    const names = builtinModules.filter((name) => !name.startsWith("_"));
    build.onResolve(
      { filter: new RegExp(`^(?:${names.join("|")})$`) },
      async ({ path, ...from }) => {
        if (from.pluginData === nodeModules) return undefined;
        // A package of that name, such as `buffer`, goes first where the project has one.
        const { resolveDir, importer, kind } = from;
        const own = { resolveDir, importer, kind, pluginData: nodeModules };
        const resolved = await build.resolve(path, own);
        return resolved.errors.length === 0 ? resolved : { path: `node:${path}`, external: true };
      },
    );
  },
};

/** What wrangler takes as modules of another type where its file has no rule for them. */
const defaultRules = [
  { type: "Text", globs: ["**/*.txt", "**/*.html", "**/*.sql"] },
  { type: "Data", globs: ["**/*.bin"] },
  { type: "CompiledWasm", globs: ["**/*.wasm", "**/*.wasm?module"] },
] as const;

function otherModules(
  project: WranglerProject | undefined,
  found: Map<string, WorkerModules[number]>,
): Plugin {
  const rules = [...(project?.config.rules ?? []), ...defaultRules].flatMap(({ type, globs }) =>
    type === "Text" || type === "Data" || type === "CompiledWasm"
      ? globs.map((glob) => ({ type, pattern: globPattern(glob) }))
      : [],
  );
  return {
    name: "other-modules",
    setup(build) {
      build.onResolve({ filter: /\.\w+(?:\?module)?$/ }, async ({ path, pluginData, ...from }) => {
        const rule = rules.find(({ pattern }) => pattern.test(path));
        if (rule === undefined || pluginData === found) return undefined;
        const { resolveDir, importer, kind } = from;
        const options = { resolveDir, importer, kind, pluginData: found };
        const resolved = await build.resolve(path.replace(/\?module$/, ""), options);
        if (resolved.errors.length > 0) return { errors: resolved.errors };
        const known = found.get(resolved.path);
        const place = known?.path ?? `/other-${found.size}-${basename(resolved.path)}`;
        const contents = new Uint8Array(readFileSync(resolved.path));
        found.set(resolved.path, { type: rule.type, path: place, contents });
        return { path: `.${place}`, external: true };
      });
    },
  };
}
