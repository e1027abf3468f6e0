import type { ChannelCounts } from "../../channel/channel-outcomes.ts";
import type { MapCounts } from "../maps/map-outcomes.ts";
import type { Counts } from "./counts.ts";

/**
 * Counts one channel's publications with those of all channels of its namespace (docs/metrics.md).
 *
 * @param namespace of the channel; "" for none
 */
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
    ofMap: () => mapCounts(counts, labels),
  };
}

function mapCounts(counts: Counts, labels: { readonly channel_namespace: string }): MapCounts {
  const change = (kind: string) =>
    counts.counter("dormouse_map_changes_total", { kind, ...labels });
  const changes = {
    map_publish: change("publish"),
    map_remove: change("remove"),
    map_append: change("append"),
  };
  const windows = counts.counter("dormouse_map_append_windows_total", labels);
  const ends = counts.counter("centrifugo_map_broker_cleanup_removed_count", labels);
  return {
    changed: (method) => void changes[method].value++,
    suppressed: (method, reason) => counts.add(suppressions[method], { reason, ...labels }),
    ended: () => void ends.value++,
    windowEnded: () => void windows.value++,
  };
}

const suppressions = {
  map_publish: "centrifugo_map_broker_publish_suppressed_count",
  map_remove: "centrifugo_map_broker_remove_suppressed_count",
  map_append: "dormouse_map_append_suppressed_total",
} as const;
