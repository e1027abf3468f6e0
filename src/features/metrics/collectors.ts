import { hashOf } from "../../contract/object-names.ts";
import { metricsLimits } from "./limits.ts";
import type { GaugeValue, NodeGauges } from "./metrics-report.ts";

/**
 * The name of the object that collects what an object counts: one of `limits.metricsCollectors`. Counts that go to
 * different objects are added up when they are read, so this function may change.
 */
export function collectorOf(node: string): string {
  return collectorName(hashOf(node) % metricsLimits.metricsCollectors);
}

/** The name of a collecting object by its number. */
export function collectorName(number: number): string {
  return String(number);
}

/** The gauges of objects whose counts came with their answers, until an isolate or a gateway reports them (rule J8). */
export class CarriedGauges {
  readonly #nodes = new Map<string, readonly GaugeValue[]>();

  /** Whether there is room for those of another object. */
  get hasRoom(): boolean {
    return this.#nodes.size < metricsLimits.metricsCarriedMax;
  }

  /** Takes the gauges of an object, in place of earlier ones. */
  replace(node: string, gauges: readonly GaugeValue[]): void {
    this.#nodes.set(node, gauges);
  }

  /** All of them, by the name of the object that collects them; there are none afterwards. */
  drain(): ReadonlyMap<string, readonly NodeGauges[]> {
    const byCollector = new Map<string, NodeGauges[]>();
    for (const [node, gauges] of this.#nodes) {
      const collector = collectorOf(node);
      const others = byCollector.get(collector) ?? [];
      others.push({ node, gauges });
      byCollector.set(collector, others);
    }
    this.#nodes.clear();
    return byCollector;
  }
}
