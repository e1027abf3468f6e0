import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WorkerFolder } from "../support/worker-folder.ts";

const misspelt = JSON.stringify({ client: { ping_intervall: "4s" } });

let worker: WorkerFolder;

beforeAll(() => {
  worker = new WorkerFolder('[env.staging.vars.config.client]\nping_intervall = "4s"', {});
});
afterAll(() => worker.remove());

/** Runs the script of `npm run deploy` without a deployment, and gives its exit status and output. */
async function deploy(options: readonly string[]) {
  const script = join(root, "tools", "deploy.ts");
  const started = spawn(process.execPath, [script, "--dry-run", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", WRANGLER_SEND_METRICS: "false" },
  });
  let printed = "";
  const take = (chunk: Buffer) => (printed += chunk.toString());
  started.stdout.on("data", take);
  started.stderr.on("data", take);
  const [code] = await once(started, "close");
  return { code, printed };
}

describe("npm run deploy", () => {
  it("[A8] deploys what the Worker can use, with the options it was given", async () => {
    const { code, printed } = await deploy(["-c", worker.configFile, "--outdir", worker.path]);
    expect(printed).toContain("--dry-run: exiting now");
    expect(code).toBe(0);
  });

  it.each<[string, () => readonly string[]]>([
    ["of another environment", () => ["-c", worker.configFile, "--env", "staging"]],
    ["on the command line", () => ["-c", worker.configFile, "--var", `config:${misspelt}`]],
  ])("[A8] refuses a configuration it can't read: %s", async (_, options) => {
    const { code, printed } = await deploy(options());
    expect(printed).toContain("client.ping_intervall");
    expect(printed).not.toContain("--dry-run: exiting now");
    expect(code).toBe(1);
  });

  it("[A8] exits as wrangler does", async () => {
    const { code, printed } = await deploy(["-c", worker.configFile, "--no-such-option"]);
    expect(printed).toContain("Unknown argument");
    expect(code).not.toBe(0);
  });
});

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
