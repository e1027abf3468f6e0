import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { wranglerScript } from "../../../cli/configuration/wrangler.ts";
import { workerBuild } from "../../../package/test/worker-build.ts";
import { recordedShell } from "../../core/cli/recorded-shell.ts";
import { linkPackage } from "../../support/environments/installed-example.ts";

const source = join(packageRoot, "package", "index.ts");
const [channelsModule, edgeModule] = [
  ["package", "channels.ts"],
  ["workers", "edge.ts"],
].map((path) => JSON.stringify(join(packageRoot, ...path)));
const exported =
  "BackendEntrypoint, ChannelObject, GatewayObject, MetricsObject, RealtimeEntrypoint, UsersObject";

/** A Worker with the modules that wrangler knows, whose configuration depends on a variable. */
const shop = `
import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import sql from "../migrations/orders.sql";
import wasm from "./nothing.wasm";
import { dormouse } from "dormouse-realtime";
export { ${exported} } from "dormouse-realtime";

if (typeof sql !== "string" || !(wasm instanceof WebAssembly.Module)) throw new Error("modules");
if (createHash("sha256").update(env.STAGE).digest("hex") === "") throw new Error("node");
if (env.DATABASE === undefined || env.OTHER === undefined) throw new Error("bindings");
const realtime = dormouse({
  prefix: "/realtime",
  config: {
    channel: { without_namespace: { [env.STAGE === "production" ? "history_size" : "histroy_size"]: 5, history_ttl: "5m" } },
    events: { target: "queue:EVENTS", types: ["publication"] },
    sse: { enabled: true },
  },
  user: () => "ann",
  onRpc: () => ({ result: {} }),
});
export default { fetch: realtime.app.fetch };
`;

const objects = [
  { name: "CHANNELS", class_name: "ChannelObject" },
  { name: "GATEWAYS", class_name: "GatewayObject" },
  { name: "USERS", class_name: "UsersObject" },
];
const database = { binding: "DATABASE", database_id: "1", database_name: "orders" };
const other = { binding: "OTHER", service: "other" };

/** Wrangler's file of a project, whose package is this repository's source. */
const wranglerFile = (more: object = {}): string =>
  JSON.stringify({
    name: "shop",
    main: "own/index.ts",
    compatibility_date: "2026-11-02",
    compatibility_flags: ["no_web_socket_compression"],
    minify: true,
    alias: { "dormouse-realtime": source },
    durable_objects: { bindings: objects },
    migrations: [{ tag: "v1", new_sqlite_classes: objects.map((one) => one.class_name) }],
    ...more,
  });

/** The least Worker with the real-time layer. */
const worker = (config: string): string => `
import { dormouse } from "dormouse-realtime";
export { ${exported} } from "dormouse-realtime";
const realtime = dormouse({ prefix: "/realtime", config: ${config}, user: () => "ann" });
export default { fetch: realtime.app.fetch };
`;
const mistyped = worker("{ client: { ping_intervall: '4s' } }");
const problem = "client.ping_intervall is unknown; did you mean ping_interval?";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  linkPackage(folder, "wrangler");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes files of the project. */
function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** What `dormouse check` reports of the project. */
async function check(...options: readonly string[]) {
  const { code, printed, noted } = await recordedShell({}, folder)(["check", "--json", ...options]);
  expect([code, noted]).toEqual([code, ""]);
  const { file, valid, problems, notes, secrets } = JSON.parse(printed);
  expect(valid).toBe(code === 0);
  return { file, valid, problems, notes, secrets };
}

describe("[OW14] dormouse check of a configuration in code", () => {
  it("reads it as the environment is deployed, with its bindings and its secrets", async () => {
    write({
      "own/index.ts": shop,
      "own/nothing.wasm": Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0),
      "migrations/orders.sql": "SELECT 1",
      "wrangler.json": wranglerFile({
        vars: { STAGE: "trial", config: {} },
        compatibility_date: "2024-04-02",
        compatibility_flags: ["nodejs_compat"],
        d1_databases: [database],
        services: [other],
        durable_objects: { bindings: objects.slice(0, 2) },
        env: {
          production: {
            compatibility_date: "2026-11-02",
            compatibility_flags: ["no_web_socket_compression"],
            vars: { STAGE: "production" },
            d1_databases: [database],
            services: [other],
            durable_objects: { bindings: objects },
            queues: { producers: [{ binding: "EVENTS", queue: "events" }] },
          },
        },
      }),
    });
    expect(await check()).toEqual({
      file: join("own", "index.ts"),
      valid: false,
      problems: [
        expect.stringContaining("binding USERS to the class UsersObject is missing"),
        expect.stringContaining("history_ttl requires history_size"),
        expect.stringContaining("histroy_size is unknown; did you mean history_size?"),
        expect.stringContaining("the configuration is given twice"),
        ...["rpc", "enable_weak_ref", "enable_ctx_exports"].map((flag) =>
          expect.stringContaining(`without the compatibility flag ${flag} `),
        ),
      ],
      notes: expect.arrayContaining([expect.stringContaining("386 KiB")]),
      secrets: [],
    });
    const deployed = await check("--env", "production");
    expect(deployed).toMatchObject({ valid: true, problems: [], secrets: ["API_KEY"] });
  });

  it.each([
    [
      "throws while it is loaded",
      `${worker("{}")}dormouse({ prefix: "/again" });`,
      /^own\/index\.ts can't be loaded: Error: dormouse\(\) was called twice[^]*\n +at .*in dormouse/,
    ],
    [
      "can't be built",
      `${worker("{}")}import "./nothing";`,
      /^wrangler can't build own\/index\.ts: .*\n +Could not resolve "\.\/nothing"/,
    ],
    [
      "says nothing of a configuration",
      `export class Mine {} export default { fetch: () => new Response("") };`,
      /^own\/index\.ts doesn't call dormouse\(\) while it is loaded, and wrangler\.json has no/,
    ],
  ])("isn't valid where the Worker %s", async (_, code, says) => {
    write({
      "own/index.ts": code,
      "wrangler.json": wranglerFile({ durable_objects: {}, migrations: [] }),
    });
    const { problems, secrets } = await check();
    expect(problems).toEqual([expect.stringMatching(says)]);
    expect(secrets).toEqual([]);
  });

  it("names what is wrong with the code of a server that stands alone, under the configuration of the file", async () => {
    const namespaces = [{ name: "auction" }, { name: "votes" }];
    write({
      "own/index.ts": `
import { channel, useChannels } from ${channelsModule};
export * from ${edgeModule};
export { default } from ${edgeModule};
useChannels({
  auction: channel({ procedures: { bid: async () => 1 } }),
  vote: channel({ procedures: { vote() {} } }),
});`,
      "wrangler.json": wranglerFile({ vars: { config: { channel: { namespaces } } } }),
    });
    const { file, problems } = await check();
    expect(file).toBe("wrangler.json");
    expect(problems).toEqual([
      expect.stringMatching(
        /^channels\.auction\.procedures\.bid is async: it runs in the channel's/,
      ),
      "channels.vote: channel.namespaces has no vote",
    ]);
  });

  it("is of what a build such as vite's has written, in place of the project's own file", async () => {
    const config = "{ events: { target: 'queue:EVENTS', types: ['publication'] } }";
    const contents = worker(config).replace("BackendEntrypoint, ", "");
    const { outputFiles } = await build({
      ...workerBuild,
      stdin: { contents, resolveDir: packageRoot },
      alias: { "dormouse-realtime": source },
      nodePaths: [join(packageRoot, "node_modules")],
    });
    write({
      "wrangler.json": wranglerFile({ main: "virtual:entry" }),
      "dist/shop/index.js": outputFiles[0]?.text ?? "",
      "dist/shop/wrangler.json": wranglerFile({ main: "index.js", no_bundle: true, alias: {} }),
      ".wrangler/deploy/config.json": JSON.stringify({
        configPath: "../../dist/shop/wrangler.json",
      }),
    });
    const { file, problems } = await check();
    expect(file).toBe(join("dist", "shop", "index.js"));
    expect(problems).toEqual([
      expect.stringContaining("the Worker doesn't export BackendEntrypoint: add export {"),
      expect.stringContaining("binding EVENTS to the queue that events.target names is missing"),
    ]);
  });

  it("refuses a deploy of wrangler's own, whose build it is, and runs once", async () => {
    const dormouse = `${process.execPath} --no-warnings ${join(packageRoot, "cli", "dormouse.ts")}`;
    const command = `${dormouse} check`;
    write({ "own/index.ts": mistyped, "wrangler.json": wranglerFile({ build: { command } }) });
    const deploy = [wranglerScript, "deploy", "--dry-run"];
    const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false" };
    const running = promisify(execFile)(process.execPath, deploy, { cwd: folder, env });
    await expect(running).rejects.toMatchObject({
      stdout: expect.stringMatching(new RegExp(`^[^]*${problem.replace("?", "\\?")}[^]*$`)),
    });
  });
});
