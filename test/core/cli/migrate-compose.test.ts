import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseFile } from "../../../cli/configuration/document.ts";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";

/** What all sources below say, each in its own way: what was lost of it switched the recovery off. */
const config = {
  client: { allowed_origins: ["https://a.example.com"] },
  channel: {
    namespaces: [{ name: "chat", history_size: 10, history_ttl: "5m", force_recovery: true }],
  },
};

const configText = JSON.stringify(config);

const variables = {
  CENTRIFUGO_CLIENT_ALLOWED_ORIGINS: "https://a.example.com",
  CENTRIFUGO_CHANNEL_NAMESPACES: "chat",
  CENTRIFUGO_CHANNEL_NAMESPACES_CHAT_HISTORY_SIZE: "10",
  CENTRIFUGO_CHANNEL_NAMESPACES_CHAT_HISTORY_TTL: "5m",
  CENTRIFUGO_CHANNEL_NAMESPACES_CHAT_FORCE_RECOVERY: "1",
};

const lines = Object.entries(variables).map(([name, text]) => `${name}=${text}`);
const asFile = lines.join("\n");

type Files = Readonly<Record<string, string>>;

/** A compose file with a service of Centrifugo, as JSON, which is YAML. */
function compose(service: object, others: object = {}): string {
  return JSON.stringify({
    services: {
      app: { image: "nginx" },
      realtime: { image: "centrifugo/centrifugo:v6", ...service },
    },
    ...others,
  });
}

async function migrated(files: Files, given: readonly string[] = [], environment: Files = {}) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const run = recordedShell({}, folder);
  const args = ["migrate", "compose.yaml", "--out", "out", "--json", ...given];
  const { code, printed, noted } = await run(args, { environment });
  const report = printed === "" ? undefined : parseFile("report.json", printed);
  const read = (file: string) => readFileSync(join(folder, "out", file), "utf8");
  return { code, noted, read, report: report?.outcome === "document" ? report.document : {} };
}

/** The configuration that was written. */
function written(read: (file: string) => string): unknown {
  const parsed = parseFile("wrangler.jsonc", read("wrangler.jsonc"));
  return parsed.outcome === "document" ? parsed.document["vars"] : parsed.problem;
}

const mounted = { volumes: ["./config.json:/centrifugo/config.json:ro"] };
const named = { volumes: ["./conf:/etc/centrifugo:ro"] };
const beside = { "config.json": configText };
const below = { "conf/centrifugo.json": configText };

const readable: readonly (readonly [string, object, Files, object?])[] = [
  ["environment as a map", { environment: variables }, {}],
  ["environment as a list", { environment: lines }, {}],
  ["env_file as a text", { env_file: "a.env" }, { "a.env": asFile }],
  [
    "env_file as a list",
    { env_file: ["a.env", "b.env"] },
    { "a.env": lines.slice(2).join("\n"), "b.env": lines.slice(0, 2).join("\n") },
  ],
  [
    "env_file with paths",
    { env_file: [{ path: "sub/a.env" }, { path: "no.env", required: false }] },
    { "sub/a.env": asFile },
  ],
  ["env_file as it stands", { env_file: [{ path: "a.env", format: "raw" }] }, { "a.env": asFile }],
  [
    "env_file under environment",
    { env_file: "a.env", environment: variables },
    { "a.env": asFile.replace("SIZE=10", "SIZE=1") },
  ],
  [
    "environment over the file",
    { ...mounted, environment: lines.slice(2, 3) },
    { "config.json": configText.replace("10", "1") },
  ],
  ["a file where Centrifugo looks for it", mounted, beside],
  [
    "a folder where Centrifugo looks",
    { volumes: [{ type: "bind", source: "./conf", target: "/centrifugo" }] },
    { "conf/config.json": configText },
  ],
  [
    "another working directory",
    { working_dir: "/app", volumes: ["./conf:/app"] },
    { "conf/config.json": configText },
  ],
  ["command -c", { ...named, command: "centrifugo -c /etc/centrifugo/centrifugo.json" }, below],
  [
    "command --config",
    { ...named, command: ["centrifugo", "--config", "/etc/centrifugo/centrifugo.json"] },
    below,
  ],
  [
    "command --config=",
    { ...named, command: "centrifugo --config=/etc/centrifugo/centrifugo.json" },
    below,
  ],
  [
    "command in quotes",
    { ...named, command: `centrifugo -c "/etc/centrifugo/centrifugo.json"` },
    below,
  ],
  [
    "command of a shell",
    { ...named, command: ["sh", "-c", "exec centrifugo -c /etc/centrifugo/centrifugo.json"] },
    below,
  ],
  [
    "entrypoint",
    { ...named, entrypoint: ["centrifugo", "-c=/etc/centrifugo/centrifugo.json"] },
    below,
  ],
  [
    "entrypoint with a command",
    {
      ...named,
      entrypoint: "/usr/local/bin/centrifugo",
      command: "-c /etc/centrifugo/centrifugo.json",
    },
    below,
  ],
  [
    "a relative path",
    { volumes: ["./conf:/centrifugo/conf"], command: "centrifugo -c conf/centrifugo.json" },
    below,
  ],
  [
    "configs of a file",
    { configs: [{ source: "c", target: "/centrifugo/config.json" }] },
    beside,
    { configs: { c: { file: "./config.json" } } },
  ],
  [
    "configs with their content",
    { configs: ["c.json"], command: "centrifugo -c /c.json" },
    {},
    { configs: { "c.json": { content: configText } } },
  ],
  [
    "secrets of a file",
    { secrets: ["c.json"], command: "centrifugo -c /run/secrets/c.json" },
    beside,
    { secrets: { "c.json": { file: "config.json" } } },
  ],
  [
    "extends in the same file",
    { extends: "app" },
    beside,
    {
      services: {
        app: { ...mounted },
        realtime: { image: "centrifugo/centrifugo", extends: "app" },
      },
    },
  ],
  [
    "extends of another file",
    { extends: { file: "base/c.yaml", service: "rt" } },
    {
      "base/c.yaml": JSON.stringify({ services: { rt: { env_file: "a.env" } } }),
      "base/a.env": asFile,
    },
  ],
  [
    "include",
    {},
    { "more/c.yaml": compose({ env_file: "a.env" }), "more/a.env": asFile },
    { include: ["more/c.yaml"], services: {} },
  ],
  [
    "a variable of .env",
    {
      environment: [
        ...lines.slice(0, 2),
        `${lines[2]?.replace("10", "${SIZE}")}`,
        ...lines.slice(3),
      ],
    },
    { ".env": "SIZE=10" },
  ],
  [
    "another variable in env_file",
    { env_file: "a.env" },
    { "a.env": `SIZE=10\n${asFile.replace("=10", "=${SIZE}")}` },
  ],
  [
    "flags of options",
    { ...mounted, command: "centrifugo --client.allowed_origins=https://a.example.com -p 9000" },
    { "config.json": JSON.stringify({ channel: config.channel }) },
  ],
];

describe("[A21] dormouse migrate reads what a compose file brings", () => {
  const rows = readable.map(([name, service, files, others = {}]) => ({
    name,
    service,
    files,
    others,
  }));

  it.each(rows)("$name", async ({ service, files, others }) => {
    const { code, read, report, noted } = await migrated({
      ...files,
      "compose.yaml": compose(service, others),
    });
    expect([noted, report["unread"]]).toEqual(["", []]);
    expect(written(read)).toEqual({ config });
    expect(code).toBe(0);
  });

  it("takes the words of flags for what their options are, old ones as well", async () => {
    const command =
      "centrifugo -c config.json --http_api.key=an-api-key-of-a-command --health --client_insecure=0 --prometheus.enabled --log_level debug -e redis";
    const { code, read, report } = await migrated({
      ...beside,
      "compose.yaml": compose({ ...mounted, command }),
    });
    expect([code, report["unread"]]).toEqual([0, []]);
    expect(read(".dev.vars.migrated")).toBe("API_KEY='an-api-key-of-a-command'\n");
    expect(written(read)).toEqual({
      config: {
        ...config,
        client: { ...config.client, insecure: false },
        prometheus: { enabled: true },
      },
    });
  });

  it("takes the service that is named", async () => {
    const services = {
      one: { image: "centrifugo/centrifugo", environment: variables },
      two: { image: "centrifugo/centrifugo", environment: { CENTRIFUGO_CLIENT_CHANNEL_LIMIT: 5 } },
    };
    const { code, read } = await migrated({ "compose.yaml": JSON.stringify({ services }) }, [
      "--service",
      "one",
    ]);
    expect([code, written(read)]).toEqual([0, { config }]);
  });

  it("gives the variables of the surroundings and of --env-file to what names them", async () => {
    const environment = lines.map((line) =>
      line
        .replace(/=.*(10|chat)$/, "=${$1_IS}")
        .replace(/\{10/, "{SIZE")
        .replace("{chat", "{NAME"),
    );
    const files = {
      "compose.yaml": compose({ environment }),
      ".env": "SIZE_IS=1\nNAME_IS=other",
      "p.env": "SIZE_IS=10",
    };
    const { code, read } = await migrated(files, ["--env-file", "p.env"], { NAME_IS: "chat" });
    expect([code, written(read)]).toEqual([0, { config }]);
  });
});

const unread: readonly (readonly [string, object, Files, RegExp, object?])[] = [
  [
    "an env_file",
    { ...mounted, env_file: ["a.env"] },
    beside,
    /^env_file of realtime in compose\.yaml names a\.env, which isn't there$/,
  ],
  [
    "an entry of env_file",
    { ...mounted, env_file: [{ required: true }] },
    beside,
    /has an entry without a path$/,
  ],
  [
    "volumes of another service",
    { ...mounted, volumes_from: ["app"] },
    beside,
    /^volumes_from of realtime in compose\.yaml mounts what wasn't read$/,
  ],
  [
    "a variable",
    { ...mounted, environment: { CENTRIFUGO_CLIENT_CHANNEL_LIMIT: "${LIMIT}" } },
    beside,
    /^CENTRIFUGO_CLIENT_CHANNEL_LIMIT in compose\.yaml needs LIMIT, which isn't set here/,
  ],
  [
    "a variable with an error",
    { ...mounted, environment: { CENTRIFUGO_CLIENT_CHANNEL_LIMIT: "${LIMIT:?no}" } },
    beside,
    /needs LIMIT/,
  ],
  [
    "a variable from outside",
    { ...mounted, environment: ["CENTRIFUGO_CLIENT_CHANNEL_LIMIT"] },
    beside,
    /needs CENTRIFUGO_CLIENT_CHANNEL_LIMIT/,
  ],
  [
    "a variable from outside in a file",
    { ...mounted, env_file: "a.env" },
    { ...beside, "a.env": "CENTRIFUGO_CLIENT_CHANNEL_LIMIT" },
    /^CENTRIFUGO_CLIENT_CHANNEL_LIMIT in a\.env needs/,
  ],
  [
    "digits",
    { ...mounted, environment: { CENTRIFUGO_HTTP_API_KEY: 2 ** 60 } },
    beside,
    /too many digits/,
  ],
  [
    "a configuration of the image",
    { env_file: "a.env", command: "centrifugo -c /c.json" },
    { "a.env": asFile },
    /^\/c\.json of realtime wasn't read: nothing mounts it$/,
  ],
  [
    "a built image",
    { ...mounted, build: "." },
    beside,
    /^build of realtime in compose\.yaml makes the image/,
  ],
  [
    "a missing file",
    { env_file: "a.env", ...mounted },
    { "a.env": asFile },
    /^\/centrifugo\/config\.json of realtime wasn't read: config\.json isn't there$/,
  ],
  [
    "a volume",
    { env_file: "a.env", volumes: ["data:/centrifugo"] },
    { "a.env": asFile },
    /wasn't read: it is in the volume data$/,
  ],
  [
    "a config from elsewhere",
    { env_file: "a.env", configs: [{ source: "c", target: "/centrifugo/config.json" }] },
    { "a.env": asFile },
    /whose content isn't here$/,
    { configs: { c: { external: true } } },
  ],
  [
    "a file that no flag names",
    { env_file: "a.env", volumes: ["./config.yaml:/centrifugo/config.yaml"] },
    { "a.env": asFile },
    /^\/centrifugo\/config\.yaml of realtime wasn't read: no flag -c names it$/,
  ],
  [
    "a broken file",
    { env_file: "a.env", ...mounted },
    { "a.env": asFile, "config.json": "{" },
    /^config\.json wasn't read: /,
  ],
  [
    "an unknown flag",
    { ...mounted, command: "centrifugo --hunter2=hunter2" },
    beside,
    /^command of realtime in compose\.yaml has the flag --hunter2, which isn't read$/,
  ],
  [
    "another command",
    { ...mounted, command: "centrifugo serve" },
    beside,
    /has a word that is no flag/,
  ],
  [
    "a script",
    { ...mounted, command: ["sh", "-c", "envsubst < a > b && centrifugo -c b"] },
    beside,
    /runs a script or another program/,
  ],
  [
    "a service that it extends",
    { ...mounted, extends: { file: "no.yaml", service: "x" } },
    beside,
    /extends a service that wasn't read$/,
  ],
  [
    "an included file",
    mounted,
    beside,
    /^compose\.yaml includes no\.yaml, which wasn't read$/,
    { include: "no.yaml" },
  ],
  [
    "an override",
    mounted,
    { ...beside, "compose.override.yml": compose({}) },
    /^compose\.override\.yml changes realtime and wasn't read/,
  ],
  [
    "a text that is filled in later",
    mounted,
    { "config.json": configText.replace("https://a.example.com", "https://${HOST}.example.com") },
    /allowed_origins has \$\{HOST\}, which Dormouse doesn't fill in/,
  ],
];

describe("[A21] dormouse migrate names what it can't read of a compose file, and exits with 1", () => {
  const rows = unread.map(([name, service, files, sentence, others = {}]) => ({
    name,
    service,
    files,
    sentence,
    others,
  }));

  it.each(rows)("$name", async ({ service, files, sentence, others }) => {
    const { code, report, noted } = await migrated({
      ...files,
      "compose.yaml": compose(service, others),
    });
    expect([noted, report["unread"]]).toEqual(["", [expect.stringMatching(sentence)]]);
    expect(code).toBe(1);
  });

  it("also if nothing else is there", async () => {
    const run = recordedShell({ "compose.yaml": compose({ env_file: "a.env" }) });
    expect(await run(["migrate", "compose.yaml"])).toMatchObject({
      code: 1,
      noted:
        "nothing of Centrifugo's configuration was read: env_file of realtime in compose.yaml names a.env, which isn't there",
    });
  });

  it("tells a person last, and quotes no value", async () => {
    const folder = temporaryFolder();
    const environment = {
      CENTRIFUGO_HTTP_API_KEY: "hunter2hunter2hunter2",
      CENTRIFUGO_CLIENT_CHANNEL_LIMIT: "${X}",
    };
    const run = recordedShell({ "compose.yaml": compose({ environment }) }, folder);
    const { code, printed } = await run(["migrate", "compose.yaml", "--dry-run"]);
    expect(code).toBe(1);
    expect(printed.split("\n\n").at(-1)).toMatch(
      /^Not read, so that something may be missing:\n {2}CENTRIFUGO_CLIENT_CHANNEL_LIMIT/,
    );
    expect(printed).not.toContain("hunter2");
  });

  it("says where a default counted", async () => {
    const environment = { CENTRIFUGO_CLIENT_CHANNEL_LIMIT: "${LIMIT:-5}" };
    const { code, report } = await migrated({ "compose.yaml": compose({ environment }) });
    expect(code).toBe(0);
    expect(report["todo"]).toContain(
      "look at CENTRIFUGO_CLIENT_CHANNEL_LIMIT in compose.yaml: its default counted, because LIMIT isn't set here",
    );
  });
});
