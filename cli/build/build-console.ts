/**
 * Builds the operator's console from `workers/page` into `public/console`, which isn't committed: `npm start`,
 * `npm run serve` and `npm run deploy` do so before they use that folder. Alone: `node cli/build/build-console.ts`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { operationNames } from "../../src/api/operations.ts";
import { mapLimits } from "../../src/features/maps/limits.ts";
import { limits } from "../../src/limits.ts";
import type { ServerLimits } from "../../workers/page/namespace-limits.ts";
import { methodNotes } from "../openapi/document.ts";
import { packageRoot } from "../package-root.ts";
import { ruleTexts } from "./rule-texts.ts";
import { writeChanged } from "./write-changed.ts";

/**
 * Builds the console. A file that is as it was isn't written: a server that runs already, as `npm start` in another
 * terminal, watches the folder, and would start anew and drop its connections.
 *
 * @param folder for the files; by default the one from which they are served
 */
export async function buildConsole(folder = join(packageRoot, "public", "console")): Promise<void> {
  const source = join(packageRoot, "workers", "page");
  writeChanged(join(folder, "icon.svg"), readFileSync(join(source, "icon.svg")));
  writeChanged(join(folder, "rules.json"), Buffer.from(JSON.stringify(ruleTexts())));
  const { outputFiles } = await build({
    entryPoints: [join(source, "console.tsx"), join(source, "console.css")],
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    define: {
      apiExamples: JSON.stringify(apiExamples()),
      serverLimits: JSON.stringify(serverLimits),
    },
    legalComments: "eof",
    logLevel: "warning",
    write: false,
  });
  for (const { path, contents } of outputFiles) writeChanged(path, contents);
}

/** The bounds that the page Namespaces tells. */
const { frameBytesMax, publicationBytesMax } = limits;
const { mapKeysMax, ephemeralStateBytesMax } = mapLimits;
const serverLimits: ServerLimits = {
  frameBytesMax,
  publicationBytesMax,
  mapKeysMax,
  ephemeralStateBytesMax,
};

/** Each method of the HTTP API with what it does and an example of its request, for the page API. */
function apiExamples(): object {
  const shown = operationNames((row) => row.at !== "events").map((name) => {
    const { summary, example } = methodNotes[name];
    return [name, { summary, request: example.request }];
  });
  return Object.fromEntries(shown);
}

if (import.meta.main) await buildConsole();
