import { readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { wranglerConfigOf } from "../../../tools/wrangler-config.ts";

describe.each(readdirSync("examples"))("[W1] examples/%s/wrangler.toml", (name) => {
  const file = `examples/${name}/wrangler.toml`;
  const example = wranglerConfigOf({ file });

  it("has the Worker, the objects and the assets of the repository's own", () => {
    const own = wranglerConfigOf({});
    expect(workerOf(example, file)).toStrictEqual(workerOf(own, "wrangler.toml"));
  });

  it("has a configuration of which nothing is refused or ignored", () => {
    expect(parseConfig(example.vars["config"])).toMatchObject({ outcome: "config", notes: [] });
  });
});

/** What all Workers of Dormouse have in common, with the folder of the assets as an absolute path. */
function workerOf(config: ReturnType<typeof wranglerConfigOf>, file: string) {
  const { main, compatibility_date, compatibility_flags, keep_names, minify } = config;
  const directory = resolve(dirname(file), config.assets?.directory ?? "");
  return {
    build: { main, compatibility_date, compatibility_flags, keep_names, minify },
    objects: [config.durable_objects, config.migrations],
    assets: { ...config.assets, directory },
  };
}
