/**
 * `npm run build`: builds the command line as `dist/dormouse.js`, one module without dependencies. An installed package
 * needs it, because Node.js doesn't strip types in `node_modules`.
 */
import { join } from "node:path";
import { build } from "esbuild";
import { packageRoot } from "../package-root.ts";
import { writeChanged } from "./write-changed.ts";

const outfile = join(packageRoot, "dist", "dormouse.js");

const { outputFiles } = await build({
  entryPoints: [join(packageRoot, "cli", "dormouse.ts")],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  // The oldest one in "engines" of package.json: npx runs the Node.js that is there.
  target: "node20",
  // Packages of which only the CommonJS form exists call `require` for Node's own modules.
  banner: {
    js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);',
  },
  // A module can be bundled; the older form of some packages loads its parts while it runs.
  mainFields: ["module", "main"],
  // WebSockets are faster with two of them, and PostgreSQL with the third; both work without.
  external: ["bufferutil", "utf-8-validate", "pg-native"],
  legalComments: "linked",
  logLevel: "warning",
  write: false,
});
for (const { path, contents } of outputFiles) writeChanged(path, contents, 0o755);
