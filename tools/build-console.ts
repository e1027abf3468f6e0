/**
 * Builds the operator's console from `console` into `public/console`, which isn't committed: `npm start`, `npm run serve`
 * and `npm run deploy` do so before they use that folder. Alone: `node tools/build-console.ts`.
 */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./wrangler.ts";

/**
 * Builds the console.
 *
 * @param folder for the files; by default the one from which they are served
 */
export async function buildConsole(folder = join(root, "public", "console")): Promise<void> {
  const source = join(root, "console");
  mkdirSync(folder, { recursive: true });
  cpSync(join(source, "icon.svg"), join(folder, "icon.svg"));
  await build({
    entryPoints: [join(source, "console.tsx"), join(source, "console.css")],
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "eof",
    logLevel: "warning",
  });
}

if (import.meta.main) await buildConsole();
