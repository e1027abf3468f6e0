import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createViteServer } from "vitest/node";
import type { embed, embeddedHere } from "../../../workers/platform/embedded.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** What the module under test exports. */
interface Module {
  readonly embed: typeof embed;
  readonly embeddedHere: typeof embeddedHere;
}

/** What of Vite's environments runs modules on Node.js. */
interface Runnable {
  readonly runner: { readonly import: (path: string) => Promise<Module> };
}

function isRunnable(environment: object): environment is Runnable {
  return "runner" in environment;
}

const vite = await createViteServer({
  root: packageRoot,
  configFile: false,
  logLevel: "silent",
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
afterAll(() => vite.close());

describe("what a Worker's own code says, under Vite's development server", () => {
  it("[OW1] is said again after an edit, and the log says that objects keep the configuration before", async () => {
    const { ssr } = vite.environments;
    if (ssr === undefined || !isRunnable(ssr)) throw new Error("Vite runs no modules");
    const path = join(packageRoot, "workers", "platform", "embedded.ts");
    const made: Module = await ssr.runner.import(path);
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const others = { prefix: "/realtime", file: () => new Response() };
    made.embed({ ...others, config: { client: {} }, knowsUsers: false });
    made.embed({ ...others, config: { client: {} }, knowsUsers: true });
    expect(made.embeddedHere()).toMatchObject({ knowsUsers: true });
    expect(warned.mock.calls).toEqual([]);
    made.embed({ ...others, config: { channel: {} }, knowsUsers: true });
    expect(made.embeddedHere()).toMatchObject({ config: { channel: {} } });
    expect(warned.mock.calls).toEqual([[expect.stringContaining("start the development server")]]);
    warned.mockRestore();
  });
});
