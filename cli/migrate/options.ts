/**
 * The options of Centrifugo 6.9, with those of Centrifugo PRO that Dormouse knows by name, and the kind of each: a value
 * means what its option makes of it, wherever it stands (rule A21). Those that Dormouse has are its own rows. Sections of which
 * nothing is taken over have only their switches here.
 */
import type { Option as Row, Options as Rows } from "../../src/config/option.ts";
import { bucketOptions } from "../../src/config/rate-limit.ts";
import { httpOptions } from "../../src/features/hooks/backends.ts";
import { backendOptions, configuration } from "../../src/features/options.ts";
import { pollHookOptions } from "../../src/features/shared-polls/config.ts";

/** What a value of an option is. A map has texts by their names, and texts are a list of them. */
export type Kind = "boolean" | "whole" | "duration" | "text" | "texts" | "map";

export type Option =
  /** In a nested configuration file, zero or "" is the default of an option that has one. */
  | { readonly kind: Kind; readonly hasDefault: boolean }
  | Section
  /** A list of sections. */
  | { readonly kind: "sections"; readonly options: Options };

interface Section {
  readonly kind: "section";
  readonly options: Options;
}

/** The options of a section, by their names. */
export type Options = ReadonlyMap<string, Option>;

const kinds = ["boolean", "whole", "duration", "text", "texts", "map"] as const;

/**
 * Makes the options of a section.
 *
 * @param names of the options by their kinds, with blanks between them; a `*` follows one that has a default
 * @param below the sections in the section
 */
function options(
  names: Partial<Readonly<Record<Kind, string>>>,
  below: Readonly<Record<string, Option>> = {},
): Options {
  const values = kinds.flatMap((kind) =>
    (names[kind] ?? "")
      .split(/\s+/)
      .filter((name) => name !== "")
      .map((name): [string, Option] => [
        name.replace("*", ""),
        { kind, hasDefault: name.endsWith("*") },
      ]),
  );
  return new Map([...values, ...Object.entries(below)]);
}

function section(...given: Parameters<typeof options>): Section {
  return { kind: "section", options: options(...given) };
}

function sections(list: Options): Option {
  return { kind: "sections", options: list };
}

/** A section that is on or off, and of which nothing else is taken over. */
const switched = section({ boolean: "enabled" });

/** The rows of a section that Centrifugo has, too, by their kinds. */
function shared(rows: Rows): Options {
  const own = Object.entries(rows).filter(([, row]) => row.own !== true);
  return new Map(own.map(([name, row]) => [name, sharedOption(row)]));
}

function sharedOption(row: Row): Option {
  switch (row.is) {
    case "section":
      return { kind: "section", options: shared(row.of) };
    case "sections":
      return sections(shared(row.of));
    case "boolean":
    case "whole":
    case "duration":
    case "text":
    case "texts":
    case "map":
      return { kind: row.is, hasDefault: !withoutDefault.has(row) && hasDefault(row) };
    case "choice":
      return { kind: "text", hasDefault: false };
    case "filter":
      return { kind: "map", hasDefault: false };
  }
}

/** Whether a row's default isn't the zero of its kind. */
function hasDefault(row: Row): boolean {
  if (row.is !== "whole" && row.is !== "duration" && row.is !== "text") return false;
  return (row.default ?? 0) !== 0 && row.default !== "";
}

/** Rows with a default for which Centrifugo doesn't take zero. */
const withoutDefault: ReadonlySet<Row> = new Set<Row>([
  bucketOptions.rate,
  bucketOptions.interval,
  httpOptions.status_to_code_transforms.of.status_code,
  pollHookOptions.proxy_name,
]);

/** Options with others beside them, at all depths. */
function joined(one: Options, other: Options): Options {
  const all = new Map(one);
  for (const [name, option] of other) {
    const known = all.get(name);
    const areSections = known !== undefined && "options" in known && "options" in option;
    all.set(
      name,
      areSections ? { ...known, options: joined(known.options, option.options) } : option,
    );
  }
  return all;
}

/** The options of a backend that Dormouse refuses. */
const backend = section(
  { texts: "grpc_metadata" },
  {
    grpc: section({
      boolean: "compression",
      text: "credentials_key credentials_value",
      map: "static_metadata",
    }),
  },
);
const backends = (names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, backend]));
/** A backend of which Dormouse has nothing. */
const otherBackend: Option = {
  kind: "section",
  options: joined(shared(backendOptions), backend.options),
};

const token = section({
  boolean: "insecure_skip_jwks_endpoint_safety_check",
  text: "hmac_secret_key hmac_previous_secret_key",
});

const client = section(
  {
    boolean: "insecure_skip_token_signature_verify reply_without_queue",
    whole: "concurrency max_messages_in_frame",
    duration: `pong_timeout* presence_update_interval* channel_position_check_delay* channel_position_max_time_lag
      write_delay`,
    text: "user_id_http_header",
    texts: "allowed_delta_types",
  },
  {
    proxy: section({}, backends("connect refresh")),
    token,
    subscription_token: token,
    connect_code_to_unidirectional_disconnect: section(
      { boolean: "enabled" },
      {
        transforms: sections(
          options({ whole: "code" }, { to: section({ whole: "code", text: "reason" }) }),
        ),
      },
    ),
  },
);

const namespace = options(
  {
    boolean: `subscribe_stream_proxy_enabled subscribe_stream_proxy_bidirectional cache_empty_proxy_enabled
      state_proxy_enabled batch_flush_latest allow_channel_compaction keep_latest_publication shared_position_sync`,
    whole: "batch_max_size",
    duration: "batch_max_delay client_publish_debounce_interval",
    text: `subscribe_stream_proxy_name* cache_empty_proxy_name state_proxy_name subscribe_cel publish_cel presence_cel
      history_cel broker_name presence_manager_name`,
  },
  { map: section({ boolean: "ordered", text: "broker_name" }) },
);

const channel = section(
  {},
  {
    proxy: section(
      {},
      {
        ...backends("subscribe publish sub_refresh map_publish map_remove shared_poll_refresh"),
        subscribe_stream: otherBackend,
        cache_empty: otherBackend,
        state: otherBackend,
      },
    ),
    without_namespace: { kind: "section", options: namespace },
    namespaces: sections(namespace),
  },
);

const stream = { whole: "max_request_body_size*", text: "handler_prefix*" };
const uniStream = section(stream, {
  connect_code_to_http_response: section(
    { boolean: "enabled" },
    {
      transforms: sections(
        options({ whole: "code" }, { to: section({ whole: "status_code", text: "body" }) }),
      ),
    },
  ),
});

const websocket = {
  boolean: "compression use_write_buffer_pool",
  whole: `compression_min_size compression_level* read_buffer_size write_buffer_size message_size_limit*
    decompressed_message_size_limit`,
  duration: "write_timeout*",
  text: "handler_prefix*",
} as const;

const uniWebsocket = `${websocket.boolean} disable_closing_handshake disable_disconnect_push join_push_messages`;

const page = section({ boolean: "enabled", text: "handler_prefix*" });

/** Sections with a switch, from which nothing is taken over. */
const untaken = `grpc_api webtransport uni_grpc opentelemetry graphite clickhouse_analytics database
  distributed_rate_limit push_notifications sentry shared_poll_relay singleflight user_status user_block token_revoke
  user_tokens_invalidate broker presence_manager map_broker sockjs`.split(/\s+/);

/** Sections without a switch, from which nothing is taken over. */
const settings = "http_server log engine controller usage_stats node shutdown".split(" ");

/** A consumer of the table of an outbox, which `dormouse outbox` does here. */
const outbox = section(
  {
    boolean: "use_try_lock",
    whole: "num_partitions* partition_select_limit*",
    duration: "partition_poll_interval*",
    text: "dsn outbox_table_name partition_notification_channel",
  },
  {
    tls: section({
      boolean: "enabled insecure_skip_verify",
      text: "cert_pem key_pem server_ca_pem client_ca_pem server_name",
    }),
  },
);

/** The options of Centrifugo that Dormouse doesn't have. */
const refused = options(
  { boolean: "enable_unreleased_features", text: "pid_file" },
  {
    client,
    channel,
    rpc: section({}, { proxy: backend, ping: section({ text: "method*" }) }),
    proxies: sections(backend.options),
    shared_poll: section({
      whole: "concurrency_limit",
      text: "hmac_secret_key hmac_previous_secret_key",
    }),
    http_api: section(
      { boolean: "disabled external", text: "handler_prefix* key" },
      { jwks: switched },
    ),
    websocket: section({ ...websocket, boolean: `disabled ${websocket.boolean}` }),
    uni_websocket: section({ ...websocket, boolean: uniWebsocket }),
    sse: section(stream),
    http_stream: section(stream),
    uni_sse: uniStream,
    uni_http_stream: uniStream,
    emulation: section(stream),
    admin: section({
      boolean: "enabled insecure external",
      text: "handler_prefix password secret web_path web_proxy_address",
    }),
    prometheus: section({
      boolean: "instrument_http_handlers recovered_publications_histogram native_histograms",
      text: "handler_prefix*",
    }),
    swagger: section({ text: "handler_prefix*" }),
    health: page,
    debug: page,
    init: page,
    dev: switched,
    consumers: sections(options({}, { postgresql: outbox })),
    ...Object.fromEntries(untaken.map((name) => [name, switched])),
    ...Object.fromEntries(settings.map((name) => [name, section({})])),
  },
);

/** All options of Centrifugo, by their paths. */
export const centrifugoOptions: Options = joined(shared(configuration), refused);

/** The option at a path; undefined if Centrifugo has none there. */
export function optionAt(path: readonly (string | number)[]): Option | undefined {
  let found: Option | undefined = { kind: "section", options: centrifugoOptions };
  for (const key of path) {
    if (found === undefined) return undefined;
    if (typeof key === "number") {
      if (found.kind !== "sections") return undefined;
      found = { kind: "section", options: found.options };
    } else if (found.kind === "section") found = found.options.get(key);
    else return undefined;
  }
  return found;
}
