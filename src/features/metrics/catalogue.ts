/**
 * All metrics: their names, types, labels and buckets (docs/metrics.md). A name that begins with `centrifugo_` means what
 * it means in Centrifugo; what only Dormouse has begins with `dormouse_`. A label's values come from the configuration
 * or from the code, never from a client, so that nobody outside can make series.
 */
export const metrics = {
  centrifugo_api_command_duration_seconds_histogram: {
    type: "histogram",
    help: "Time from a command of the HTTP API to its answer, at the edge.",
    buckets: "requests",
  },
  centrifugo_api_command_errors_total: {
    type: "counter",
    help: "Commands of the HTTP API that were answered with an error.",
  },
  centrifugo_broker_publish_suppressed_count: {
    type: "counter",
    help: "Publications that an idempotency key or a version suppressed.",
  },
  centrifugo_client_connections_accepted: {
    type: "counter",
    help: "Connects that were accepted.",
  },
  centrifugo_client_num_reply_errors: {
    type: "counter",
    help: "Commands of clients that were answered with an error.",
  },
  centrifugo_client_num_server_disconnects: {
    type: "counter",
    help: "Connections that the server closed.",
  },
  centrifugo_client_num_server_unsubscribes: {
    type: "counter",
    help: "Subscriptions that the server ended.",
  },
  centrifugo_client_recover: {
    type: "counter",
    help: "Subscribes that asked to recover.",
  },
  centrifugo_client_recovered_publications: {
    type: "counter",
    help: "Publications that recoveries brought.",
  },
  centrifugo_client_subscriptions_accepted: {
    type: "counter",
    help: "Subscriptions that have begun.",
  },
  centrifugo_map_broker_cleanup_removed_count: {
    type: "counter",
    help: "Keys of maps that have ended.",
  },
  centrifugo_map_broker_publish_suppressed_count: {
    type: "counter",
    help: "Publishes to maps that changed nothing.",
  },
  centrifugo_map_broker_remove_suppressed_count: {
    type: "counter",
    help: "Removals of keys that changed nothing.",
  },
  centrifugo_node_build: {
    type: "gauge",
    help: "1, with the version that answers as a label.",
  },
  centrifugo_node_incoming_http_requests_total: {
    type: "counter",
    help: "Requests to the edge, upgrades included.",
  },
  centrifugo_node_messages_sent_count: {
    type: "counter",
    help: "Publications that channels have accepted.",
  },
  centrifugo_node_num_channels: {
    type: "gauge",
    help: "Channels with subscribers, each counted on every object that has some.",
  },
  centrifugo_node_num_clients: {
    type: "gauge",
    help: "Connections whose connect was accepted.",
  },
  centrifugo_node_num_subscriptions: {
    type: "gauge",
    help: "Subscriptions.",
  },
  centrifugo_proxy_duration_seconds_histogram: {
    type: "histogram",
    help: "Time from a question to a backend to its answer.",
    buckets: "requests",
  },
  centrifugo_proxy_errors: {
    type: "counter",
    help: "Questions to backends without an answer, or with the status 429 or 5xx.",
  },
  dormouse_client_commands_total: {
    type: "counter",
    help: "Commands of clients.",
  },
  dormouse_client_connections_ended_total: {
    type: "counter",
    help: "Connections that have ended, from whichever side.",
  },
  dormouse_deliveries_total: {
    type: "counter",
    help: "Publications that were sent to subscribers, each subscriber counted.",
  },
  dormouse_fan_out_seconds: {
    type: "histogram",
    help: "Time for which an object sent frames in slices, without a pause.",
    buckets: "fanOut",
  },
  dormouse_gateway_changes_total: {
    type: "counter",
    help: "Gateways that began or ceased to follow a channel.",
  },
  dormouse_map_append_suppressed_total: {
    type: "counter",
    help: "Appends to values of maps that appended nothing.",
  },
  dormouse_map_append_windows_total: {
    type: "counter",
    help: "Changes of maps that made appended text durable.",
  },
  dormouse_map_changes_total: {
    type: "counter",
    help: "Keys of maps that were set, removed or appended to.",
  },
  dormouse_map_pages_total: {
    type: "counter",
    help: "Pages of maps that were sent to clients.",
  },
  dormouse_map_synchronisations_total: {
    type: "counter",
    help: "Synchronisations of clients with maps, by what came of them.",
  },
  dormouse_object_alarms_total: {
    type: "counter",
    help: "Alarms that rang.",
  },
  dormouse_object_awake_seconds_total: {
    type: "counter",
    help: "Time for which objects were awake, up to their last report.",
  },
  dormouse_object_calls_total: {
    type: "counter",
    help: "Calls that objects made to other objects and to backends.",
  },
  dormouse_object_rows_written_total: {
    type: "counter",
    help: "Rows that objects have written.",
  },
  dormouse_object_starts_total: {
    type: "counter",
    help: "Objects that started or woke.",
  },
  dormouse_procedure_calls_total: {
    type: "counter",
    help: "Calls of the code of channels, by what came of them.",
  },
  dormouse_procedure_slow_total: {
    type: "counter",
    help: "Calls of the code of channels that held the thread for long.",
  },
  dormouse_refusals_total: {
    type: "counter",
    help: "What was refused, by the rule in src/SPEC.md.",
  },
} as const satisfies Record<string, Metric>;

/** The name of a metric. */
export type MetricName = keyof typeof metrics;

/** A metric. */
export interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  /** What it counts, as Prometheus shows it. */
  readonly help: string;
  /** The buckets of a histogram. */
  readonly buckets?: keyof typeof buckets;
}

/** The upper ends of buckets, in seconds. */
export const buckets = {
  requests: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  fanOut: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
} as const;

/** The names of all histograms. */
export type HistogramName = {
  readonly [Name in MetricName]: (typeof metrics)[Name]["type"] extends "histogram" ? Name : never;
}[MetricName];

/** The names of all counters. */
export type CounterName = {
  readonly [Name in MetricName]: (typeof metrics)[Name]["type"] extends "counter" ? Name : never;
}[MetricName];

/** The metric of a name, which may come from another release; undefined if this one doesn't know it. */
export function metricNamed(name: string): Metric | undefined {
  const all: Readonly<Record<string, Metric>> = metrics;
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** The labels of a series, by their names. */
export type Labels = Readonly<Record<string, string | number>>;

/** A series as Prometheus writes it: the metric's name and its labels. */
export function seriesOf(name: MetricName, labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(
    ([label, value]) => `${label}="${escaped(String(value))}"`,
  );
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
