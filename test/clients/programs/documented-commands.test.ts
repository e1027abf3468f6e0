import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text as textOf } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { experimental_getWranglerCommands as wranglerCommands } from "wrangler";
import { parseOptions as parseBenchOptions } from "../../../bench/options.ts";
import { parseOptions as parseProveOptions } from "../../verification/prove/options.ts";
import { parseOptions as parseSimulateOptions } from "../../verification/simulate/simulate-options.ts";
import { hasCurl } from "../../support/sockets/curl.ts";
import {
  type DocumentedCommand,
  documentedCommands,
} from "../../support/environments/documented-command.ts";
import { EventServer } from "../../support/servers/event-server.ts";
import { Inbox } from "../../support/inbox.ts";
import { freePort } from "../../support/servers/listen.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { StartedServer } from "../../support/servers/started-server.ts";
import { signToken } from "../../support/test-tokens.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { normal } from "../../support/normal-output.ts";
const { commands, others } = documentedCommands();
/** Those with which the pages' commands call a server. */
const secrets = Object.fromEntries(
  Object.entries(
    parseEnv(readFileSync(join(packageRoot, "examples", ".dev.vars.example"), "utf8")),
  ).map(([name, value = ""]) => [name, value]),
);

/** The server that the commands call: with every option that a page's commands need. */
const config = (events: string) => ({
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
      presence: true,
      allowed_delta_types: ["fossil"],
    },
    namespaces: [
      { name: "chat", history_size: 100, history_ttl: "5m" },
      {
        name: "room",
        history_size: 100,
        history_ttl: "5m",
        allow_change: true,
        erasable_by_user: true,
      },
      {
        name: "board",
        subscription_type: "map",
        allow_subscribe_for_client: true,
        map: { mode: "recoverable", key_ttl: "10m" },
      },
    ],
  },
  events: { target: events, types: ["publication"] },
  prometheus: { enabled: true },
});

/** Why a command isn't run here, and what is checked instead. */
interface NotRun {
  readonly reason: string;
  readonly check?: (text: string) => void | Promise<void>;
}

/** A command whose end isn't waited for: it has done its work when it has printed this. */
interface Lasting {
  readonly until: RegExp;
}

type How = "run" | "listen" | NotRun | Lasting;

/** The first pattern that matches a command says how it is tested. Without one, it is run. */
const hows: readonly (readonly [RegExp, How])[] = [
  ...(hasCurl() ? [] : [[/^curl /, { reason: "this machine has no curl" }] as const]),
  [/^git clone /, { reason: "its address is a placeholder, and the rest has run" }],
  [/^npm ci$/, { reason: "it has run before this test" }],
  [/^npm ci && npm test$/, { reason: "this test is a part of it" }],
  [/^git .* && npm run update /, { reason: "update.test.ts updates a server" }],
  [/^npm start$/, { reason: "the server that answers the commands is started so" }],
  [/^cd chat && npm install && npm start$/, { reason: "command-line.test.ts runs it" }],
  [/^npx dormouse-realtime init|^cd realtime && /, { reason: "own-worker.test.ts runs it" }],
  [
    /^npm ci && npm run build$|^npm run dormouse -- init|^cd \.\.\/realtime && /,
    { reason: "command-line.test.ts runs it with a packed clone" },
  ],
  ...["login", "rollback", "tail", "secret put", "queues create"].map(
    (words) =>
      [
        new RegExp(`wrangler ${words}`),
        { reason: "it needs an account", check: wranglerHas(...words.split(" ")) },
      ] as const,
  ),
  [
    /^npm run deploy/,
    { reason: "it needs an account; deploy.test.ts runs it without a deployment" },
  ],
  [/^curl "https:\/\/api\.cloudflare\.com/, { reason: "it needs an account" }],
  [/^docker /, { reason: "container.test.ts checks the image without Docker" }],
  [/^curl -N /, { reason: "it has an ellipsis for an address; curl.test.ts runs both" }],
  [
    /^curl .*\/(?:map|shared_poll)_publish|^dormouse call /,
    { reason: "it needs the namespace that its page configures" },
  ],
  [/openapi-python-client/, { reason: "python-backend.test.ts runs the generator" }],
  [/^dormouse deploy /, { reason: "it needs an account; deploy.test.ts has the options" }],
  [/^dormouse outbox |migrate .*(?:php|env|soketi)/, { reason: "a test of its own runs it" }],
  [/^dormouse init --existing --env/, { reason: "init-existing.test.ts adds to an environment" }],
  [/^npm install dormouse-realtime/, { reason: "own-worker.test.ts installs the package" }],
  [/^npm install centrifuge/, { reason: "it downloads what is there", check: isInstalled }],
  [
    /^composer |^php |^cp .* chat|> chat\//,
    { reason: "Packagist can't be reached everywhere; tutorial.test.ts runs the files" },
  ],
  [
    /^python3 -m venv|\.venv\/bin/,
    { reason: "tutorial.test.ts runs it with the same packages", check: sameRequirements },
  ],
  [
    /^(?:API_KEY=.*)?npm run prove|^dormouse prove/,
    { reason: "it takes a minute; .ci/run runs it", check: hasOptions },
  ],
  [/^npm run simulate/, { reason: "it takes a minute; run.test.ts runs it", check: hasOptions }],
  [/^npm run (?:--silent )?bench/, { reason: "it takes minutes", check: hasOptions }],
  [/^npm start -- |^npm run serve/, { until: /^Dormouse serves / }],
  [/^node examples\/tutorial/, { until: /^The chat is at / }],
  [/^dormouse doctor https:/, { reason: "it needs a deployed server; doctor.test.ts runs it" }],
  [/ (?:listen|map watch) /, "listen"],
];

let server: StartedServer;
let worker: WorkerFolder;
let events: EventServer;
let folder: string;
const clients: SdkClient[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  worker = new WorkerFolder("", secrets);
  events = await EventServer.start(secrets["HOOK_SIGNING_SECRET"] ?? "");
  const options = [
    "-c",
    worker.configFile,
    "--var",
    `config:${JSON.stringify(config(events.url))}`,
  ];
  server = await StartedServer.start(await freePort(), join(folder, "state"), options);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // The built one starts in half of the processor time.
  execFileSync(process.execPath, [join(packageRoot, "cli", "build", "build-cli.ts")]);
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(packageRoot, "dist", "dormouse.js")}" "$@"\n`;
  writeFileSync(join(bin, "dormouse"), script);
  chmodSync(join(bin, "dormouse"), 0o755);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.stop();
  await events.close();
  worker.remove();
  rmSync(folder, { recursive: true });
});

/** A command, with the command lines before it on its page that prepare its shell. */
interface Step extends DocumentedCommand {
  readonly prelude: string;
  readonly how: How;
}

const steps: readonly Step[] = commands.map((command, index) => {
  const before = commands.slice(0, index).filter(({ page }) => page === command.page);
  const prelude = before.filter(({ text }) => /^(?:export|set|umask) /.test(text));
  const [, how = "run"] = hows.find(([pattern]) => pattern.test(command.text)) ?? [];
  return { ...command, prelude: prelude.map(({ text }) => `${text}\n`).join(""), how };
});

describe("[W1] the commands of README.md and of docs", () => {
  it("are all those that begin with the name of a program", () => {
    expect(commands.length).toBeGreaterThan(80);
    const programs = /^(?:\$ )?(?:curl|docker|dormouse|node|npm|npx|openssl|pip|python3|wrangler) /;
    expect(others.filter(({ text }) => programs.test(text))).toEqual([]);
  });

  // In the order of the pages, which are written for readers who run one after the other.
  it.each(steps)("$page:$line $text", async (step) => {
    await expect(carryOut(step)).resolves.toBeUndefined();
  });
});

async function carryOut(step: Step): Promise<void> {
  if (step.how === "run") await runOnce(step);
  else if (step.how === "listen") await listenTo(step);
  else if ("until" in step.how) await runUntil(step, step.how.until);
  else await step.how.check?.(step.text);
}

async function runOnce(step: Step): Promise<void> {
  await prepare(step);
  const { code, printed, noted } = await runToItsEnd(step);
  const expected = expectedCode(step);
  if (code !== expected) throw new Error(`it ended with ${code}, and printed:\n${noted}`);
  if (step.text.startsWith("curl ")) expectAnswer(step, printed);
  if (step.output !== "") expectShown(step, printed === "" ? noted : printed);
}

/** Runs a listener, and publishes what the page shows. */
async function listenTo(step: Step): Promise<void> {
  const started = new Running(step);
  await started.first((line) => line.startsWith("subscribed to"));
  for (const line of step.output.split("\n")) {
    const [, channel, data = "", tags = "{}"] =
      /^(\w+) \d+ (\{.*?\})(?: (\{.*\}))?(?: \(delta: .*\))?$/.exec(line) ?? [];
    if (channel === undefined) continue;
    await call("publish", { channel, data: JSON.parse(data), tags: JSON.parse(tags), delta: true });
    await started.first((heard) => heard.includes(data));
  }
  const last = normal(step.output).at(-1) ?? "";
  await started.first((line) => normal(line).includes(last));
  await started.kill();
  // It prints to two streams.
  expect(normal(started.lines.all.join("\n"))).toEqual(
    expect.arrayContaining([...normal(step.output)]),
  );
}

/** Runs a server until it has printed that it serves. */
async function runUntil(step: Step, isServing: RegExp): Promise<void> {
  const [port, own] = [await freePort(), await freePort()];
  const more = ` -c ${worker.configFile} --port ${port} --persist-to ${join(folder, "other")}`;
  const text = step.text
    .replace("--port 8787", `--port ${port}`)
    .replace("/var/lib/dormouse", join(folder, "served"));
  const started = new Running(
    { ...step, text: step.text.startsWith("npm start") ? `${text}${more}` : text },
    { PORT: String(own) },
  );
  await started.first((line) => isServing.test(line));
  await started.kill();
}

/** A command that goes on until it is killed. */
class Running {
  readonly lines = new Inbox<string>();
  readonly #process: ReturnType<typeof start>;
  readonly #ended: Promise<unknown>;

  constructor(step: Step, environment: Readonly<Record<string, string>> = {}) {
    this.#process = start(step, environment);
    this.#ended = once(this.#process, "close");
    for (const stream of [this.#process.stdout, this.#process.stderr])
      createInterface(stream).on("line", (line) => this.lines.push(line));
  }

  /** The first line that satisfies the condition. Rejects when the command ends before. */
  first(isIt: (line: string) => boolean): Promise<string> {
    const early = this.#ended.then(() => {
      throw new Error(`the command ended, and had printed:\n${this.lines.all.join("\n")}`);
    });
    early.catch(() => undefined);
    return Promise.race([this.lines.first(isIt), early]);
  }

  /** Ends it and all that it has started. */
  async kill(): Promise<void> {
    const { pid } = this.#process;
    if (pid !== undefined && this.#process.exitCode === null) process.kill(-pid, "SIGINT");
    await this.#ended;
  }
}

/** Starts a command in bash, in a folder that is like a clone of the repository, with an address of this test. */
function start({ page, prelude, text }: Step, environment: Readonly<Record<string, string>> = {}) {
  const own = text
    .replaceAll("http://localhost:8787", server.welcome.address)
    .replace(
      "--check TOKEN",
      `--check ${signToken({ sub: "ada" }, secrets["TOKEN_HMAC_SECRET_KEY"])}`,
    );
  const folderOfPage = cloneFor(page);
  return spawn("bash", ["-c", `${prelude}${own}`], {
    cwd: folderOfPage,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...environment,
      PATH: [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: folderOfPage,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "compiled"),
      DORMOUSE_URL: server.welcome.address,
      NO_COLOR: "1",
    },
  });
}

async function runToItsEnd(step: Step) {
  const started = start(step);
  const [printed, noted, [code]] = await Promise.all([
    textOf(started.stdout),
    textOf(started.stderr),
    once(started, "close"),
  ]);
  return { code, printed: printed.trimEnd(), noted: noted.trimEnd() };
}

/** A folder with everything that the repository has, and with the secrets of the example. */
function cloneFor(page: string): string {
  const clone = join(folder, basename(page, ".md"));
  if (existsSync(clone)) return clone;
  mkdirSync(join(clone, ".zsh"), { recursive: true });
  // A command that writes, writes into the examples.
  cpSync(join(packageRoot, "examples"), join(clone, "examples"), { recursive: true });
  for (const name of readdirSync(packageRoot))
    if (!name.startsWith(".") && name !== "dist" && name !== "examples")
      symlinkSync(join(packageRoot, name), join(clone, name));
  const lines = Object.entries(secrets).map(([name, value]) => `${name}="${value}"\n`);
  writeFileSync(join(clone, ".dev.vars"), lines.join(""));
  return clone;
}

/** The state that a page assumes before a command. */
async function prepare({ page, text, output }: Step): Promise<void> {
  const clone = cloneFor(page);
  if (text.includes("private.pem")) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(join(clone, "private.pem"), key);
  }
  if (text.includes("events.jsonl"))
    writeFileSync(join(clone, "events.jsonl"), '{"n":1}\n{"n":2}\n');
  if (text.includes("migrate config.json"))
    writeFileSync(join(clone, "config.json"), JSON.stringify(migrated));
  if (text.includes("dormouse history")) {
    await call("history_remove", { channel: "news" });
    for (const line of output.split("\n")) {
      const [, data, tags = "{}"] = /^\d+ (\{.*?\})(?: (\{.*\}))?$/.exec(line) ?? [];
      if (data !== undefined)
        await call("publish", { channel: "news", data: JSON.parse(data), tags: JSON.parse(tags) });
    }
    await call("publish", { channel: "news", data: "the newest" });
  }
  if (text.includes("dormouse edit"))
    for (let offset = 1; offset <= 12; offset++)
      await call("publish", { channel: "room:7", data: { offset } });
  if (text.includes("presence news")) {
    while ((await server.backend.presence("news")).length > 0);
    await connected("ada", ["news"]);
  }
  if (text.includes("why lobby")) {
    await connected("newcomer", ["lobby"]);
    for (const _ of ["once", "twice"]) {
      const client = await connected("grace", ["lobby"]);
      await client.subscribe("nowhere:1").unsubscribed.count(1);
      client.close();
    }
    while ((await server.backend.presence("lobby")).length > 1);
    await call("publish", { channel: "lobby", data: { text: "hello" } });
  }
  if (page === "docs/why.md") await call("publish", { channel: "chat:1", data: {} });
}

/** The configuration of Centrifugo whose migration docs/command-line.md shows. */
const migrated = {
  admin: true,
  admin_password: "hunter2hunter2",
  api_key: "hunter2hunter2hunter2",
  token_hmac_secret_key: "hunter2hunter2hunter2hunter2",
  engine: "redis",
  redis_address: "redis:6379",
  allowed_origins: ["https://example.com"],
  history_size: 10,
  history_ttl: "1m",
  namespaces: [{ name: "chat", presence: true, subscribe_cel: "true" }],
};

/** A client of a user on a gateway, until the end of all tests. */
async function connected(user: string, channels: readonly string[]): Promise<SdkClient> {
  const claims = { sub: user, info: { name: `${user.slice(0, 1).toUpperCase()}${user.slice(1)}` } };
  const token = signToken(claims, secrets["TOKEN_HMAC_SECRET_KEY"]);
  const client = new SdkClient(server.welcome.socketAddress, { token });
  clients.push(client);
  for (const channel of channels) await client.subscribed(channel);
  return client;
}

/** Calls a method of the HTTP API, which must succeed. */
async function call(method: string, request: object): Promise<void> {
  const response = await fetch(`${server.welcome.address}/api/${method}`, {
    method: "POST",
    headers: { "X-API-Key": server.welcome.apiKey },
    body: JSON.stringify(request),
  });
  expect(await response.json()).not.toHaveProperty("error");
}

/** The exit code: 1 for an output that tells of a refusal. */
function expectedCode({ output }: Step): number {
  return /would refuse this token| refused: | is not changed: /.test(output) ? 1 : 0;
}

/** The answer to a request of `curl`: metrics, or JSON without an error. */
function expectAnswer({ text }: Step, printed: string): void {
  if (text.includes("/metrics")) expect(printed).toContain("\ncentrifugo_node_build{");
  else expect(JSON.parse(printed)).toHaveProperty("result");
}

/** Pages whose output has as many lines as there happen to be connections and refusals. */
const changing = /^dormouse (?:why|inspect|events)/;

/** Compares an output with the one that a page shows, apart from numbers, times and names that are made up. */
function expectShown({ text, output }: Step, printed: string): void {
  const shown = normal(output);
  const seen = normal(printed);
  if (!changing.test(text)) {
    expect(seen.slice(-shown.length)).toEqual(shown);
    return;
  }
  expect(labels(seen)).toEqual(expect.arrayContaining([...new Set(labels(shown))]));
}

/** The first words of lines. */
function labels(lines: readonly string[]): readonly string[] {
  return lines.map((line) => /^[^ ]+/.exec(line)?.[0] ?? "");
}

/** Checks that wrangler has such a command. */
function wranglerHas(...words: readonly string[]): () => void {
  return () => {
    let { subtree } = wranglerCommands().registry;
    for (const word of words) {
      expect([...subtree.keys()]).toContain(word);
      subtree = subtree.get(word)?.subtree ?? subtree;
    }
  };
}

/** Checks that the repository's own packages have the versions that a page names. */
function isInstalled(text: string): void {
  const named = Array.from(text.matchAll(/(\S+)@([\d.]+)/g));
  expect(named.length).toBeGreaterThan(0);
  for (const [, name = "", version = ""] of named) {
    const file = readFileSync(join(packageRoot, "node_modules", name, "package.json"), "utf8");
    const installed: { readonly version: string } = JSON.parse(file);
    expect(`${installed.version}.`.startsWith(`${version}.`)).toBe(true);
  }
}

/** Checks that the tests' Python has the packages of the tutorial. */
function sameRequirements(): void {
  const installed = linesOf("test/clients/python/requirements.txt");
  const wanted = linesOf("examples/tutorial/django/requirements.txt");
  expect(installed).toEqual(expect.arrayContaining([...wanted]));
}

function linesOf(path: string): readonly string[] {
  return readFileSync(join(packageRoot, path), "utf8").trim().split("\n");
}

/** Checks that a program of `test/verification` takes the options. */
function hasOptions(text: string): void {
  const [, program = "", rest = ""] = /(prove|simulate|bench)(?: --)?(.*)$/.exec(text) ?? [];
  const given = rest
    .replace(/ > .*/, "")
    .split(" ")
    .filter((word) => word !== "");
  const parsed = {
    prove: () => parseProveOptions(given, secrets, 1),
    simulate: () => parseSimulateOptions(given),
    bench: () => parseBenchOptions(given, ["fan-out", "churn"]),
  }[program];
  expect(parsed?.()).toMatchObject({ outcome: "options" });
}
