import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { wranglerConfigOf } from "../../../../cli/deployment/wrangler-config.ts";

/**
 * The applications, of which each has either a Worker of its own, or a configuration for the committed one. A Worker with
 * its own code is made, and served, outside of the repository: test/clients/programs/own-worker.test.ts.
 */
const examples = readdirSync("examples", { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() &&
      !["ai-chat", "container", "frameworks", "own-worker", "template"].includes(entry.name),
  )
  .map(({ name }) => name);
const withWorker = examples.filter((name) => existsSync(join("examples", name, "wrangler.toml")));
const others = examples.filter((name) => !withWorker.includes(name));

describe.each(others)("[W1] examples/%s/config.json", (name) => {
  it("has a configuration of which nothing is refused or ignored", () => {
    const text = readFileSync(join("examples", name, "config.json"), "utf8");
    expect(parseConfig(text)).toMatchObject({ outcome: "config", notes: [] });
  });
});

describe.each(withWorker)("[W1] examples/%s/wrangler.toml", (name) => {
  const file = `examples/${name}/wrangler.toml`;
  const example = wranglerConfigOf({ file });

  it("has the Worker, the objects and the assets of the repository's own", () => {
    const own = wranglerConfigOf({});
    // Code of channels comes with a module of its own, which exports the Worker.
    const module = join("examples", name, "worker.ts");
    const main = existsSync(module) ? resolve(module) : own.main;
    expect(workerOf(example, file)).toStrictEqual(workerOf({ ...own, main }, "wrangler.toml"));
  });

  it("has a configuration of which nothing is refused or ignored", () => {
    expect(parseConfig(example.vars["config"])).toMatchObject({ outcome: "config", notes: [] });
  });
});

/** The configuration that all Workers of Dormouse share, with the folder of the assets as an absolute path. */
function workerOf(config: ReturnType<typeof wranglerConfigOf>, file: string) {
  const { main, compatibility_date, compatibility_flags, keep_names, minify } = config;
  const directory = resolve(dirname(file), config.assets?.directory ?? "");
  return {
    build: { main, compatibility_date, compatibility_flags, keep_names, minify },
    objects: [config.durable_objects, config.migrations],
    assets: { ...config.assets, directory },
  };
}
