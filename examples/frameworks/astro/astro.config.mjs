import cloudflare from "@astrojs/cloudflare";
import { defineConfig } from "astro/config";

/** Astro leaves what it builds for a server as large as it is. */
const minify = {
  name: "minify",
  configEnvironment: (name) => (name === "ssr" ? { build: { minify: true } } : undefined),
};

export default defineConfig({
  output: "server",
  adapter: cloudflare(),
  vite: { plugins: [minify] },
});
