import { describe, expect, it } from "vitest";
import { type Conversion, convert } from "../../../cli/migrate/conversion.ts";
import { withEnvironment } from "../../../cli/migrate/environment.ts";
import { parsePath, Tree } from "../../../cli/migrate/tree.ts";
import { parseFile } from "../../../cli/configuration/document.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/wire-value.ts";

function converted(document: JsonObject): Conversion {
  return convert(document, () => "a-fresh-secret-of-the-conversion");
}

function ofFile(name: string, text: string): Conversion {
  const parsed = parseFile(name, text);
  if (parsed.outcome === "bad") throw new Error(parsed.problem);
  return converted(parsed.document);
}

function rowOf({ rows }: Conversion, key: string) {
  return rows.find((row) => row.key === key);
}

describe("[A21] a value in another type", () => {
  // Another test reads every spelling of every kind of option, from each kind of source.
  it("is read whatever the case of its name, and one namespace is a list of one", () => {
    const { config, rows } = ofFile(
      "config.yaml",
      `
Client: { token: { Audience: 42 } }
channel: { namespaces: { name: 77, join_leave: "T", history_size: "10", history_ttl: 60000000000 } }
user_status: { enabled: "1" }
`,
    );
    expect(rows.filter(({ outcome }) => outcome !== "kept")).toEqual([]);
    expect(config).toEqual({
      client: { token: { audience: "42" }, users: { status: { enabled: true } } },
      channel: {
        namespaces: [{ name: "77", join_leave: true, history_size: 10, history_ttl: "60s" }],
      },
    });
  });

  it("is the default if there is none", () => {
    const conversion = converted({ client: { user_connection_limit: null } });
    expect(conversion.config).toEqual({});
    expect(rowOf(conversion, "client.user_connection_limit")?.reason).toBe("has no value");
  });
});

describe("[A21] a value", () => {
  it("of zero or nothing in a nested file is the default of an option that has one", () => {
    const conversion = converted({
      client: { channel_limit: 0, stale_close_delay: "0s", connection_limit: 0 },
      channel: { private_prefix: "", max_length: "" },
    });
    expect(conversion.config).toEqual({ client: { connection_limit: 0 } });
    expect(rowOf(conversion, "channel.private_prefix")).toMatchObject({
      outcome: "platform",
      reason: "is empty or zero, which stands for the default of Centrifugo",
    });
    const flat = converted({ channel_private_prefix: "" });
    expect(flat.config).toEqual({ channel: { private_prefix: "" } });
  });

  it("of an empty variable leaves that of the file", () => {
    const file = { client: { channel_limit: 5 } };
    expect(withEnvironment(file, { CENTRIFUGO_CLIENT_CHANNEL_LIMIT: "" })).toEqual(file);
  });

  it("of a list in a flat file is words with blanks between them", () => {
    const allowed_origins = "https://a.example.com https://b.example.com";
    expect(converted({ allowed_origins }).config).toEqual({
      client: { allowed_origins: ["https://a.example.com", "https://b.example.com"] },
    });
    expect(
      rowOf(converted({ client: { allowed_origins } }), "client.allowed_origins"),
    ).toMatchObject({
      outcome: "decide",
    });
  });

  it("with its path as its name is in the section, outside of lists", () => {
    const conversion = converted({
      "Client.channel_limit": "5",
      client: { "proxy.connect.timeout": "2s" },
      channel: { namespaces: [{ name: "chat", "map.mode": "x" }] },
    });
    expect(conversion.config).toEqual({
      client: { channel_limit: 5, proxy: { connect: { timeout: "2s" } } },
      channel: { namespaces: [{ name: "chat" }] },
    });
    expect(conversion.rows).toContainEqual({
      key: "channel.namespaces[0].map.mode",
      outcome: "absent",
      becomes: "",
      reason: "is unknown",
    });
  });

  it("with a name of any characters is unknown, and takes nothing else with it", () => {
    const names = ["a b", "[0]", "x]", "ä", ""];
    const document = {
      client: { ...Object.fromEntries(names.map((name) => [name, 1])), channel_limit: 5 },
    };
    const { config, rows } = converted(document);
    expect(config).toEqual({ client: { channel_limit: 5 } });
    expect(rows.filter(({ reason }) => reason === "is unknown").length).toBe(names.length);
  });
});

describe("[A21] a variable", () => {
  const file = { channel: { namespaces: [{ name: "my-service", presence: true }] } };

  it("with names of namespaces adds them, and with JSON takes the place of the file's", () => {
    const added = withEnvironment(file, {
      CENTRIFUGO_CHANNEL_NAMESPACES: "chat news",
      CENTRIFUGO_CHANNEL_NAMESPACES_MY_SERVICE_HISTORY_SIZE: "3",
      CENTRIFUGO_CHANNEL_NAMESPACES_NEWS_HISTORY_TTL: "5m",
    });
    expect(added).toEqual({
      channel: {
        namespaces: [
          { name: "my-service", presence: true, history_size: 3 },
          { name: "chat" },
          { name: "news", history_ttl: "5m" },
        ],
      },
    });
    const replaced = withEnvironment(file, {
      CENTRIFUGO_CHANNEL_NAMESPACES:
        '[{"name":"chat","presence":"T","history_size":"3","history_ttl":60000000000}]',
    });
    expect(converted(replaced).config).toEqual({
      channel: {
        namespaces: [{ name: "chat", presence: true, history_size: 3, history_ttl: "60s" }],
      },
    });
  });

  it("of Kubernetes is none of Centrifugo, unless it is the name of an option", () => {
    const document = withEnvironment(
      {},
      {
        CENTRIFUGO_SERVICE_HOST: "10.0.0.1",
        CENTRIFUGO_API_SERVICE_PORT_HTTP: "8000",
        CENTRIFUGO_PORT_8000_TCP_ADDR: "10.0.0.1",
        CENTRIFUGO_PORT: "tcp://10.0.0.1:8000",
        CENTRIFUGO_VAR_TOKEN: "hunter2",
      },
    );
    expect(document).toEqual({});
    expect(withEnvironment({}, { CENTRIFUGO_PORT: "8000" })).toEqual({ port: "8000" });
  });
});

describe("[A21] a restriction", () => {
  const restrictions = [
    "client.disallow_anonymous_connection_tokens",
    "client.user_connection_limit",
    "client.connection_limit",
    "client.connection_rate_limit",
    "client.channel_limit",
    "client.history_max_publication_limit",
    "client.recovery_max_publication_limit",
    "client.queue_max_size",
    "client.stale_close_delay",
    "client.expired_close_delay",
    "client.expired_sub_close_delay",
    "client.rate_limit.client_command.total.enabled",
    "client.rate_limit.client_command.publish.buckets[0].rate",
    "client.subscribe_to_user_personal_channel.single_connection",
    "client.token.audience",
    "client.token.issuer_regex",
    "client.token.hmac_previous_secret_key_valid_until",
    "client.token.jwks_public_endpoint",
    "client.token.user_id_claim",
    "client.subscription_token.enabled",
    "client.proxy.connect.enabled",
    "client.proxy.connect.endpoint",
    "client.proxy.refresh.enabled",
    "channel.max_length",
    "channel.private_prefix",
    "channel.namespace_boundary",
    "channel.user_boundary",
    "channel.user_separator",
    "channel.proxy.subscribe.endpoint",
    "channel.without_namespace.channel_regex",
    "channel.without_namespace.publication_data_format",
    "channel.without_namespace.subscribe_proxy_enabled",
    "channel.without_namespace.publish_proxy_name",
    "channel.namespaces[0].channel_regex",
    "channel.namespaces[0].publication_data_format",
    "channel.namespaces[0].subscribe_proxy_enabled",
    "channel.namespaces[0].sub_refresh_proxy_name",
    "channel.namespaces[0].map.client_key",
    "channel.namespaces[0].shared_poll.max_keys_per_connection",
    "http_api.disabled",
    "websocket.disabled",
  ];
  const unreadable: readonly JsonValue[] = ["(surely?", -1, [["a"]], { a: [] }, true, "9e99"];

  it.each(restrictions)("%s is kept or to be decided, whatever its value", (place) => {
    for (const value of unreadable) {
      const tree = new Tree({ channel: { namespaces: [{ name: "chat" }] } });
      tree.set(parsePath(place), value);
      const { rows, config } = converted(tree.root);
      const about = rows.filter(({ outcome, key }) => outcome === "absent" && key !== "");
      expect([value, about]).toEqual([value, []]);
      const isDecided = rows.every(({ outcome }) => outcome !== "decide");
      expect(parseConfig(config).outcome).toBe(isDecided ? "config" : "bad");
    }
  });

  it("isn't dropped with a section that lacks something else", () => {
    const channel = { namespaces: [{ presence: true, channel_regex: "^a" }] };
    const conversion = converted({ channel });
    expect(conversion.config).toEqual({ channel });
    expect(conversion.rows.map(({ outcome }) => outcome)).toContain("decide");
  });
});

describe("[A21] a secret that is a number", () => {
  it("becomes its digits", () => {
    const files = [
      ["config.json", '{"http_api":{"key":1234567890123456}}'],
      ["config.yaml", "http_api: { key: 1234567890123456 }"],
      ["config.yaml", "HTTP_API: { Key: 1234567890123456 }"],
      ["config.yaml", "api_key: 1234567890123456"],
    ] as const;
    for (const [name, text] of files) {
      const { secrets, rows } = ofFile(name, text);
      expect(secrets).toEqual({ API_KEY: "1234567890123456" });
      expect(rows.map(({ outcome }) => outcome)).toEqual(["secret"]);
    }
  });

  it("has a row also if its digits are lost", () => {
    for (const text of ["12345678901234567890", "1.5e300", "[1]"]) {
      const conversion = ofFile("config.json", `{"http_api":{"key":${text}}}`);
      expect(conversion.secrets).toEqual({});
      expect(rowOf(conversion, "http_api.key")?.reason).toContain("write it in quotes");
      expect(JSON.stringify(conversion)).not.toContain(text);
    }
  });
});
