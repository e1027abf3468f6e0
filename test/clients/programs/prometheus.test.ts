import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buckets,
  type Labels,
  type Metric,
  type MetricName,
  metrics,
  seriesOf,
} from "../../../src/features/metrics/catalogue.ts";
import { exposition, expositionType } from "../../../src/features/metrics/exposition.ts";
import type { CollectedMetrics } from "../../../src/features/metrics/metrics-report.ts";
import { Prometheus } from "../../support/environments/prometheus.ts";
import { listen } from "../../support/servers/listen.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";

/** A second of it stands for a minute of the files: nobody waits for a quarter of an hour. */
const rules = readFileSync("docs/prometheus-alerts.yaml", "utf8").replaceAll(/\b(\d+)m\b/g, "$1s");
const dashboard: Dashboard = JSON.parse(readFileSync("docs/grafana-dashboard.json", "utf8"));
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name = ""]) => name);
const metricsKey = "0123456789abcdef0123456789abcdef";
const program = await Prometheus.install();

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

/** What each alert watches, with what is added each second in an hour of trouble. */
const troubles: readonly [name: MetricName, labels: Labels, added: number][] = [
  ["centrifugo_api_command_errors_total", { method: "publish", error: "503" }, 5],
  ["centrifugo_api_command_errors_total", { method: "publish", error: "107" }, 5],
  ["centrifugo_proxy_errors", { type: "connect", name: "" }, 5],
  ["centrifugo_client_num_server_disconnects", { code: "3500" }, 5],
  ["centrifugo_client_recover", { recovered: "no", channel_namespace: "" }, 5],
];

/** What a server counted that has been up for some seconds: every metric grows, and in trouble what alerts watch. */
class GrowingMetrics {
  isInTrouble = false;
  readonly #counted = new Map<string, number>();
  readonly #slow = { quick: 0, slow: 0 };
  #clients = 100;

  /** A second passes. */
  next(): CollectedMetrics {
    const gauges: { series: string; value: number }[] = [];
    const histograms: { series: string; sum: number; counts: number[] }[] = [];
    this.#slow[this.isInTrouble ? "slow" : "quick"] += 10;
    if (this.isInTrouble) this.#clients = 10;
    for (const [name, metric] of Object.entries<Metric>(metrics)) {
      if (metric.type === "gauge") gauges.push({ series: name, value: this.#clients });
      else if (metric.type === "counter") this.#add(name, 0.01);
      else {
        const ends = buckets[metric.buckets ?? "requests"];
        const counts = [...ends, 0].map(() => 0);
        counts[0] = this.#slow.quick;
        counts[ends.length] = this.#slow.slow;
        histograms.push({ series: name, sum: this.#slow.quick + this.#slow.slow, counts });
      }
    }
    for (const [name, labels, added] of troubles)
      this.#add(seriesOf(name, labels), this.isInTrouble ? added : 0);
    // A rate without recoveries is no number.
    this.#add(
      seriesOf("centrifugo_client_recover", { recovered: "yes", channel_namespace: "" }),
      5,
    );
    const counters = Array.from(this.#counted, ([series, added]) => ({ series, added }));
    return { counters, gauges, histograms };
  }

  #add(series: string, added: number): void {
    this.#counted.set(series, (this.#counted.get(series) ?? 0) + added);
  }
}

describe.runIf(program !== undefined)("Debian's Prometheus", () => {
  const growing = new GrowingMetrics();
  const source = createServer((_, response) => {
    response.setHeader("Content-Type", expositionType);
    response.end(exposition([growing.next()]));
  });
  let server: TestServer;
  let prometheus: Prometheus;

  beforeAll(async () => {
    server = await TestServer.start({
      config: { prometheus: { enabled: true } },
      secrets: { ...testSecrets, METRICS_KEY: metricsKey },
    });
    const targets = {
      server: { host: new URL(server.address).host, bearer: metricsKey },
      growing: { host: `127.0.0.1:${await listen(source)}` },
    };
    prometheus = await Prometheus.start(program ?? "", targets, rules);
  });
  afterAll(async () => {
    await prometheus.stop();
    await server.close();
    source.close();
  });

  it("stores the metrics of a server under the names of the catalogue", async () => {
    await server.backend.publish("news", "hello");
    const published = 'centrifugo_node_messages_sent_count{job="server"}';
    await expect.poll(() => prometheus.query(published)).not.toEqual([]);
    const found = await prometheus.query('{job="server", __name__=~"(centrifugo|dormouse)_.*"}');
    const names = found.map(({ metric }) => (metric["__name__"] ?? "").replace(/_bucket$/, ""));
    const known = Object.entries<Metric>(metrics).flatMap(([name, { type }]) =>
      type === "histogram" ? [name, `${name}_sum`, `${name}_count`] : [name],
    );
    expect(known).toEqual(expect.arrayContaining([...new Set(names)]));
  });

  it.each(queries)("finds series for the dashboard's query %s", async (query) => {
    const expression = query.replaceAll("$__rate_interval", "5s");
    await expect.poll(() => prometheus.query(expression)).not.toEqual([]);
  });

  it("fires no alert at rest, each alert in trouble, and one when there is nothing to scrape", async () => {
    // After so many scrapes the slowest of the alerts would fire.
    const longRest = "count_over_time(centrifugo_node_build{job='growing'}[1h]) > 40";
    await expect.poll(() => prometheus.query(longRest), { timeout: 120_000 }).not.toEqual([]);
    expect(await prometheus.firing()).toEqual([]);
    growing.isInTrouble = true;
    const fired = new Set<string>();
    const fire = async (): Promise<string[]> => {
      for (const name of await prometheus.firing()) fired.add(name);
      return [...fired].toSorted();
    };
    const unreachable = "DormouseUnreachable";
    const others = alerts.filter((name) => name !== unreachable);
    await expect.poll(fire, { timeout: 120_000 }).toEqual(others.toSorted());
    source.closeAllConnections();
    source.close();
    await server.close();
    await expect.poll(fire, { timeout: 120_000 }).toContain(unreachable);
  }, 400_000);
});
