import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checkConfiguration } from "../../../cli/deployment/configuration-problems.ts";
import { deploy } from "../../../cli/build/deploy.ts";
import { tomlOf, WorkerFolder } from "../../support/servers/worker-folder.ts";
import { packageRoot } from "../../../cli/package-root.ts";
const misspelt = JSON.stringify({ client: { ping_intervall: "4s" } });

/** Two environments: one with a mistake, and one that has all the objects. Bindings aren't inherited. */
const environments = `
[env.staging.vars.config.client]
ping_intervall = "4s"

${environmentBlock("complete")}
`;

/** The block of `docs/configuration.md` for an environment, with another name. */
function environmentBlock(name: string): string {
  const page = readFileSync(join(packageRoot, "docs", "configuration.md"), "utf8");
  const [, block = ""] = /```toml\n(\[env\.staging\].*?)```/s.exec(page) ?? [];
  return block.replaceAll("env.staging", `env.${name}`);
}

let worker: WorkerFolder;

beforeAll(() => {
  worker = new WorkerFolder(environments, {});
});
afterAll(() => worker.remove());

/** The end of a deployment that was tried. */
interface Tried {
  readonly code: number;
  readonly printed: string;
}

/**
 * Runs the script of `npm run deploy` as a process of its own, with wrangler and without a deployment, and gives its
 * exit status and output.
 */
async function runDeploy(options: readonly string[]): Promise<Tried> {
  const script = join(packageRoot, "cli", "build", "deploy.ts");
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

/** Runs the same in this process, with a note in the place of wrangler: two seconds less for each command line. */
async function tryDeploy(
  options: readonly string[],
): Promise<Tried & { readonly deployed: boolean }> {
  let printed = "";
  const take = (text: string) => void (printed += `${text}\n`);
  const spies = [
    vi.spyOn(console, "log").mockImplementation(take),
    vi.spyOn(console, "warn").mockImplementation(take),
    vi.spyOn(console, "error").mockImplementation(take),
  ];
  let deployed = false;
  try {
    const code = await deploy(options, () => {
      deployed = true;
      return 0;
    });
    return { code, printed, deployed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

// Each takes a few seconds of a processor, and they take them together.
describe.concurrent("the script of npm run deploy", { timeout: 180_000 }, () => {
  it("[A8] deploys what the Worker can use, with the options it was given", async () => {
    const { code, printed } = await runDeploy(["-c", worker.configFile, "--outdir", worker.path]);
    expect(printed).toContain("--dry-run: exiting now");
    expect(code).toBe(0);
  });

  it("[A8] refuses a configuration it can't read, and exits with 1", async () => {
    const { code, printed } = await runDeploy(["-c", worker.configFile, "--env", "staging"]);
    expect(printed).toContain("client.ping_intervall");
    expect(printed).not.toContain("--dry-run: exiting now");
    expect(code).toBe(1);
  });

  it("[A8] deploys no Worker whose channels have code that the configuration doesn't fit", async () => {
    const file = join(packageRoot, "examples", "auction", "wrangler.toml");
    const misfit = JSON.stringify({ channel: { namespaces: [{ name: "other" }] } });
    const refused = await tryDeploy(["-c", file, "--var", `config:${misfit}`]);
    expect(refused.printed).toContain("channel.namespaces has no");
    expect(refused).toMatchObject({ code: 1, deployed: false });
    expect(await tryDeploy(["-c", file])).toMatchObject({ code: 0, deployed: true });
  });

  it("[A8] deploys an environment with the block that docs/configuration.md shows", async () => {
    const { code, printed } = await runDeploy(["-c", worker.configFile, "--env", "complete"]);
    for (const bound of [/env\.CHANNELS .*Durable/, /env\.GATEWAYS .*Durable/, /env\.ASSETS/])
      expect(printed).toMatch(bound);
    expect(printed).toContain("--dry-run: exiting now");
    expect(code).toBe(0);
  });

  it("[M1] [M5] deploys the queues that docs/queue.md shows, and names what a queue lacks", async () => {
    const block = tomlOf("queue.md");
    const queues = new WorkerFolder(block, {});
    const whole = await runDeploy(["-c", queues.configFile]);
    queues.remove();
    expect(whole.printed).toMatch(/env\.REFUSED \(dormouse-refused\) +Queue/);
    expect(whole.printed).toContain("--dry-run: exiting now");
    expect(whole.code).toBe(0);
    const lossy = new WorkerFolder(block.replace(/^dead_letter_queue = .*$/m, ""), {});
    const refused = await tryDeploy(["-c", lossy.configFile]);
    lossy.remove();
    expect(refused.printed).toContain("has no dead_letter_queue");
    expect(refused).toMatchObject({ code: 1, deployed: false });
  });

  it("[A8] exits as wrangler does", async () => {
    const { code, printed } = await runDeploy(["-c", worker.configFile, "--no-such-option"]);
    expect(printed).toContain("Unknown argument");
    expect(code).not.toBe(0);
  });
});

describe("npm run deploy", () => {
  it.each<[string, () => readonly string[]]>([
    ["of another environment", () => ["-c", worker.configFile, "--env", "staging"]],
    ["on the command line", () => ["-c", worker.configFile, "--var", `config:${misspelt}`]],
  ])("[A8] refuses a configuration it can't read: %s", async (_, options) => {
    const tried = await tryDeploy(options());
    expect(tried.printed).toContain("client.ping_intervall");
    expect(tried).toMatchObject({ code: 1, deployed: false });
  });

  it("[A8] refuses an environment that there isn't, as npm start and npm run serve do", async () => {
    const options = ["-c", worker.configFile, "--env", "stagin"];
    const tried = await tryDeploy(options);
    expect(tried.printed).toContain("has no environment stagin: it has staging, complete");
    expect(tried).toMatchObject({ code: 1, deployed: false });
    const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (const use of ["development", "hosting"] as const)
      expect(checkConfiguration(options, use)).toBeUndefined();
    expect(said.mock.calls.join().match(/has no environment stagin/g)).toHaveLength(2);
    said.mockRestore();
  });

  it("[A10] refuses the secrets of the example, in a file or on the command line, without repeating them", async () => {
    const example = join(packageRoot, "examples", ".dev.vars.example");
    const file = await tryDeploy(["-c", worker.configFile, "--secrets-file", example]);
    const [, key = ""] = /^API_KEY="(.+)"$/m.exec(readFileSync(example, "utf8")) ?? [];
    const line = await tryDeploy(["-c", worker.configFile, "--var", `API_KEY:${key}`]);
    for (const tried of [file, line]) {
      expect(tried.printed).toContain("secret API_KEY has the value in .dev.vars.example");
      expect(tried.printed).not.toContain(key);
      expect(tried).toMatchObject({ code: 1, deployed: false });
    }
  });

  it.each(["client", "http_api", "admin"])("[A11] refuses %s.insecure", async (section) => {
    const config = JSON.stringify({ [section]: { insecure: true } });
    const tried = await tryDeploy(["-c", worker.configFile, "--var", `config:${config}`]);
    expect(tried.printed).toContain(`${section}.insecure is for npm start only`);
    expect(tried).toMatchObject({ code: 1, deployed: false });
  });

  it("[A8] says what it ignores of a Centrifugo configuration, and why", async () => {
    const config = JSON.stringify({ log: { level: "debug" }, health: { enabled: true } });
    const tried = await tryDeploy(["-c", worker.configFile, "--var", `config:${config}`]);
    expect(tried.printed).toContain("Note: log is ignored: the platform keeps the log");
    expect(tried.printed).toContain("Note: health is ignored: /health is always there");
    expect(tried).toMatchObject({ code: 0, deployed: true });
  });

  it("[A10] [A14] checks the secrets that the configuration names, and says which it needs", async () => {
    const keys = ["BILLING", "SHOP"].map((name) => ({
      name,
      secret: `API_KEY_${name}`,
      methods: ["*"],
      channels: ["*"],
    }));
    const config = `config:${JSON.stringify({ http_api: { keys } })}`;
    const options = ["-c", worker.configFile, "--var", config];
    const weak = await tryDeploy([...options, "API_KEY_SHOP:hunter2"]);
    expect(weak.printed).toContain("secret API_KEY_SHOP has fewer than 16 characters");
    expect(weak.printed).not.toContain("hunter2");
    expect(weak).toMatchObject({ code: 1, deployed: false });
    const good = await tryDeploy([...options, "API_KEY_SHOP:a-long-enough-secret"]);
    expect(good.printed).toContain(
      "Note: until the Worker has these secrets, it answers every request with 503: API_KEY_BILLING\n",
    );
    expect(good).toMatchObject({ code: 0, deployed: true });
  });

  it("[A10] refuses a variable by which npm start serves with such secrets", async () => {
    const tried = await tryDeploy(["-c", worker.configFile, "--var", "DEVELOPMENT:true"]);
    expect(tried.printed).toContain("variable DEVELOPMENT is for npm start only");
    expect(tried).toMatchObject({ code: 1, deployed: false });
  });

  it("[A20] refuses insecure_endpoints, and the variable by which npm run serve allows it", async () => {
    const config = JSON.stringify({ insecure_endpoints: true });
    const options = ["--var", `config:${config}`, "--var", "SELF_HOSTED:true"];
    const tried = await tryDeploy(["-c", worker.configFile, ...options]);
    expect(tried.printed).toContain("insecure_endpoints is for npm run serve and npm start only");
    expect(tried.printed).toContain("variable SELF_HOSTED is for npm run serve only");
    expect(tried).toMatchObject({ code: 1, deployed: false });
  });

  it("[A8] refuses an environment without its objects, and names the bindings", async () => {
    const tried = await tryDeploy(["-c", worker.configFile, "--env", "staging"]);
    expect(tried.printed).toContain("binding CHANNELS to the class ChannelObject is missing");
    expect(tried.printed).toContain("binding GATEWAYS to the class GatewayObject is missing");
    expect(tried.printed).toContain("binding USERS to the class UsersObject is missing");
    expect(tried).toMatchObject({ code: 1, deployed: false });
  });
});
