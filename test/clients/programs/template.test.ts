import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wranglerScript } from "../../../cli/configuration/wrangler.ts";
import { installExample } from "../../support/environments/installed-example.ts";
import { packageRoot } from "../../../cli/package-root.ts";

const execute = promisify(execFile);
const template = join(packageRoot, "examples", "template");

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  await installExample(folder, "template");
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe("examples/template", () => {
  it("[N18] has what Cloudflare's list of templates shows, and the button", () => {
    const content: unknown = JSON.parse(readFileSync(join(template, "package.json"), "utf8"));
    expect(content).toMatchObject({
      cloudflare: {
        label: expect.any(String),
        products: ["Workers", "Durable Objects"],
        categories: expect.any(Array),
        publish: true,
      },
      scripts: { dev: "wrangler dev", deploy: "wrangler deploy" },
    });
    const readme = readFileSync(join(template, "README.md"), "utf8");
    expect(readme).toContain("https://deploy.workers.cloudflare.com/button");
    expect(readme).toMatch(/<!-- dash-content-start -->[\s\S]+<!-- dash-content-end -->/);
  });

  it("[N18] passes the compiler, and would be deployed", async () => {
    for (const project of [".", "client"])
      await execute(join(folder, "node_modules", ".bin", "tsc"), ["--project", project], {
        cwd: folder,
      });
    const deploy = [wranglerScript, "deploy", "--dry-run", "--outdir", "built"];
    const environment = {
      ...process.env,
      CI: "1",
      WRANGLER_SEND_METRICS: "false",
      PATH: `${join(folder, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`,
    };
    const { stdout } = await execute(process.execPath, deploy, { cwd: folder, env: environment });
    expect(stdout).toContain("ChannelObject");
  }, 120_000);
});
