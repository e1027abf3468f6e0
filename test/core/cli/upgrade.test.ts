import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageName } from "../../../src/version.ts";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";

describe("dormouse upgrade", () => {
  it("brings a project of an earlier init to the package, once", async () => {
    const former = {
      "package.json": '{"scripts":{"check":"dormouse check"},"dependencies":{"dormouse": "0.1.0"}}',
      "wrangler.jsonc": `{
        // Mine.
        "main": "node_modules/dormouse/workers/edge.ts",
        "assets": { "directory": "node_modules/dormouse/public" }
      }`,
    };
    const folder = temporaryFolder();
    const run = recordedShell(former, folder);
    const { code, printed } = await run(["upgrade"]);
    expect([code, printed]).toEqual([
      0,
      [
        `package.json: depends on ${packageName} 0.1.0`,
        "wrangler.jsonc: main is the server of the package",
        "wrangler.jsonc: the assets are those of the package",
        "Next: npm install",
      ].join("\n"),
    ]);
    const [project = "", worker = ""] = ["package.json", "wrangler.jsonc"].map((name) =>
      readFileSync(join(folder, name), "utf8"),
    );
    const { scripts, dependencies }: Record<string, object> = JSON.parse(project);
    expect({ scripts, dependencies }).toEqual({
      scripts: { check: "dormouse check" },
      dependencies: { [packageName]: expect.any(String) },
    });
    expect(worker).toContain(`"main": "node_modules/${packageName}/dist/lib/package/worker.js"`);
    expect(worker).toContain(`"directory": "node_modules/${packageName}/public"`);
    expect(worker).toContain("// Mine.");
    expect(await run(["upgrade"])).toMatchObject({
      code: 0,
      printed: "The project is up to date.",
    });
  });

  it("refuses what is no project, and one without the package", async () => {
    expect(await recordedShell({})(["upgrade"])).toMatchObject({
      code: 2,
      noted: "there is no package.json: upgrade takes the folder of a project",
    });
    expect(await recordedShell({ "package.json": "{}" })(["upgrade"])).toMatchObject({ code: 2 });
  });
});
