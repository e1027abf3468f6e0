import type { MapChange, MapSuppression } from "../../contract/map-call.ts";
import type { Counter, Counts } from "./counts.ts";

/** Where one channel's publications are counted, with those of all channels of its namespace (docs/metrics.md). */
export interface ChannelCounts {
  readonly published: Counter;
  /** Suppressed by an idempotency key. */
  readonly repeated: Counter;
  /** Suppressed by a version. */
  readonly outdated: Counter;
  readonly deliveries: Counter;
  readonly gatewayChanges: Counter;
  /** What is counted beside that if the channel is a map. */
  ofMap(): MapCounts;
}

/** Counts the changes of a map, with those of all maps of its namespace. */
export interface MapCounts {
  /** A key was set or removed. */
  changed(method: MapChange["method"]): void;
  /** A change did nothing. */
  suppressed(method: MapChange["method"], reason: MapSuppression): void;
  /** A key has ended. */
  ended(): void;
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
    ofMap: () => mapCounts(counts, labels),
  };
}

function mapCounts(counts: Counts, labels: { readonly channel_namespace: string }): MapCounts {
  const change = (kind: string) =>
    counts.counter("dormouse_map_changes_total", { kind, ...labels });
  const changes = { map_publish: change("publish"), map_remove: change("remove") };
  const ends = counts.counter("centrifugo_map_broker_cleanup_removed_count", labels);
  return {
    changed: (method) => void changes[method].value++,
    suppressed: (method, reason) => counts.add(suppressions[method], { reason, ...labels }),
    ended: () => void ends.value++,
  };
}

const suppressions = {
  map_publish: "centrifugo_map_broker_publish_suppressed_count",
  map_remove: "centrifugo_map_broker_remove_suppressed_count",
} as const;
