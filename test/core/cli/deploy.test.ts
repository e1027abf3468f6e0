import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { oldNodeProblem } from "../../../cli/node-version.ts";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";

/** A project that init has laid out, with an environment, and with a program in the place of wrangler. */
async function project() {
  const folder = temporaryFolder();
  const run = recordedShell({}, folder);
  await run(["init", "--name", "chat"]);
  const file = join(folder, "wrangler.jsonc");
  // Comments are before the object.
  const { vars, ...rest } = JSON.parse(readFileSync(file, "utf8").replace(/^[^{]*/, ""));
  const { durable_objects: objects } = rest;
  const wrong = { config: { client: { ping_intervall: "4s" } } };
  const staging = { durable_objects: objects, vars: wrong };
  const local = { durable_objects: objects, vars: { ...vars, DEVELOPMENT: "true" } };
  writeFileSync(file, JSON.stringify({ ...rest, vars, env: { staging, local } }));
  const bin = join(folder, "node_modules", "wrangler", "bin");
  mkdirSync(bin, { recursive: true });
  const ran = join(folder, "ran.json");
  writeFileSync(
    join(bin, "wrangler.js"),
    `require("node:fs").writeFileSync(${JSON.stringify(ran)}, JSON.stringify(process.argv.slice(2)));
process.exitCode = process.argv.includes("--fails") ? 7 : 0;`,
  );
  const deployed = (): unknown => JSON.parse(readFileSync(ran, "utf8"));
  return { run, folder, deployed };
}

describe("dormouse deploy", () => {
  it("[A8] deploys what it has checked, with wrangler's options and its exit status", async () => {
    const { run, deployed } = await project();
    const { code, printed } = await run(["deploy", "--dry-run", "--outdir", "out"]);
    expect([code, printed]).toEqual([0, expect.stringContaining("the configuration is valid")]);
    expect(deployed()).toEqual(["deploy", "--dry-run", "--outdir", "out"]);
    expect((await run(["deploy", "--fails"])).code).toBe(7);
  });

  it("[A8] checks the environment that is deployed, also the one of CLOUDFLARE_ENV", async () => {
    const { run, deployed } = await project();
    const environment = { CLOUDFLARE_ENV: "staging" };
    for (const tried of [
      await run(["deploy", "--env", "staging"]),
      await run(["deploy"], { environment }),
    ]) {
      expect([tried.code, tried.noted]).toEqual([1, "Nothing was deployed."]);
      expect(tried.printed).toContain("client.ping_intervall");
    }
    const unknown = await run(["deploy", "--env", "production"]);
    expect([unknown.code, unknown.noted]).toEqual([
      2,
      "wrangler.jsonc has no environment production: it has staging, local",
    ]);
    expect(deployed).toThrow("ENOENT");
    expect((await run(["deploy", "--env", ""], { environment })).code).toBe(0);
  });

  it("[A10] refuses weak secrets that it would upload, and variables of npm start", async () => {
    const { run, folder, deployed } = await project();
    writeFileSync(join(folder, "lines"), 'API_KEY="hunter2"\n');
    writeFileSync(join(folder, "json"), '{"API_KEY":"${API_KEY}"}');
    const lines = await run(["deploy", "--secrets-file", "lines"]);
    expect(lines.printed).toContain("secret API_KEY has fewer than 16 characters");
    expect(lines.printed).not.toContain("hunter2");
    const json = await run(["deploy", "--secrets-file=json"]);
    expect(json.printed).toContain("secret API_KEY is a placeholder");
    const local = await run(["deploy", "--env", "local"]);
    expect(local.printed).toContain("variable DEVELOPMENT is for npm start only");
    expect([lines.code, json.code, local.code]).toEqual([1, 1, 1]);
    expect(deployed).toThrow("ENOENT");
  });

  it("says that packages aren't installed", async () => {
    const run = recordedShell({}, temporaryFolder());
    await run(["init", "--name", "chat"]);
    const { code, noted } = await run(["deploy"]);
    expect([code, noted]).toEqual([2, expect.stringContaining("the project has no wrangler")]);
  });
});

it("an old Node.js is named, with the version that is needed", () => {
  expect(oldNodeProblem("20.11.0")).toContain("need Node.js 22 or newer");
  expect(oldNodeProblem("20.11.0")).toContain("this is 20.11.0");
  expect(oldNodeProblem("22.0.0")).toBeUndefined();
});
