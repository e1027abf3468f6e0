import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { installExample, linkPackage } from "../../support/environments/installed-example.ts";

const execute = promisify(execFile);
const own: PackageFile = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));

interface PackageFile {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The project's Worker, as the kit runs it, with a client of the project's own. */
const script = `
import { startDormouse } from "dormouse-realtime/test";
const rt = await startDormouse({ worker: ${JSON.stringify(join("src", "index.ts"))}, prefix: "/realtime" });
const ann = await rt.client({ user: "ann", subscribe: ["chat:lobby"] });
await rt.publish("chat:lobby", "hello");
console.log(JSON.stringify(await ann.received("chat:lobby", 1)));
await rt.stop();
`;

/** The first version of a range such as ">=4.8.0 <5" or "^5.0.0". */
function oldestOf(name: string): string {
  const [version] = /\d+\.\d+\.\d+/.exec(own.peerDependencies[name] ?? "") ?? [];
  if (version === undefined) throw new Error(`the range of ${name} begins with no version`);
  return version;
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("[OW12] the oldest wrangler of the range is the one that all other tests run", () => {
  expect(oldestOf("wrangler")).toBe(own.devDependencies["wrangler"]);
});

describe("a project with other versions of what the package shares with it", () => {
  it.each([
    ["the oldest", { hono: oldestOf("hono"), centrifuge: oldestOf("centrifuge") }],
    ["the newest", { hono: "4", centrifuge: "5" }],
  ])(
    "[OW12] has one hono: %s",
    async (_, versions) => {
      await installExample(folder, "own-worker", versions);
      linkPackage(folder, "wrangler");
      const { stdout: copies } = await execute("npm", ["query", "#hono"], { cwd: folder });
      const found: readonly { readonly location: string }[] = JSON.parse(copies);
      expect(found.map(({ location }) => location)).toEqual([join("node_modules", "hono")]);
      // The declarations of an older hono don't fit the newest compiler and types of Workers by themselves.
      const compile = ["tsc", "-p", ".", "--skipLibCheck"];
      expect((await execute("npx", compile, { cwd: folder })).stdout).toBe("");
      writeFileSync(join(folder, "run.mjs"), script);
      const { stdout } = await execute(process.execPath, ["run.mjs"], { cwd: folder });
      expect(stdout).toBe('["hello"]\n');
      // It downloads what the project is made of.
    },
    180_000,
  );
});
