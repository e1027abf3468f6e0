import adapter from "@sveltejs/adapter-cloudflare";

// The adapter writes to the `main` of the file that it reads, so it reads another one than wrangler.
const file = "wrangler.adapter.jsonc";

export default { kit: { adapter: adapter({ config: file, platformProxy: { configPath: file } }) } };
