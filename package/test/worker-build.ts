import type { BuildOptions } from "esbuild";

/** How esbuild makes one module of a Worker, of the server or of one's own. */
export const workerBuild = {
  bundle: true,
  write: false,
  format: "esm",
  target: "es2022",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  logLevel: "warning",
} satisfies BuildOptions;
