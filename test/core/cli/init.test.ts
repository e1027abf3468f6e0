import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";
import { packageName } from "../../../src/version.ts";

describe("dormouse init", () => {
  it("[A10] lays out a project with a valid configuration and strong secrets", async () => {
    const folder = temporaryFolder();
    const { code, printed } = await recordedShell({}, folder)(["init", "my-chat"]);
    expect(code).toBe(0);
    const project = join(folder, "my-chat");
    const run = recordedShell({}, project);
    const checked = await run(["check", "--secrets", ".dev.vars"]);
    expect([checked.code, checked.printed]).toEqual([
      0,
      "wrangler.jsonc: the configuration is valid\nThe Worker needs these secrets: API_KEY, TOKEN_HMAC_SECRET_KEY",
    ]);
    const secrets = parseEnv(readFileSync(join(project, ".dev.vars"), "utf8"));
    const names = ["API_KEY", "CONSOLE_PASSWORD", "TOKEN_HMAC_SECRET_KEY"];
    expect(Object.keys(secrets).toSorted()).toEqual(names);
    for (const secret of Object.values(secrets)) expect(secret).toMatch(/^[0-9a-f]{32,}$/);
    for (const secret of Object.values(secrets)) expect(printed).not.toContain(secret);
    expect(statSync(join(project, ".dev.vars")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(project, ".gitignore"), "utf8")).toContain(".dev.vars*");
    expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toMatchObject({
      name: "my-chat",
      // The port is in wrangler.jsonc, so that `npm start -- --port` names one.
      scripts: { start: expect.not.stringContaining("--port"), deploy: "dormouse deploy" },
      engines: { node: ">=22" },
      dependencies: { [packageName]: expect.stringMatching(/^file:/) },
    });
  });

  it("says in the file who made it, and on which port it serves", async () => {
    const folder = temporaryFolder();
    await recordedShell({}, folder)(["init", "my-chat"]);
    const text = readFileSync(join(folder, "my-chat", "wrangler.jsonc"), "utf8");
    expect(text).toMatch(/^\/\/ Made by dormouse init\. /);
    expect(text).toContain('"dev": {\n    "port": 8787\n  }');
  });

  it("replaces nothing", async () => {
    const run = recordedShell({ "wrangler.jsonc": "mine" });
    const { code, noted } = await run(["init"]);
    expect([code, noted]).toEqual([
      2,
      "wrangler.jsonc exists: init needs a folder without it, and init --existing adds to a project",
    ]);
    expect((await run(["init", "x", "--name", "A b"])).code).toBe(2);
  });

  it("lays out code of channels, which one line of wrangler's file finds", async () => {
    const folder = temporaryFolder();
    const { code, printed } = await recordedShell({}, folder)(["init", "votes", "--code"]);
    expect(code).toBe(0);
    expect(printed).toContain("Wrote votes/channels.ts");
    const project = join(folder, "votes");
    const text = (file: string) => readFileSync(join(project, file), "utf8");
    expect(text("wrangler.jsonc")).toContain('"main": "worker.ts"');
    expect(text("worker.ts")).toContain(`from "${packageName}/worker"`);
    // A namespace that channels.ts has code for is one of the configuration.
    const checked = await recordedShell({}, project)(["check", "--secrets", ".dev.vars"]);
    expect(checked.printed).toContain("the configuration is valid");
    expect(text("wrangler.jsonc")).toContain('"name": "votes"');
    expect(text("channels.ts")).toContain("  votes: channel({");
    expect(JSON.parse(text("package.json"))).toMatchObject({
      scripts: { types: "tsc" },
      devDependencies: { typescript: expect.any(String) },
    });
    const both = await recordedShell({}, folder)(["init", "--existing", "--code"]);
    expect(both.code).toBe(2);
  });
});
