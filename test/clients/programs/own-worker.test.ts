import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wranglerScript } from "../../../cli/configuration/wrangler.ts";
import { compilerOutput } from "../../support/compiler-output.ts";
import { installExample, linkPackage } from "../../support/environments/installed-example.ts";
import { writeShop } from "../../support/environments/shop-project.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { packageName } from "../../../src/version.ts";
import { freePort } from "../../support/servers/listen.ts";
import { endGroup } from "../../support/servers/process-group.ts";
import { codeBlocksOf } from "../../support/documented-code.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";

const execute = promisify(execFile);
const example = join(packageRoot, "examples", "own-worker");

/**
 * A Worker of another project of the account, which calls the one under test by service bindings. Its compatibility date is
 * one with which errors lose their fields.
 */
const caller = `
import { RealtimeError, realtimeService } from "dormouse-realtime/service";
import documented from "../src/other-worker.ts";

export default {
  async fetch(request, env) {
    const [, first, binding, channel] = new URL(request.url).pathname.split("/");
    if (first === "documented") return documented.fetch(request, env);
    if (first !== "calls") return env.OWN.fetch(request);
    const realtime = realtimeService(env[binding]);
    try {
      return Response.json(await realtime.publish(channel, { by: "another Worker" }));
    } catch (error) {
      const { message, code, detail, isTemporary } = error;
      const isRealtimeError = error instanceof RealtimeError;
      return Response.json({ isRealtimeError, message, code, detail, isTemporary }, { status: 500 });
    }
  },
};
`;
const entrypoint = { service: "own-worker", entrypoint: "RealtimeEntrypoint" };
const callerConfig = {
  name: "caller",
  main: "caller.js",
  compatibility_date: "2024-04-05",
  services: [
    { binding: "OWN", service: "own-worker" },
    { binding: "REALTIME", ...entrypoint },
    { binding: "ORDERS", ...entrypoint, props: { name: "orders" } },
    { binding: "MISTYPED", ...entrypoint, props: { nmae: "orders" } },
  ],
};

/** Assets of the project: a single-page application, and a file with the address of one of the package's. */
const assets = {
  "index.html": "<h1>The shop</h1>",
  "console/console.js": "document.body.textContent = 'of the shop';",
};
const assetsConfig = {
  directory: "assets",
  binding: "ASSETS",
  not_found_handling: "single-page-application",
  run_worker_first: ["/realtime/*", "/orders", "/login/*"],
};

/** The code of a page of docs below a heading. */
function documented(heading: string): string {
  const found = codeBlocksOf("embedding.md").find(
    (block) => block.heading === heading && block.language === "ts",
  );
  return found?.code ?? "";
}

/** The example with the console as docs/embedding.md has it, and what other tests need. */
function withConsole(source: string): string {
  const [imported = "", rest = ""] = documented("The console").split("\n\n");
  const [, options = ""] = /prefix: "\/realtime",\n(.*)\}\);/s.exec(rest) ?? [];
  const shown = "prometheus: { enabled: true }, swagger: { enabled: true },";
  const key = '{ name: "orders", methods: ["publish"], channels: ["chat:*"] }';
  return `${imported}\n${source}`
    .replace('prefix: "/realtime",\n', (line) => `${line}${options}`)
    .replace(
      "config: defineConfig({\n",
      (line) => `${line}http_api: { keys: [${key}] }, ${shown}\n`,
    );
}

/** What only the compiler can tell: each of these lines is an error, or the compiler says that it isn't one. */
const wrong = `
import { defineConfig, dormouse, type RealtimeBindings, type RealtimeEntrypoint } from "dormouse-realtime";
import { realtimeService } from "dormouse-realtime/service";
import { connectionToken } from "dormouse-realtime/tokens";
import { channel, useChannels, type ProcedureContext } from "dormouse-realtime/channels";
// @ts-expect-error an unknown key
defineConfig({ channel: { without_namespace: { histroy_size: 1 } } });
// @ts-expect-error a value of another type
defineConfig({ channel: { without_namespace: { history_size: "1" } } });
// @ts-expect-error a choice that there isn't
defineConfig({ client: { pong: "sometimes" } });
// @ts-expect-error a prefix is needed
dormouse({});
const realtime = dormouse({ prefix: "/realtime", user: ({ req, env }) => req.raw.url + String(env.CHANNELS) });
export default {
  fetch: (request, env, ctx) => realtime.fetch(request, env, ctx) ?? new Response("mine"),
} satisfies ExportedHandler<RealtimeBindings>;
// @ts-expect-error there is no answer to what isn't below the prefix
export const unanswered: ExportedHandler<RealtimeBindings> = { fetch: realtime.fetch };
// @ts-expect-error a secret is needed
void connectionToken({ user: "ann" });
declare const generated: Fetcher;
declare const named: Service<typeof RealtimeEntrypoint>;
for (const binding of [generated, named]) void realtimeService(binding).publish("news", { a: 1 });
// @ts-expect-error a channel is needed
void realtimeService(generated).history({});
const bid = (ctx: ProcedureContext, { amount }: { amount: number }) => ({ isBest: amount > (ctx.get<number>("best") ?? 0) });
const channels = { auction: channel({ procedures: { bid } }) };
useChannels(channels);
const coded = dormouse({ prefix: "/coded", channels });
export const isBest = async (env: RealtimeBindings): Promise<boolean> =>
  (await coded.call(env, "auction:7", "bid", { amount: 5 })).isBest;
// @ts-expect-error an argument of another type
export const mistyped = (env: RealtimeBindings) => coded.call(env, "auction:7", "bid", { amount: "5" });
// @ts-expect-error what the context doesn't have
channel({ procedures: { bid: (ctx) => ctx.fetch("/") } });
`;

/** Nothing but the real-time layer. */
const least = `
import { dormouse } from "dormouse-realtime";
export { BackendEntrypoint, ChannelObject, GatewayObject, MetricsObject, RealtimeEntrypoint, UsersObject } from "dormouse-realtime";
const realtime = dormouse({ prefix: "/realtime", user: () => "ann" });
export default {
  fetch: (request, env, ctx) => realtime.fetch(request, env, ctx) ?? new Response("mine"),
  queue: realtime.queue,
};
`;

/** A test of the project's own, for the runner of Node.js. */
const ownTest = `
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDormouse } from "dormouse-realtime/test";

test("the customer misses nothing while an object is evicted", async () => {
  const options = { history_size: 10, history_ttl: "1m", force_recovery: true };
  const config = { channel: { without_namespace: { allow_subscribe_for_client: true, ...options } } };
  const rt = await startDormouse({ config });
  try {
    const ann = await rt.client({ user: "ann", subscribe: ["orders"] });
    await rt.publish("orders", 1);
    await rt.evict("orders");
    await rt.publish("orders", 2);
    assert.deepEqual(await ann.received("orders", 2), [1, 2]);
  } finally {
    await rt.stop();
  }
});
`;

/** The same for vitest. */
const ownSpec = ownTest
  .replace(`import assert from "node:assert/strict";\n`, "")
  .replace(`import { test } from "node:test";`, `import { expect, test } from "vitest";`)
  .replace("assert.deepEqual(await ann", "await expect(ann")
  .replace(", 2), [1, 2]);", ", 2)).resolves.toEqual([1, 2]);");

/** hono's own middleware, as a Worker uses it for all of its routes. */
const middleware = {
  "body-limit": "bodyLimit({ maxSize: 1_000_000 })",
  // On every route of a Worker, the runtime compresses once more what this one has compressed.
  compress: "compress({ contentTypeFilter: /^application.wasm/ })",
  "context-storage": "contextStorage()",
  cors: "cors()",
  csrf: "csrf()",
  etag: "etag()",
  language: "languageDetector({ supportedLanguages: ['en'], fallbackLanguage: 'en' })",
  logger: "logger(() => undefined)",
  "powered-by": "poweredBy()",
  "pretty-json": "prettyJSON()",
  "request-id": "requestId()",
  "secure-headers": "secureHeaders()",
  timeout: "timeout(60_000)",
  timing: "timing()",
  "trailing-slash": "trimTrailingSlash()",
};

/** The example with all of them before its routes. */
function withMiddleware(source: string): string {
  const entries = Object.entries(middleware);
  const imports = entries.map(
    ([name, call]) => `import { ${call.split("(")[0]} } from "hono/${name}";\n`,
  );
  const uses = entries.map(([, call]) => `app.use(${call});\n`).join("");
  const begin = "const app = new Hono<Bound>();\n";
  return `${imports.join("")}${source.replace(begin, `${begin}${uses}`)}`;
}

/** The oldest compiler that a project may still have, by the name under which it is installed beside the newest. */
const oldestCompiler = { "typescript-5.7": "npm:typescript@5.7.3" };

let folder: string;
let archive: string;
let running: ChildProcess | undefined;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  archive = await installExample(folder, "own-worker", oldestCompiler);
  const main = join(folder, "src", "index.ts");
  writeFileSync(main, withConsole(withMiddleware(readFileSync(main, "utf8"))));
  writeFileSync(join(folder, "src", "other-worker.ts"), documented("From another Worker"));
  writeFileSync(join(folder, ".dev.vars"), `API_KEY="${testSecrets.API_KEY}"\n`);
  for (const [path, text] of Object.entries(assets)) {
    mkdirSync(dirname(join(folder, "assets", path)), { recursive: true });
    writeFileSync(join(folder, "assets", path), text);
  }
}, 300_000);
afterAll(async () => {
  await endGroup(running);
  rmSync(folder, { recursive: true });
});

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function packageOf(file: string): PackageFile {
  const content: PackageFile = JSON.parse(readFileSync(file, "utf8"));
  return content;
}

const inProject = () => ({
  cwd: folder,
  env: { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false" },
});

/** Starts both Workers, as a developer does. */
async function develop(): Promise<void> {
  mkdirSync(join(folder, "caller"));
  writeFileSync(join(folder, "caller", "caller.js"), caller);
  writeFileSync(join(folder, "caller", "wrangler.json"), JSON.stringify(callerConfig));
  port = await freePort();
  const configs = ["-c", "caller/wrangler.json", "-c", "wrangler.jsonc"];
  const args = [wranglerScript, "dev", ...configs, "--port", String(port)];
  const options = { ...inProject(), detached: true, stdio: "ignore" } as const;
  running = spawn(process.execPath, args, options);
  while (!(await isServing())) {
    if (running.exitCode !== null) throw new Error("wrangler dev has ended");
    await pause(100);
  }
}

async function isServing(): Promise<boolean> {
  try {
    return (await fetch(address("/realtime/health"))).ok;
  } catch {
    return false;
  }
}

const address = (path: string): string => `http://localhost:${port}${path}`;

/** The official client, as a page of the Worker whose visitor has logged in. */
function clientOf(headers: Readonly<Record<string, string>>): SdkClient {
  const websocket = class extends WebSocket {
    constructor(url: string, protocols?: string) {
      super(url, protocols, { headers });
    }
  };
  return new SdkClient(`ws://localhost:${port}/realtime/connection/websocket`, { websocket });
}

describe("a Worker of one's own, outside of the repository", () => {
  it("has the types of the package without an error, and the errors that it should have", async () => {
    writeFileSync(join(folder, "src", "wrong.ts"), wrong);
    expect(await compilerOutput("npx", ["tsc", "-p", "."], inProject())).toBe("");
  });

  it("[OW14] is checked before it is deployed, as docs/embedding.md says, with the binding that init --existing adds", async () => {
    const file = join(folder, "wrangler.jsonc");
    await execute("npx", ["dormouse", "init", ".", "--existing"], inProject());
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("{", `{ "assets": ${JSON.stringify(assetsConfig)},`));
    linkPackage(folder, "wrangler");
    const { stdout } = await execute("npm", ["run", "predeploy"], inProject());
    expect(stdout).toMatch(/^src\/index\.ts: the configuration is valid$/m);
    // The only note is of the key that another Worker has by its binding.
    expect(stdout).not.toMatch(/Note: (?!http_api)/);
  });

  it("is bundled by wrangler", async () => {
    const { stdout } = await execute(
      process.execPath,
      [wranglerScript, "deploy", "--dry-run"],
      inProject(),
    );
    expect(stdout).toMatch(/CHANNELS \(ChannelObject\)/);
    expect(stdout).toMatch(/METRICS \(MetricsObject\)/);
  });

  it("[OW8] has at most 4 KB more in its bundle than the server that stands alone", async () => {
    writeFileSync(join(folder, "least.ts"), least);
    const embedded = await bundledBytes("least.ts");
    const alone = await bundledBytes(`node_modules/${packageName}/dist/lib/package/worker.js`);
    expect(embedded - alone).toBeLessThanOrEqual(4_096);
  });

  it("[OW8] is tested with the kit by the runner of Node.js, and by vitest", async () => {
    writeFileSync(join(folder, "orders.test.mjs"), ownTest);
    writeFileSync(join(folder, "orders.spec.mjs"), ownSpec);
    // They are the repository's: nothing of the package is in them.
    linkPackage(folder, "vitest");
    const options = ["--test", "--test-reporter", "tap", "orders.test.mjs"];
    const clientless = execute(process.execPath, options, inProject());
    await expect(clientless).rejects.toThrow(
      expect.objectContaining({
        stdout: expect.stringContaining("npm install --save-dev centrifuge"),
      }),
    );
    linkPackage(folder, "centrifuge");
    const { stdout } = await execute(process.execPath, options, inProject());
    expect(stdout).toContain("# pass 1");
    const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
    // Its default of 5 s is too short for a busy machine.
    const words = [vitest, "run", "orders.spec.mjs", "--testTimeout", "60000"];
    const spec = await execute(process.execPath, words, inProject());
    expect(spec.stdout).toMatch(/1 passed/);
  });

  it("[OW8] has bindings of its own, with the types that wrangler makes, and the kit gives it all of them", async () => {
    const shop = join(folder, "shop");
    writeShop(shop);
    const options = { ...inProject(), cwd: shop };
    await execute(process.execPath, [wranglerScript, "types"], options);
    for (const compiler of ["typescript", ...Object.keys(oldestCompiler)]) {
      const tsc = join(folder, "node_modules", compiler, "bin", "tsc");
      expect(await compilerOutput(process.execPath, [tsc, "-p", "."], options)).toBe("");
    }
    const words = ["--test", "--test-reporter", "tap", "shop.test.ts"];
    expect((await execute(process.execPath, words, options)).stdout).toContain("# pass 1");
    // Two compilers read all types of the runtime.
  }, 180_000);

  it("can import nothing but what versions promise", async () => {
    const code = `import("${packageName}/dist/lib/src/version.js").catch((error) => console.log(error.code))`;
    const { stdout } = await execute(process.execPath, ["-e", code], { cwd: folder });
    expect(stdout.trim()).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED");
  });

  it("is the one that docs/embedding.md shows", () => {
    const page = readFileSync(join(packageRoot, "docs", "embedding.md"), "utf8");
    expect(page).toContain(readFileSync(join(example, "src", "index.ts"), "utf8"));
  });

  it("[OW2] [OW3] [OW4] [OW5] [OW12] [OW16] serves the official client with its own sessions", async () => {
    await develop();
    const ann = clientOf({ Cookie: "session=ann", Origin: address("") });
    const orders = await ann.subscribed("orders:#ann");
    const post = { method: "POST", headers: { Cookie: "session=ann", Origin: address("") } };
    for (const id of ["1", "1", "2"])
      await fetch(address("/orders"), { ...post, body: JSON.stringify({ id, item: "tea" }) });
    expect((await orders.publications.count(2)).map(({ data }) => data)).toEqual([
      { id: "1", item: "tea" },
      { id: "2", item: "tea" },
    ]);
    const chat = await ann.subscribed("chat:lobby");
    await chat.subscription.publish("hello");
    expect((await chat.publications.next()).data).toEqual({ text: "hello", by: "ann" });
    for (const binding of ["REALTIME", "ORDERS"]) {
      const called = await fetch(address(`/calls/${binding}/chat:lobby`));
      expect([called.status, await called.json()]).toEqual([200, {}]);
      expect((await chat.publications.next()).data).toEqual({ by: "another Worker" });
    }
    const documentedCall = await fetch(address("/documented"));
    expect(await documentedCall.text()).toBe("published");
    for (const [call, code, detail] of [
      ["REALTIME/nowhere:lobby", 102, "channel.namespaces doesn't have nowhere"],
      ["ORDERS/news", 103, 'the API key "orders" of http_api.keys doesn\'t admit'],
      ["MISTYPED/chat:lobby", 103, "the binding has props other than { name }"],
    ] as const) {
      const refused = await fetch(address(`/calls/${call}`));
      expect(await refused.json()).toEqual({
        isRealtimeError: true,
        message: expect.stringMatching(new RegExp(`^${code}: `)),
        code,
        detail: expect.stringContaining(detail),
        isTemporary: false,
      });
    }
    // Ann's channel is hers alone.
    const bob = clientOf({ Cookie: "session=bob" });
    const foreign = bob.subscribe("orders:#ann");
    expect(await foreign.unsubscribed.next()).toMatchObject({ code: 103 });
    // Without a session, and from a page of another site with one.
    const health = await fetch(address("/realtime/health"));
    expect(health.headers.get("x-powered-by")).toBe("Hono");
    const nobody = clientOf({});
    expect(await nobody.disconnected.next()).toMatchObject({ code: 3501 });
    const stranger = clientOf({ Cookie: "session=ann", Origin: "https://evil.example" });
    expect((await stranger.errors.next()).error.message).toContain("transport closed");
    const keyless = await fetch(address("/realtime/api/publish"), { ...post, body: "{}" });
    expect(keyless.status).toBe(401);
    const url = ["--url", address("/realtime")];
    const why = ["dormouse", "why", "orders:#ann", "1", "--user", "ann", ...url];
    expect((await execute("npx", why, inProject())).stdout).toContain("was sent to the only");
    const beside = execute(
      "npx",
      ["dormouse", "history", "orders:#ann", "--url", address("")],
      inProject(),
    );
    await expect(beside).rejects.toThrow("in a Worker of your own it is below a prefix");
    for (const client of [ann, bob, nobody, stranger]) client.close();
  });

  const chromium = findChromium();
  if (chromium !== undefined) inBrowser(chromium);
  else
    it("no console is tested in a browser: this machine has no Chromium", () => {
      expect(findChromium()).toBeUndefined();
    });
});

/** The console of the Worker that runs, in a browser. */
function inBrowser(chromium: string): void {
  it("[OW15] has the console below its prefix, with its own login, and its assets stay its own", async (test) => {
    for (const path of ["", "/", "/console.js"])
      expect((await fetch(address(`/realtime/console${path}`))).status).toBe(403);
    const key = { "X-API-Key": testSecrets.API_KEY };
    const metrics = await fetch(address("/realtime/metrics"), { headers: key });
    expect(await metrics.text()).toContain("centrifugo_node_build");
    const navigation = { "Sec-Fetch-Mode": "navigate" };
    const shop = await fetch(address("/anywhere"), { headers: navigation });
    expect(await shop.text()).toContain("The shop");
    expect((await fetch(address("/realtime/swagger"))).status).toBe(404);

    const page = await ControlledPage.open(test, chromium, address("/realtime/health"));
    await page.sees("{}");
    const login = 'fetch("/login/operator", { method: "POST" }).then(({ status }) => status)';
    expect(await page.evaluate(login)).toBe("204");
    await page.evaluate('location.href = "/realtime/console#/channel?name=orders:%23ann&hear=1"');
    await page.sees("Hearing the channel.");
    await page.fill("#data", '{"id":"3"}');
    await page.click("Publish");
    await page.sees('{"id":"3"}', ".tail");
    await page.click("Overview");
    await page.sees("Deliveries a second", ".tiles");
    await page.click("API");
    await page.sees(`curl ${address("/realtime/api/")}`, "pre");
    await page.evaluate('location.hash = "#/rule?id=OW15"');
    await page.sees("Below the prefix is what a server");
    await page.evaluate('location.hash = "#/connect?user=bob"');
    await page.click("Connect");
    await page.sees("Connected as bob");
    expect(page.problems).toEqual([]);
    // In another tab somebody else logs in.
    expect(await page.evaluate(login.replace("operator", "bob"))).toBe("204");
    await page.evaluate('location.hash = "#/users"');
    await page.sees("The Worker doesn't let you in any more.");
  });
}

/** How large the bundle of a main module is, minified and gzipped. */
async function bundledBytes(main: string): Promise<number> {
  const out = mkdtempSync(join(folder, "bundled-"));
  const options = ["deploy", main, "--dry-run", "--outdir", out];
  await execute(process.execPath, [wranglerScript, ...options], inProject());
  return gzipSync(readFileSync(join(out, basename(main).replace(/ts$/, "js")))).byteLength;
}

describe("a server that stands alone, outside of the repository", () => {
  it("[A8] is laid out by dormouse init, installed by pnpm and bundled by wrangler", async () => {
    const alone = join(folder, "alone");
    await execute("npx", ["dormouse", "init", "alone"], inProject());
    const file = join(alone, "package.json");
    expect(Object.keys(packageOf(file).dependencies)).toEqual([packageName]);
    const dependencies = { [packageName]: `file:../${archive}` };
    writeFileSync(file, JSON.stringify({ ...packageOf(file), dependencies, devDependencies: {} }));
    const install = ["--yes", "pnpm@12.21.0", "install", "--ignore-scripts", "--no-optional"];
    const options = { ...inProject(), cwd: alone };
    await execute("npx", install, options);
    const bundling = [wranglerScript, "deploy", "--dry-run"];
    const { stdout } = await execute(process.execPath, bundling, options);
    expect(stdout).toMatch(/CHANNELS \(ChannelObject\)/);
  });
});
