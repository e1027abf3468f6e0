import cloudflare from "@astrojs/cloudflare";
import { defineConfig } from "astro/config";

export default defineConfig({
  output: "server",
  adapter: cloudflare(),
  // Vite minifies what it builds for a server only if it is told to.
  vite: { environments: { ssr: { build: { minify: true } } } },
});
