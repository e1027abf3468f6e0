import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { parseFile } from "../../../cli/configuration/document.ts";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";

const bindings = [
  { name: "CHANNELS", class_name: "ChannelObject" },
  { name: "GATEWAYS", class_name: "GatewayObject" },
  { name: "USERS", class_name: "UsersObject" },
  { name: "METRICS", class_name: "MetricsObject" },
];
const classes = bindings.map(({ class_name: name }) => name);
const mine = { name: "MINE", class_name: "Mine" };

/** Adds to a project with one file, twice; gives the file after that, and what was printed. */
async function added(name: string, text: string, more: readonly string[] = []) {
  const folder = temporaryFolder();
  const file = join(folder, name);
  writeFileSync(file, text);
  const run = recordedShell({}, folder);
  const first = await run(["init", "--existing", ...more]);
  const once = readFileSync(file, "utf8");
  const second = await run(["init", "--existing", ...more]);
  const twice = readFileSync(file, "utf8");
  expect(twice).toBe(once);
  expect(second.printed).toContain("nothing was changed");
  const parsed = parseFile(name, once);
  if (parsed.outcome === "bad") throw new Error(parsed.problem);
  return { ...first, text: once, document: parsed.document };
}

function breaks(text: string): ReadonlySet<string> {
  return new Set(text.match(/\r?\n/g));
}

describe("dormouse init --existing", () => {
  it("[N16] adds to a wrangler.jsonc, whose comments and layout stay", async () => {
    const text = `{
    // My Worker.
    "name": "shop", /* its name */
    "main": "worker.ts",
    "durable_objects": {
        "bindings": [
            { "name": "MINE", "class_name": "Mine" }, // mine
        ],
    },
    "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Mine"] }],
}
`;
    const { code, text: after, document, printed } = await added("wrangler.jsonc", text);
    expect(code).toBe(0);
    for (const kept of ["// My Worker.", "/* its name */", "// mine"])
      expect(after).toContain(kept);
    expect(after).toMatch(/^ {4}"name"/m);
    expect(document).toMatchObject({
      name: "shop",
      durable_objects: { bindings: [mine, ...bindings] },
      migrations: [
        { tag: "v1", new_sqlite_classes: ["Mine"] },
        { tag: "v2", new_sqlite_classes: classes },
      ],
    });
    expect(document["exports"]).toBeUndefined();
    expect(printed).toContain("the migration v2");
    expect(printed).toMatch(/Add to worker\.ts: export \{ ChannelObject, .*\} from "/);
    expect(printed).toContain("npm install");
  });

  it("[N16] adds to exports where the file has them, and makes no migration", async () => {
    const text =
      '{ "name": "shop", "exports": { "Mine": { "type": "durable-object", "storage": "sqlite" } } }';
    const { document } = await added("wrangler.json", text);
    expect(document["migrations"]).toBeUndefined();
    expect(Object.keys(Object(document["exports"]))).toEqual(["Mine", ...classes]);
    expect(document["exports"]).toMatchObject({
      ChannelObject: { type: "durable-object", storage: "sqlite" },
    });
  });

  it.each([
    [
      "tables",
      '# mine\nname = "shop"\n\n[[durable_objects.bindings]]\nname = "MINE"\nclass_name = "Mine"\n\n[[migrations]]\ntag = "v7"\nnew_sqlite_classes = ["Mine"]\n',
    ],
    [
      "a file that ends without a line break",
      '# mine\nname = "shop"\n[[durable_objects.bindings]]\nname = "MINE"\nclass_name = "Mine"\n[[migrations]]\ntag = "v7"\nnew_sqlite_classes = ["Mine"]',
    ],
    [
      "line breaks of Windows",
      '# mine\r\nname = "shop"\r\n[[durable_objects.bindings]]\r\nname = "MINE"\r\nclass_name = "Mine"\r\n[[migrations]]\r\ntag = "v7"\r\nnew_sqlite_classes = ["Mine"]\r\n',
    ],
  ])("[N16] adds to a wrangler.toml: %s", async (_, text) => {
    const { text: after, document } = await added("wrangler.toml", text);
    expect(after.startsWith(text)).toBe(true);
    expect(breaks(after)).toEqual(breaks(text));
    expect(document).toMatchObject({
      durable_objects: { bindings: [mine, ...bindings] },
      migrations: [{ tag: "v7" }, { tag: "v8", new_sqlite_classes: classes }],
    });
  });

  it("[N16] adds to exports of a wrangler.toml", async () => {
    const text = 'name = "shop"\n[exports.Mine]\ntype = "durable-object"\nstorage = "sqlite"\n';
    const { document } = await added("wrangler.toml", text);
    expect(document["migrations"]).toBeUndefined();
    expect(Object.keys(Object(document["exports"]))).toEqual(["Mine", ...classes]);
  });

  it("[N16] adds only what is missing, and to a file that has nothing", async () => {
    const some = {
      durable_objects: { bindings: bindings.slice(0, 2) },
      migrations: [{ tag: "first", new_sqlite_classes: classes.slice(0, 3) }],
    };
    const { document } = await added("wrangler.json", JSON.stringify(some));
    expect(document).toEqual({
      durable_objects: { bindings },
      migrations: [
        ...some.migrations,
        { tag: "dormouse-1", new_sqlite_classes: ["MetricsObject"] },
      ],
    });
    const { document: empty } = await added("wrangler.json", "{}");
    expect(empty).toEqual({
      durable_objects: { bindings },
      migrations: [{ tag: "v1", new_sqlite_classes: classes }],
    });
  });

  it("[N16] adds the bindings to an environment, and names those that inherit none", async () => {
    const text = JSON.stringify({ env: { staging: {}, production: {} } });
    const { document } = await added("wrangler.json", text, ["--env", "staging"]);
    expect(document).toEqual({
      env: { staging: { durable_objects: { bindings } }, production: {} },
      migrations: [{ tag: "v1", new_sqlite_classes: classes }],
    });
    const { printed } = await added("wrangler.json", text);
    expect(printed).toContain("--env staging");
    expect(printed).toContain("--env production");
    const toml = await added("wrangler.toml", "[env.staging]\nname = 's'\n", ["--env", "staging"]);
    expect(parseToml(toml.text)).toMatchObject({
      env: { staging: { durable_objects: { bindings } } },
    });
  });

  it("[N16] asks for no export that the module has", async () => {
    const exported =
      'export { ChannelObject, GatewayObject, UsersObject, MetricsObject } from "x";';
    const run = recordedShell({ "wrangler.json": '{"main":"i.ts"}', "i.ts": exported });
    const { printed } = await run(["init", "--existing"]);
    expect(printed).toContain("export { BackendEntrypoint, RealtimeEntrypoint } from");
  });

  it.each<[string, string, string, readonly string[]]>([
    [
      "both exports and migrations",
      "wrangler.json",
      '{"exports":{"A":{"type":"durable-object","storage":"sqlite"}},"migrations":[{"tag":"v1"}]}',
      [],
    ],
    [
      "CHANNELS is taken",
      "wrangler.json",
      '{"durable_objects":{"bindings":[{"name":"CHANNELS","class_name":"Mine"}]}}',
      [],
    ],
    [
      "new_sqlite_classes",
      "wrangler.json",
      '{"migrations":[{"tag":"v1","new_classes":["ChannelObject"]}]}',
      [],
    ],
    [
      "exports.ChannelObject",
      "wrangler.json",
      '{"exports":{"ChannelObject":{"type":"durable-object","state":"deleted"}}}',
      [],
    ],
    [
      "[[durable_objects.bindings]]",
      "wrangler.toml",
      'durable_objects = { bindings = [ { name = "MINE", class_name = "Mine" } ] }\n',
      [],
    ],
    ["isn't", "wrangler.json", "[]", []],
  ])("[N16] refuses, and writes nothing: %s", async (message, name, text, more) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), text);
    const { code, noted } = await recordedShell({}, folder)(["init", "--existing", ...more]);
    expect(code).toBe(1);
    expect(noted).toContain(message);
    expect(readFileSync(join(folder, name), "utf8")).toBe(text);
  });

  it("[N16] refuses a folder without a Worker, and options that don't fit", async () => {
    const run = recordedShell();
    expect((await run(["init", "--existing"])).noted).toContain("has none of wrangler.json");
    const project = recordedShell({ "wrangler.json": "{}" });
    const unknown = await project(["init", "--existing", "--env", "x"]);
    expect([unknown.code, unknown.noted]).toEqual([2, "wrangler.json has no environment x"]);
    expect((await run(["init", "--existing", "--name", "x"])).code).toBe(2);
    expect((await run(["init", "--env", "x"])).code).toBe(2);
  });
});

describe("[OW13] what dormouse init --existing says of the settings", () => {
  const base = 'name = "shop"\nmain = "worker.ts"\n';

  it("is the flags that the date lacks, and what would take less", async () => {
    const text = `${base}compatibility_date = "2024-04-02"\n[env.new]\ncompatibility_date = "2026-11-02"\n`;
    const { printed, text: after } = await added("wrangler.toml", text);
    expect(printed).toMatch(
      /Without the compatibility flag rpc nobody connects: .* is before 2024/,
    );
    expect(printed).toContain(
      'Write compatibility_flags = ["rpc", "enable_weak_ref", "enable_ctx_exports"], or a later date',
    );
    expect(printed).toContain("Compression takes 386 KiB");
    expect(printed).toContain("write minify = true");
    expect(after).not.toContain("compatibility_flags");
    expect(printed).toContain('npm pkg set scripts.predeploy="dormouse check"');
    const section = await added("wrangler.toml", text, ["--env", "new"]);
    expect(section.printed).not.toContain("Without the compatibility flag");
  });

  it("is nothing where nothing is missing", async () => {
    const settings =
      'compatibility_date = "2026-11-02"\ncompatibility_flags = ["no_web_socket_compression"]\nminify = true\n[build]\ncommand = "make && dormouse check"\n';
    const { printed } = await added("wrangler.toml", `${base}${settings}`);
    expect(printed).not.toMatch(/compat|minif|predeploy/i);
  });
});
