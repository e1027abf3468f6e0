import { describe, expect, it } from "vitest";
import { seriesOf } from "../../../../src/features/metrics/catalogue.ts";
import { Counts } from "../../../../src/features/metrics/counts.ts";

describe("counts", () => {
  it("[J2] are handed on once", () => {
    const counts = new Counts();
    const deliveries = counts.counter("dormouse_deliveries_total", { channel_namespace: "chat" });
    deliveries.value += 3;
    counts.add("dormouse_deliveries_total", { channel_namespace: "chat" }, 2);
    counts.add("centrifugo_client_connections_accepted");
    expect(counts.any).toBe(true);
    expect(counts.drain().counters).toStrictEqual([
      { series: 'dormouse_deliveries_total{channel_namespace="chat"}', added: 5 },
      { series: "centrifugo_client_connections_accepted", added: 1 },
    ]);
    expect(counts.any).toBe(false);
    expect(counts.drain()).toStrictEqual({ counters: [], histograms: [] });
    deliveries.value++;
    expect(counts.drain().counters).toMatchObject([{ added: 1 }]);
  });

  it("puts each observed time into its bucket", () => {
    const counts = new Counts();
    const name = "centrifugo_api_command_duration_seconds_histogram";
    for (const seconds of [0.005, 0.006, 11]) counts.observe(name, seconds, { method: "publish" });
    expect(counts.drain().histograms).toStrictEqual([
      {
        series: `${name}{method="publish"}`,
        sum: 0.005 + 0.006 + 11,
        counts: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      },
    ]);
    expect(counts.any).toBe(false);
  });

  it("[J7] take what another object has counted, but no buckets of another release", () => {
    const [own, other] = [new Counts(), new Counts()];
    const name = "dormouse_fan_out_seconds";
    own.observe(name, 1);
    other.observe(name, 1);
    other.add("dormouse_deliveries_total", {}, 2);
    own.merge(other.drain());
    own.merge({ counters: [], histograms: [{ series: name, sum: 9, counts: [9] }] });
    const { counters, histograms } = own.drain();
    expect(counters).toStrictEqual([{ series: "dormouse_deliveries_total", added: 2 }]);
    expect(histograms).toMatchObject([{ series: name, sum: 2 }]);
    expect(other.any).toBe(false);
  });
});

describe("a series", () => {
  it("[J4] escapes the values of its labels", () => {
    expect(seriesOf("dormouse_deliveries_total", { channel_namespace: 'a"b\\c\nd' })).toBe(
      String.raw`dormouse_deliveries_total{channel_namespace="a\"b\\c\nd"}`,
    );
  });
});
