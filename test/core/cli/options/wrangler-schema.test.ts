import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Schema, Validator } from "@cfworker/json-schema";
import { expect, it } from "vitest";
import { parseFile } from "../../../../cli/configuration/document.ts";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { packageRoot } from "../../../../cli/package-root.ts";
import { wranglerSchema } from "../../../../cli/options/wrangler-schema.ts";

const schema: Schema = wranglerSchema();
const validator = new Validator(schema, "7", false);

const files = [
  "wrangler.toml",
  "examples/wrangler.example.toml",
  "examples/template/wrangler.jsonc",
];

function documentIn(file: string) {
  const parsed = parseFile(file, readFileSync(join(packageRoot, file), "utf8"));
  if (parsed.outcome === "bad") throw new Error(parsed.problem);
  return parsed.document;
}

it.each(files)("[A8] the schema for editors takes %s", (file) => {
  expect(validator.validate(documentIn(file)).errors).toEqual([]);
});

it.each(files.filter((file) => file.endsWith(".toml")))(
  "%s names the schema for its editor",
  (file) => {
    const [, path = ""] =
      /^#:schema (\S+)\n/.exec(readFileSync(join(packageRoot, file), "utf8")) ?? [];
    expect(existsSync(join(packageRoot, dirname(file), path))).toBe(true);
  },
);

it.each([
  ["a misspelt key", { client: { ping_intervall: "4s" } }, "ping_intervall"],
  ["a key that isn't there", { redis: {} }, "redis"],
  ["a value of another type", { client: { ping_interval: 4 } }, "type"],
  ["a choice that there isn't", { client: { pong: "often" } }, "enum"],
  ["a number below the least", { client: { queue_max_size: 1 } }, "minimum"],
  [
    "an option of a namespace",
    { channel: { namespaces: [{ name: "chat", presense: true }] } },
    "presense",
  ],
])("[A8] the schema for editors refuses %s, also in an environment", (_, config, named) => {
  for (const document of [{ vars: { config } }, { env: { staging: { vars: { config } } } }]) {
    const { valid, errors } = validator.validate(document);
    expect(valid).toBe(false);
    expect(JSON.stringify(errors)).toContain(named);
  }
});

const namespace = (options: object) => ({
  channel: { namespaces: [{ name: "chat", ...options }] },
});
const bare = (options: object) => ({ channel: { without_namespace: options } });
const history = { history_size: 10, history_ttl: "1m" };
const events = { target: "queue:EVENTS", types: ["publication"] };
const access = {
  access_team_domain: "example.cloudflareaccess.com",
  access_audience: "0".repeat(64),
};

/** An option without another one that it needs, and with it. */
const joined: readonly (readonly [option: string, without: object, complete: object])[] = [
  ["history_size", namespace({ history_size: 10 }), namespace(history)],
  ["history_ttl", bare({ history_ttl: "1m" }), bare(history)],
  ["history_size", bare({ history_size: 10, history_ttl: "0s" }), bare({ history_size: 0 })],
  ...["force_positioning", "allow_positioning", "force_recovery", "allow_recovery"].map(
    (option) =>
      [option, namespace({ [option]: true }), namespace({ ...history, [option]: true })] as const,
  ),
  [
    "force_push_join_leave",
    namespace({ force_push_join_leave: true, join_leave: false }),
    namespace({ force_push_join_leave: true, join_leave: true }),
  ],
  [
    "auto_cache_recover",
    namespace({ ...history, auto_cache_recover: true }),
    namespace({ ...history, auto_cache_recover: true, force_recovery_mode: "cache" }),
  ],
  [
    "delta_publish",
    namespace({ ...history, delta_publish: true, allowed_delta_types: [] }),
    namespace({ ...history, delta_publish: true, allowed_delta_types: ["fossil"] }),
  ],
  [
    "key_ttl",
    namespace({ subscription_type: "map", map: { mode: "recoverable" } }),
    namespace({ subscription_type: "map", map: { mode: "recoverable", key_ttl: "10m" } }),
  ],
  [
    "publish_enabled",
    polled({ publish_enabled: true }),
    polled({ publish_enabled: true, mode: "versioned" }),
  ],
  ["notify_seen", told({ notify_seen: true }), told({ notify_seen: true, notify_after: "30s" })],
  [
    "single_connection",
    { client: { subscribe_to_user_personal_channel: { single_connection: true } } },
    { client: { subscribe_to_user_personal_channel: { single_connection: true, enabled: true } } },
  ],
  [
    "access_audience",
    { console: { enabled: true, access_team_domain: access.access_team_domain } },
    { console: { enabled: true, ...access } },
  ],
  [
    "access_team_domain",
    { console: { enabled: true, access_audience: access.access_audience } },
    { console: { enabled: false, access_team_domain: "", access_audience: "" } },
  ],
  ["enabled", { console: access }, { console: { enabled: false, ...access } }],
  ["types", { events: { types: events.types } }, { events }],
  [
    "types",
    { events: { target: events.target } },
    { events: { ...events, target: "queue:OTHER" } },
  ],
];

it.each(joined)(
  "[A8] the schema for editors refuses %s without what it needs, as the server does",
  (option, without, complete) => {
    const refused = parseConfig(without);
    expect(refused.outcome === "bad" ? refused.problems.join("\n") : "").toContain(option);
    expect(validator.validate({ vars: { config: without } }).valid).toBe(false);
    expect(parseConfig(complete)).toMatchObject({ outcome: "config" });
    expect(validator.validate({ vars: { config: complete } }).errors).toEqual([]);
  },
);

function polled(options: object): object {
  const proxy = { shared_poll_refresh: { endpoint: "https://example.com/refresh" } };
  const votes = { name: "votes", subscription_type: "shared_poll", shared_poll: options };
  return { channel: { proxy, namespaces: [votes] } };
}

function told(options: object): object {
  return {
    client: { users: { enabled: true } },
    events: { target: "queue:EVENTS", types: ["unseen", "seen"] },
    ...namespace({ ...history, cursors: { enabled: true, audience: "named", ...options } }),
  };
}

it("the schema of the installed package has wrangler's own beside it", () => {
  const own = "../../wrangler/config-schema.json";
  expect(wranglerSchema(own)).toMatchObject({ allOf: [{ $ref: own }] });
  // As from node_modules/dormouse-realtime/dist.
  const folder = join(packageRoot, "node_modules", "dormouse-realtime", "dist");
  expect(existsSync(join(folder, own))).toBe(true);
});
