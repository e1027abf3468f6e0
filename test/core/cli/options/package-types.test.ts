import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { configSchema } from "../../../../cli/package-types/config-schema.ts";
import { packageTypes } from "../../../../cli/package-types/package-types.ts";
import { packageRoot } from "../../../../cli/package-root.ts";
import { packageName } from "../../../../src/version.ts";

const source = (file: string): string => readFileSync(join(packageRoot, file), "utf8");

it("the types of the package are those of the configuration's readers and of the HTTP API", (test) => {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = packageTypes();
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const formatter = join(packageRoot, "node_modules", ".bin", "oxfmt");
  const options = ["-c", join(packageRoot, ".oxfmtrc.json"), ...files.keys()];
  execFileSync(formatter, options, { cwd: folder });
  for (const file of files.keys())
    expect(readFileSync(join(folder, file), "utf8")).toBe(source(file));
});

it("the schema of the configuration has every key with its type", () => {
  const { properties = {} } = configSchema();
  const { client, channel } = properties;
  expect(Object.keys(properties)).toEqual(
    expect.arrayContaining(["channel", "client", "consumers", "events", "http_api", "rpc"]),
  );
  expect(client?.properties?.["pong"]).toEqual({
    type: "string",
    enum: ["auto", "always", "never"],
  });
  expect(client?.properties?.["queue_max_size"]).toEqual({ type: "integer", minimum: 65_536 });
  const namespaces = channel?.properties?.["namespaces"]?.items?.properties;
  expect(namespaces?.["map"]?.properties?.["mode"]?.enum).toContain("persistent");
  expect(namespaces?.["shared_poll"]?.properties?.["refresh_interval"]?.type).toBe("string");
});

it("the package has one name", () => {
  const { name }: { readonly name?: string } = JSON.parse(source("package.json"));
  expect(name).toBe(packageName);
});
