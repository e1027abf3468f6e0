import { describe, expect, it } from "vitest";
import { type Conversion, convert } from "../../../cli/migrate/conversion.ts";
import { withEnvironment } from "../../../cli/migrate/environment.ts";
import { secretsFile, workerFile } from "../../../cli/migrate/worker-files.ts";
import { parseFile } from "../../../cli/configuration/document.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import type { JsonObject } from "../../../src/protocol/wire-value.ts";

const fresh = "a-fresh-secret-of-the-conversion";

/** Converts the text of a file, and holds the result to what every conversion promises. */
function converted(name: string, text: string): Conversion {
  return checked(documentOf(name, text));
}

function documentOf(name: string, text: string): JsonObject {
  const parsed = parseFile(name, text);
  if (parsed.outcome === "bad") throw new Error(parsed.problem);
  return parsed.document;
}

function checked(document: JsonObject): Conversion {
  const conversion = convert(document, () => fresh);
  const { config, secrets, rows, todo } = conversion;
  const isDecided = rows.every(({ outcome }) => outcome !== "decide");
  expect(parseConfig(config).outcome).toBe(isDecided ? "config" : "bad");
  // What is printed quotes no secret, and the configuration has none.
  const shown = JSON.stringify([rows, todo, config]);
  for (const secret of [...Object.values(secrets), "hunter2"]) expect(shown).not.toContain(secret);
  return conversion;
}

function outcomes({ rows }: Conversion, outcome: string): readonly string[] {
  return rows.filter((row) => row.outcome === outcome).map(({ key }) => key);
}

/** As Centrifugo 5 generates and documents it. */
const version5 = `{
  "token_hmac_secret_key": "bbe7d157-a253-4094-9759-06a8236543f9",
  "admin": true,
  "admin_password": "hunter2",
  "admin_secret": "hunter2",
  "api_key": "d7627bb6-2292-4911-82e1-615c0ed3eebb",
  "allowed_origins": ["https://app.example.com"],
  "engine": "redis",
  "redis_address": "redis:6379",
  "redis_password": "hunter2",
  "health": true,
  "log_level": "debug",
  "port": 9000,
  "client_channel_limit": 512,
  "client_concurrency": 8,
  "ping_interval": "15s",
  "pong_timeout": "8s",
  "history_size": 10,
  "history_ttl": "300s",
  "force_recovery": true,
  "user_subscribe_to_personal": true,
  "uni_sse": true,
  "sockjs": true,
  "namespaces": [
    { "name": "chat", "presence": true, "allow_subscribe_for_client": true, "subscribe_cel": "true" }
  ]
}`;

describe("[A8] a configuration of Centrifugo 5", () => {
  it("is nested, and its secrets are taken out", () => {
    const conversion = converted("config.json", version5);
    expect(conversion.config).toEqual({
      client: {
        allowed_origins: ["https://app.example.com"],
        channel_limit: 512,
        ping_interval: "15s",
        pong_timeout: "8s",
        subscribe_to_user_personal_channel: { enabled: true },
      },
      channel: {
        without_namespace: { history_size: 10, history_ttl: "300s", force_recovery: true },
        namespaces: [{ name: "chat", presence: true, allow_subscribe_for_client: true }],
      },
      uni_sse: { enabled: true },
    });
    expect(conversion.secrets).toEqual({
      API_KEY: "d7627bb6-2292-4911-82e1-615c0ed3eebb",
      TOKEN_HMAC_SECRET_KEY: "bbe7d157-a253-4094-9759-06a8236543f9",
    });
    expect(conversion.todo).toEqual([
      "set the secret CONSOLE_PASSWORD, with which the console lets you in",
    ]);
  });

  it("has a row for each key, with the name in the source", () => {
    const conversion = converted("config.json", version5);
    expect(outcomes(conversion, "secret")).toEqual(["api_key", "token_hmac_secret_key"]);
    expect(outcomes(conversion, "platform").toSorted()).toEqual([
      "admin, admin_password, admin_secret",
      "client_concurrency",
      "engine, redis_address, redis_password",
      "health",
      "log_level",
      "port",
    ]);
    expect(outcomes(conversion, "absent").toSorted()).toEqual([
      "namespaces[0].subscribe_cel",
      "sockjs",
    ]);
    expect(outcomes(conversion, "kept")).toContain("namespaces[0].presence");
    const size = conversion.rows.find(({ key }) => key === "history_size");
    expect(size?.becomes).toBe("channel.without_namespace.history_size");
  });

  it("[Q8] has its proxies switched on by their endpoints, with what they share", () => {
    const { config, secrets, todo } = converted(
      "config.json",
      JSON.stringify({
        api_key: "an-api-key-of-32-characters-here",
        token_rsa_public_key: "",
        token_hmac_secret_key: "a-token-secret-of-many-characters",
        proxy_connect_endpoint: "https://app.example.com/connect",
        proxy_connect_timeout: "2s",
        proxy_publish_endpoint: "https://app.example.com/publish",
        proxy_rpc_endpoint: "https://app.example.com/rpc",
        proxy_http_headers: ["Cookie"],
        proxy_static_http_headers: { "X-From": "centrifugo" },
        namespaces: [{ name: "chat", proxy_publish: true }],
      }),
    );
    const common = {
      http_headers: ["Cookie"],
      http: { static_headers: { "X-From": "centrifugo" } },
    };
    expect(config).toMatchObject({
      client: { proxy: { connect: { enabled: true, timeout: "2s", ...common } } },
      channel: {
        proxy: { publish: { endpoint: "https://app.example.com/publish", ...common } },
        namespaces: [{ name: "chat", publish_proxy_enabled: true }],
      },
      rpc: { proxy: common, without_namespace: { proxy_enabled: true } },
    });
    expect(secrets["HOOK_SIGNING_SECRET"]).toBe(fresh);
    expect(todo.join()).toContain("HOOK_SIGNING_SECRET is new");
    expect(todo.join()).toContain("look at static_headers");
  });

  it("has its granular proxies switched on by their names", () => {
    const conversion = converted(
      "config.json",
      JSON.stringify({
        granular_proxy_mode: true,
        connect_proxy_name: "login",
        proxies: [
          { name: "login", endpoint: "https://app.example.com/login", timeout: "500ms" },
          { name: "chat", endpoint: "https://app.example.com/chat" },
        ],
        namespaces: [{ name: "chat", subscribe_proxy_name: "chat" }],
        rpc_namespaces: [{ name: "math", rpc_proxy_name: "chat" }],
      }),
    );
    expect(outcomes(conversion, "platform")).toEqual(["granular_proxy_mode"]);
    expect(conversion.config).toMatchObject({
      client: { proxy: { connect: { enabled: true, endpoint: "https://app.example.com/login" } } },
      channel: {
        namespaces: [{ subscribe_proxy_enabled: true, subscribe_proxy_name: "chat" }],
      },
      rpc: { namespaces: [{ name: "math", proxy_enabled: true, proxy_name: "chat" }] },
    });
  });
});

describe("[A8] a configuration of Centrifugo 4", () => {
  it("is converted from TOML", () => {
    const conversion = converted(
      "config.toml",
      `
token_hmac_secret_key = "4-token-secret-of-many-characters"
api_key = "4-api-key-of-many-characters"
allowed_origins = ["https://app.example.com"]
allow_subscribe_for_client = true
allow_user_limited_channels = true
global_history_meta_ttl = "48h"
disable_client_protocol_v1 = true
tls = true
tls_key = "hunter2"

[[namespaces]]
name = "news"
history_size = 1
history_ttl = "60s"
allow_history_for_subscriber = true
`,
    );
    expect(conversion.config).toEqual({
      client: { allowed_origins: ["https://app.example.com"] },
      channel: {
        history_meta_ttl: "48h",
        without_namespace: { allow_subscribe_for_client: true, allow_user_limited_channels: true },
        namespaces: [
          { name: "news", history_size: 1, history_ttl: "60s", allow_history_for_subscriber: true },
        ],
      },
    });
    expect(outcomes(conversion, "absent")).toEqual(["disable_client_protocol_v1"]);
    expect(outcomes(conversion, "platform")).toEqual(["tls, tls_key"]);
  });
});

/** As Centrifugo 6 documents it, in YAML. */
const version6 = `
http_server:
  port: 8000
  tls: { enabled: true, key_pem: hunter2 }
engine:
  type: redis
  redis: { address: "redis://user:hunter2@redis:6379" }
client:
  allowed_origins: ["https://app.example.com"]
  token:
    hmac_secret_key: 6-token-secret-of-many-characters
    audience: app
  subscription_token:
    enabled: true
    hmac_secret_key: 6-subscription-secret-of-many
  presence_update_interval: 10s
channel:
  without_namespace: { presence: true }
  namespaces:
    - name: chat
      history_size: 50
      history_ttl: 1h
      allowed_delta_types: [fossil]
http_api:
  key: 6-api-key-of-many-characters
admin: { enabled: false, password: hunter2, secret: hunter2 }
prometheus: { enabled: true }
user_status: { enabled: true }
user_block: { enabled: true }
consumers:
  - { name: kafka, type: kafka, enabled: false, kafka: { sasl_password: hunter2 } }
  - { name: nats, type: nats_jetstream, enabled: true, nats_jetstream: { token: hunter2 } }
`;

describe("[A8] a configuration of Centrifugo 6", () => {
  it("keeps its nesting, and loses its secrets, also those of sections that are off", () => {
    const conversion = converted("config.yaml", version6);
    expect(conversion.config).toEqual({
      client: {
        allowed_origins: ["https://app.example.com"],
        token: { audience: "app" },
        subscription_token: { enabled: true },
        users: { status: { enabled: true } },
      },
      prometheus: { enabled: true },
      channel: {
        without_namespace: { presence: true },
        namespaces: [
          { name: "chat", history_size: 50, history_ttl: "1h", allowed_delta_types: ["fossil"] },
        ],
      },
    });
    expect(Object.keys(conversion.secrets).toSorted()).toEqual([
      "API_KEY",
      "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
      "TOKEN_HMAC_SECRET_KEY",
    ]);
    expect(outcomes(conversion, "absent").toSorted()).toEqual([
      "client.presence_update_interval",
      "consumers[0]",
      "consumers[1]",
    ]);
    expect(outcomes(conversion, "platform").toSorted()).toEqual([
      "admin",
      "engine",
      "http_server",
      "user_block",
    ]);
  });

  it.each([
    ["a channel_regex", { channel: { without_namespace: { channel_regex: "(?i)^a" } } }, "channel"],
    [
      "a backend without TLS",
      {
        channel: {
          proxy: { subscribe: { endpoint: "http://app:3000/subscribe" } },
          without_namespace: { allow_subscribe_for_client: true, subscribe_proxy_enabled: true },
        },
      },
      "channel",
    ],
    [
      "a stream proxy",
      { channel: { without_namespace: { subscribe_stream_proxy_enabled: true } } },
      "channel",
    ],
    ["an issuer's pattern", { client: { token: { issuer_regex: "(?P<a>x)" } } }, "client"],
  ])(
    "keeps %s that Dormouse refuses, because clients might be allowed more",
    (_, given, section) => {
      const { config, rows, todo } = checked(given);
      expect(config).toEqual(given);
      expect(rows.filter(({ outcome }) => outcome === "decide")).not.toEqual([]);
      expect(rows.every(({ key }) => key.startsWith(section))).toBe(true);
      expect(todo[0]).toContain("to be decided");
    },
  );

  it("says which secrets are missing or too short", () => {
    const { todo } = checked({ http_api: { key: "short" } });
    expect(todo).toEqual([
      "add the secret TOKEN_HMAC_SECRET_KEY, which the source doesn't have",
      "choose another one: secret API_KEY has fewer than 16 characters, and npm run deploy refuses it",
    ]);
  });
});

describe("[A8] environment variables", () => {
  it("of Centrifugo 6 are put over the file", () => {
    const document = withEnvironment(documentOf("config.yaml", version6), {
      CENTRIFUGO_CLIENT_ALLOWED_ORIGINS: "https://a.example.com https://b.example.com",
      CENTRIFUGO_CLIENT_TOKEN_HMAC_SECRET_KEY: "0123456789012345",
      CENTRIFUGO_CLIENT_PROXY_CONNECT_HTTP_HEADERS: "Cookie",
      CENTRIFUGO_CLIENT_PROXY_CONNECT_HTTP_STATIC_HEADERS: '{"X-From":"centrifugo"}',
      CENTRIFUGO_CLIENT_SUBSCRIBE_TO_USER_PERSONAL_CHANNEL_ENABLED: "true",
      CENTRIFUGO_CHANNEL_NAMESPACES_CHAT_HISTORY_SIZE: "7",
      CENTRIFUGO_CHANNEL_WITHOUT_NAMESPACE_JOIN_LEAVE: "True",
      CENTRIFUGO_SERVICE_HOST: "10.0.0.1",
      CENTRIFUGO_PORT: "tcp://10.0.0.1:8000",
      CENTRIFUGO_VAR_TOKEN: "hunter2",
      HOME: "/root",
    });
    expect(document).not.toHaveProperty("port");
    const { config, secrets } = checked(document);
    expect(secrets["TOKEN_HMAC_SECRET_KEY"]).toBe("0123456789012345");
    expect(config).toMatchObject({
      client: {
        allowed_origins: ["https://a.example.com", "https://b.example.com"],
        proxy: {
          connect: {
            http_headers: ["Cookie"],
            http: { static_headers: { "X-From": "centrifugo" } },
          },
        },
        subscribe_to_user_personal_channel: { enabled: true },
      },
      channel: {
        without_namespace: { join_leave: true },
        namespaces: [{ name: "chat", history_size: 7 }],
      },
    });
  });

  it("of Centrifugo 5 have flat names", () => {
    const document = withEnvironment(
      {},
      {
        CENTRIFUGO_TOKEN_HMAC_SECRET_KEY: "5-token-secret-of-many-characters",
        CENTRIFUGO_API_KEY: "5-api-key-of-many-characters",
        CENTRIFUGO_ALLOWED_ORIGINS: "https://app.example.com",
        CENTRIFUGO_NAMESPACES: '[{"name":"chat","presence":true}]',
        CENTRIFUGO_CHANNEL_REGEX: "^[a-z]+$",
        CENTRIFUGO_HISTORY_SIZE: "10",
        CENTRIFUGO_HISTORY_TTL: "5m",
        CENTRIFUGO_SSE: "true",
      },
    );
    const { config, todo } = checked(document);
    expect(config).toEqual({
      client: { allowed_origins: ["https://app.example.com"] },
      channel: {
        namespaces: [{ name: "chat", presence: true }],
        without_namespace: { channel_regex: "^[a-z]+$", history_size: 10, history_ttl: "5m" },
      },
      sse: { enabled: true },
    });
    expect(todo).toEqual([]);
  });
});

describe("the written files", () => {
  it("are wrangler's file with the configuration, and lines of secrets", () => {
    const template = { name: "x", main: "y", assets: { binding: "ASSETS" }, vars: { config: {} } };
    const paths = {
      name: "chat",
      main: "workers/edge.ts",
      assets: "public",
      schema: "schema.json",
    };
    const text = workerFile("migrate", template, { client: { channel_limit: 5 } }, paths);
    expect(documentOf("wrangler.jsonc", text)).toEqual({
      $schema: "schema.json",
      name: "chat",
      main: "workers/edge.ts",
      assets: { binding: "ASSETS", directory: "public" },
      vars: { config: { client: { channel_limit: 5 } } },
    });
    expect(secretsFile({ API_KEY: "a'b", TOKEN_HMAC_SECRET_KEY: "c" })).toBe(
      `API_KEY="a'b"\nTOKEN_HMAC_SECRET_KEY='c'\n`,
    );
    expect(secretsFile({ API_KEY: "a'b\"c`" })).toBeUndefined();
  });
});

/** A configuration with a presence map. */
const documentWith = (mode: string): string =>
  JSON.stringify({
    client: { token: { hmac_secret_key: "bbe7d157-a253-4094-9759-06a8236543f9" } },
    http_api: { key: "d7627bb6-2292-4911-82e1-615c0ed3eebb" },
    channel: {
      namespaces: [
        { name: "chat", map_clients_presence_channel_prefix: "clients:" },
        { name: "clients", subscription_type: "map_clients", map: { mode, key_ttl: "60s" } },
      ],
    },
  });

describe("presence maps", () => {
  it("keep their options, but for a mode with a stream", () => {
    for (const [mode, map] of [
      ["ephemeral", { mode: "ephemeral", key_ttl: "60s" }],
      ["recoverable", { key_ttl: "60s" }],
    ] as const) {
      const conversion = converted("config.json", documentWith(mode));
      expect(conversion.config["channel"]).toStrictEqual({
        namespaces: [
          { name: "chat", map_clients_presence_channel_prefix: "clients:" },
          { name: "clients", subscription_type: "map_clients", map },
        ],
      });
      expect(outcomes(conversion, "absent")).toEqual(
        mode === "ephemeral" ? [] : ["channel.namespaces[1].map.mode"],
      );
    }
  });
});
