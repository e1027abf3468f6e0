import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse, type ParseError } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { readPhpArray } from "../../../cli/migrate/pusher/php-array.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { recordedShell, temporaryFolder } from "./recorded-shell.ts";

/** As `php artisan reverb:install` makes it, and with changes that people make. */
const reverb = String.raw`<?php

use Some\Thing;

return [
    /*
    | The default: 'apps' => []
    */
    'default' => env('REVERB_SERVER', 'reverb'),
    'servers' => [
        'reverb' => [
            'host' => env('REVERB_SERVER_HOST', '0.0.0.0'),
            'scaling' => ['enabled' => env('REVERB_SCALING_ENABLED', false), 'x' => Thing::make([1, 2], fn ($a) => $a)],
        ],
    ],
    'apps' => [
        'provider' => 'config',
        'apps' => [
            [
                'key' => env('REVERB_APP_KEY'), // of the pages
                'secret' => env('REVERB_APP_SECRET'),
                'app_id' => env('REVERB_APP_ID'),
                'options' => ['host' => env('REVERB_HOST'), 'port' => env('REVERB_PORT', 443)],
                'allowed_origins' => explode(',', env('ORIGINS', '*')),
                'ping_interval' => env('REVERB_APP_PING_INTERVAL', 60),
                'max_message_size' => env('REVERB_APP_MAX_MESSAGE_SIZE', 10_000),
            ],
            array(
                'key' => "second", 'secret' => 'a-second-secret-of-many-characters', 'app_id' => (string) 2,
                'allowed_origins' => ['*.example.org'],
                'accept_client_events_from' => 'none',
            ),
        ],
    ],
];
`;
const laravelEnv = `APP_NAME=Shop
BROADCAST_CONNECTION=reverb
REVERB_APP_ID=316947
REVERB_APP_KEY=nq7ktqkzvrcdw1oxvcpd
REVERB_APP_SECRET=hunter2hunter2hunter2hunter2hunter2
REVERB_HOST="localhost"
REVERB_PORT=8080
REVERB_SCHEME=http
ORIGINS=shop.example.com,www.example.com
`;
const soketi = `{
  "debug": true,
  "port": 6001,
  "appManager.array.apps": [
    {
      "id": "1",
      "key": "one",
      "secret": "hunter2hunter2hunter2hunter2hunter2",
      "maxConnections": 200,
      "enableClientMessages": true,
      "enableUserAuthentication": true,
      "webhooks": [{ "url": "https://shop.example.com/x", "event_types": ["client_event"] }],
      "noSuchOption": 1
    },
    { "id": "2", "key": "two", "secret": "x", "enabled": false }
  ]
}`;

interface Report {
  readonly rows: readonly {
    readonly key: string;
    readonly outcome: string;
    readonly becomes: string;
  }[];
  readonly unread: readonly string[];
  readonly todo: readonly string[];
}

/** Migrates, and holds the result to what every conversion promises. */
async function migrated(files: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const folder = temporaryFolder();
  const run = recordedShell(files, folder);
  const { code, printed } = await run(["migrate", ...words, "--out", "made", "--json"]);
  const report: Report = JSON.parse(printed);
  const errors: ParseError[] = [];
  const file = readFileSync(join(folder, "made", "wrangler.jsonc"), "utf8");
  const worker: { readonly vars: { readonly config: object } } = parse(file, errors);
  expect(errors).toEqual([]);
  const { config } = worker.vars;
  expect(parseConfig(JSON.parse(JSON.stringify(config))).outcome).toBe("config");
  expect(`${printed}${file}`).not.toContain("hunter2");
  const secrets = parseEnv(readFileSync(join(folder, "made", ".dev.vars.migrated"), "utf8"));
  const checked = await run([
    "check",
    "made/wrangler.jsonc",
    "--secrets",
    "made/.dev.vars.migrated",
  ]);
  const of = (outcome: string) =>
    report.rows.filter((row) => row.outcome === outcome).map(({ key }) => key);
  return { code, ...report, config, secrets, checked, of };
}

describe("[A8] a server of the Pusher protocol", () => {
  it("of Laravel Reverb becomes the section of its file, with the variables of .env in it", async () => {
    const files = { "reverb.php": reverb, ".env": laravelEnv };
    const made = await migrated(files, "reverb.php", "--env-file", ".env");
    expect(made.code).toBe(0);
    const like = { presence: true, history_size: 10, history_ttl: "30m" };
    expect(made.config).toEqual({
      client: {
        allowed_origins: [
          "https://shop.example.com",
          "https://www.example.com",
          "https://*.example.org",
        ],
      },
      channel: {
        namespaces: [
          { name: "app1", ...like },
          { name: "app2", ...like },
        ],
      },
      pusher: {
        apps: [
          {
            id: "316947",
            key: "nq7ktqkzvrcdw1oxvcpd",
            secret: "PUSHER_SECRET_APP1",
            namespace: "app1",
            enable_client_messages: true,
          },
          {
            id: "2",
            key: "second",
            secret: "PUSHER_SECRET_APP2",
            namespace: "app2",
            enable_client_messages: false,
          },
        ],
      },
    });
    expect(made.secrets).toMatchObject({
      PUSHER_SECRET_APP1: "hunter2hunter2hunter2hunter2hunter2",
      PUSHER_SECRET_APP2: "a-second-secret-of-many-characters",
    });
    expect(made.of("secret")).toEqual(["REVERB_APP_SECRET", "apps.apps.1.secret"]);
    expect(made.of("absent")).toEqual(["REVERB_APP_MAX_MESSAGE_SIZE"]);
    expect(made.todo.join()).toContain("one list for all applications");
    expect(made.checked.printed).toContain("is valid");
    expect(made.unread).toEqual([]);
  });

  it("says which value only PHP can tell, and fails", async () => {
    const computed = reverb.replace("env('REVERB_APP_KEY')", "config('app.key')");
    const run = recordedShell({ "reverb.php": computed, ".env": laravelEnv });
    const words = ["migrate", "reverb.php", "--env-file", ".env", "--dry-run"];
    const { code, printed } = await run(words);
    expect(code).not.toBe(0);
    expect(printed).toContain("apps.apps.0.key is computed by PHP");
    const other = await recordedShell({ "app.php": "<?php return ['name' => 'x'];" })([
      "migrate",
      "app.php",
    ]);
    expect(other.noted).toContain("isn't Laravel's config/reverb.php");
  });

  it("of a backend's .env alone becomes the application that it broadcasts to", async () => {
    const both = `${laravelEnv}PUSHER_APP_ID=1\nPUSHER_APP_KEY=theirs\nPUSHER_APP_SECRET=hunter2-of-pusher-hunter2-of-pusher\n`;
    const ofReverb = await migrated({ ".env": both }, "--env-file", ".env");
    expect(ofReverb.config).toMatchObject({
      client: { allowed_origins: ["*"] },
      pusher: { apps: [{ id: "316947", namespace: "app", enable_client_messages: true }] },
    });
    const asPusher = both.replace("CONNECTION=reverb", "CONNECTION=pusher");
    const ofPusher = await migrated({ ".env": asPusher }, "--env-file", ".env");
    expect(ofPusher.config).toMatchObject({
      pusher: { apps: [{ id: "1", key: "theirs", enable_client_messages: false }] },
    });
    expect(ofPusher.todo.join()).toContain("set enable_client_messages");
  });

  it("of soketi becomes the section of its JSON, or of its variables", async () => {
    const ofFile = await migrated({ "soketi.json": soketi }, "soketi.json");
    expect(ofFile.config).toMatchObject({
      pusher: {
        apps: [
          {
            id: "1",
            key: "one",
            enable_client_messages: true,
            require_signin: true,
            webhooks: [{ url: "https://shop.example.com/x", event_types: ["client_event"] }],
          },
        ],
      },
    });
    expect(ofFile.of("absent")).toEqual(
      ["maxConnections", "noSuchOption"].map((option) => `appManager.array.apps[0].${option}`),
    );
    expect(ofFile.of("platform")).toContain("appManager.array.apps[1]");
    const half = soketi.replace("client_event", "member_added");
    const without = await migrated({ "soketi.json": half }, "soketi.json");
    expect(JSON.stringify(without.config)).not.toContain("webhooks");
    expect(without.of("absent")).toContain("appManager.array.apps[0].webhooks");
    const variables = [
      "SOKETI_DEFAULT_APP_ID=7",
      "SOKETI_DEFAULT_APP_SECRET=hunter2hunter2hunter2hunter2hunter2",
      "SOKETI_DEFAULT_APP_ENABLE_CLIENT_MESSAGES=1",
      "SOKETI_PORT=6001",
    ];
    const ofVariables = await migrated({ ".env": variables.join("\n") }, "--env-file", ".env");
    expect(ofVariables.config).toMatchObject({
      pusher: { apps: [{ id: "7", key: "app-key", enable_client_messages: true }] },
    });
    const stored = `${variables.join("\n")}\nSOKETI_APP_MANAGER_DRIVER=mysql\n`;
    const run = recordedShell({ ".env": stored });
    const ofDatabase = await run(["migrate", "--env-file", ".env", "--dry-run"]);
    expect(ofDatabase.code).not.toBe(0);
    expect(ofDatabase.printed).toContain("in a database");
  });
});

describe("an array of PHP", () => {
  it.each([
    [
      "['a' => 1, 'b' => [true, null], 'c' => 'it\\'s']",
      { a: 1, b: { 0: true, 1: null }, c: "it's" },
    ],
    ["array('x' => env('SET', 'no'), 'y' => env('UNSET', 'yes'))", { x: "set", y: "yes" }],
    ["[ 'on' => env('FLAG') , ]", { on: true }],
    ["['bad' => $x->y(1, [2]), 'good' => 1_000]", { bad: null, good: 1000 }],
  ])("is read without PHP: %s", (code, expected) => {
    const read = readPhpArray(`<?php // return nothing\nreturn ${code};`, {
      SET: "set",
      FLAG: "(true)",
    });
    expect(read?.array).toEqual(expected);
  });

  it.each(["", "<?php", "<?php return 7;", "<?php return [", "<?php return ['a' =>"])(
    "that isn't there makes no endless loop: %s",
    (text) => {
      expect(Object.keys(readPhpArray(text, {})?.array ?? {}).length).toBeLessThan(2);
    },
  );
});
