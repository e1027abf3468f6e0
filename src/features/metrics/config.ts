import { readOptions } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import { not, pro, type UnsupportedKeys } from "../../config/unsupported.ts";

declare module "../../config/config.ts" {
  interface Config {
    readonly prometheus: PrometheusConfig;
  }
}

/** The section `prometheus`: metrics. */
interface PrometheusConfig {
  /** `/metrics` is served. */
  readonly enabled: boolean;
  /** Objects count: `/metrics` is served, or the console is, which shows the counts. */
  readonly counts: boolean;
}

/** `prometheus.*`. */
export const prometheusOptions = {
  /**
   * Objects count, and `/metrics` shows what they have counted ([metrics.md](metrics.md)); needs the binding `METRICS`.
   *
   * @differs `/metrics`, with the names of [metrics.md](metrics.md)
   */
  enabled: { is: "boolean" },
} as const satisfies Options;

/**
 * Reads `prometheus`: metrics (docs/protocol.md 8).
 *
 * @param section receives the problems
 * @param isShown whether something else shows what is counted
 */
export function readPrometheus(section: Section, isShown: boolean): PrometheusConfig {
  const { enabled } = readOptions(section, prometheusOptions);
  section.refuseOthers(unsupportedPrometheusKeys);
  return { enabled, counts: enabled || isShown };
}

export const unsupportedPrometheusKeys: UnsupportedKeys = {
  handler_prefix: { ...not, accepted: ["/metrics"] },
  instrument_http_handlers: { ...not, accepted: [true], because: "requests are always counted" },
  recovered_publications_histogram: not,
  native_histograms: not,
  additional_client_names: pro,
  channel_namespace_resolution: pro,
  expose_transport_accept_protocol: pro,
  client_labels: pro,
};
