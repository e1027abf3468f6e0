import type { Counter, Counts } from "../metrics/counts.ts";

/** Where one channel's publications are counted, with those of all channels of its namespace (docs/metrics.md). */
export interface ChannelCounts {
  readonly published: Counter;
  /** Suppressed by an idempotency key. */
  readonly repeated: Counter;
  /** Suppressed by a version. */
  readonly outdated: Counter;
  readonly deliveries: Counter;
  readonly gatewayChanges: Counter;
}

/** @param namespace of the channel; "" for none */
export function channelCounts(counts: Counts, namespace: string): ChannelCounts {
  const labels = { channel_namespace: namespace };
  const suppressed = (reason: string) =>
    counts.counter("centrifugo_broker_publish_suppressed_count", { reason, ...labels });
  return {
    published: counts.counter("centrifugo_node_messages_sent_count", {
      type: "publication",
      ...labels,
    }),
    repeated: suppressed("idempotency"),
    outdated: suppressed("version"),
    deliveries: counts.counter("dormouse_deliveries_total", labels),
    gatewayChanges: counts.counter("dormouse_gateway_changes_total", labels),
  };
}
