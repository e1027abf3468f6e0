import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { CarriedReport } from "../../../src/contract/channel-call.ts";
import type { MetricsReport } from "../../../src/features/metrics/metrics-report.ts";
import { channelNode } from "../../../src/contract/object-names.ts";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import { MetricsObject } from "../../../workers/edge.ts";
import { address, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { token } from "../support/sign-token.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";

configure({ ...testConfig, prometheus: { enabled: true } });
// The same in shorter times: test/core/features/metrics holds the reports to their real ones.
Object.assign(metricsLimits, { metricsReportMs: 200, metricsCollectMs: 50, metricsStoreMs: 200 });

/** The reports that were made meanwhile, until all timers of reports have rung. */
async function reportsOf(happens: () => Promise<void>): Promise<readonly MetricsReport[]> {
  await new Promise((resolve) => setTimeout(resolve, metricsLimits.metricsReportMs * 2));
  const report = vi.spyOn(MetricsObject.prototype, "report");
  await happens();
  await new Promise((resolve) => setTimeout(resolve, metricsLimits.metricsReportMs * 3));
  const made = report.mock.calls.map(([one]) => one);
  report.mockRestore();
  return made;
}

function publications(reports: readonly Pick<MetricsReport, "counters">[]): number {
  const all = reports.flatMap(({ counters }) => counters);
  return all
    .filter(({ series }) => series.startsWith("centrifugo_node_messages_sent_count"))
    .reduce((sum, { added }) => sum + added, 0);
}

const own = (reports: readonly MetricsReport[], channel: string) =>
  reports.filter(({ node }) => node === channelNode(channel));

describe("what a channel's object has counted", () => {
  it("[J7] goes with its answers to the edge, so it makes no call and has no timer, awake or not", async () => {
    const channels = Array.from({ length: 8 }, () => newChannel("room"));
    const startMs = Date.now();
    const made = await reportsOf(async () => {
      for (const sleeps of [false, true])
        for (const channel of channels) {
          if (sleeps) await hibernate(env.CHANNELS.getByName(channel));
          await publish(channel, 1);
        }
    });
    for (const channel of channels) expect(own(made, channel)).toStrictEqual([]);
    expect(publications(made)).toBe(channels.length * 2);
    // Without that, each of the 16 wakings would have made a report of its own, beside those that the edge makes anyway.
    const reportsOfEdge = (Date.now() - startMs) / metricsLimits.metricsReportMs;
    expect(made.length).toBeLessThan(channels.length + reportsOfEdge);
  });

  it("[J7] [J8] goes with its answers to a gateway, which says itself that the channel has subscribers", async () => {
    const channel = newChannel("room");
    const socket = await atGateway("ada");
    const made = await reportsOf(async () => {
      await socket.ask({ id: 2, subscribe: { channel } });
      for (let id = 3; id < 6; id++) socket.send({ id, publish: { channel, data: id } });
      for (let line = ""; !line.includes('"id":5,');) line = await socket.line();
    });
    expect(own(made, channel)).toStrictEqual([]);
    expect(publications(made)).toBe(3);
    const carried = made.flatMap((one) => one.carried ?? []);
    expect(carried).toContainEqual({ node: channelNode(channel), gauges: [] });
    const gateways = made.filter(({ node }) => node.startsWith("gateway:"));
    expect(gateways.at(-1)?.gauges).toContainEqual({
      series: "centrifugo_node_num_channels",
      value: 1,
    });
    socket.close();
  });

  it("[J2] leaves the deliveries to the gateway, which reports them without any other event", async () => {
    const channel = newChannel("room");
    const socket = await atGateway("ada");
    await socket.ask({ id: 2, subscribe: { channel } });
    const made = await reportsOf(() => publish(channel, 1).then(() => undefined));
    const delivered = made
      .filter(({ node }) => node.startsWith("gateway:"))
      .flatMap(({ counters }) => counters)
      .find(({ series }) => series.startsWith("dormouse_deliveries_total"));
    expect(delivered?.added).toBe(1);
    socket.close();
  });

  it("[J7] is reported by the object itself where it holds sockets", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    const made = await reportsOf(() => publish(channel, 1).then(() => undefined));
    expect(publications(own(made, channel))).toBe(1);
    socket.close();
  });

  it("[J8] [V1] is reported by the object itself where a caller of the release before calls", async () => {
    const channel = newChannel("room");
    const made = await reportsOf(async () => {
      const data = { method: "history", request: { limit: 0, reverse: false } } as const;
      const answers = await env.CHANNELS.getByName(channel).execute([data]);
      expect(answers).not.toHaveProperty("counted");
      await publishTo(channel, false);
    });
    expect(publications(own(made, channel))).toBe(1);
  });

  it("[J7] goes with some answers a second only, and is complete all the same", async () => {
    const channel = newChannel("room");
    const counted: CarriedReport[] = [];
    const made = await reportsOf(async () => {
      for (let count = 0; count < metricsLimits.metricsRidesPerSecond * 3; count++) {
        const one = await publishTo(channel, true);
        if (one !== undefined) counted.push(one);
      }
    });
    expect(counted.length).toBeLessThanOrEqual(metricsLimits.metricsRidesPerSecond * 2);
    expect(publications(counted) + publications(own(made, channel))).toBe(
      metricsLimits.metricsRidesPerSecond * 3,
    );
    // The gauges are said when they change only.
    expect(counted.filter(({ gauges }) => gauges !== undefined).length).toBeLessThanOrEqual(1);
    await runInDurableObject(env.CHANNELS.getByName(channel), () => undefined);
  });
});

describe("the gauges of a channel's object", () => {
  it("[J7] [B1] come again after a while, because those that were told count for a day only", async () => {
    const channel = newChannel("room");
    const { metricsGaugesAgainMs } = metricsLimits;
    expect(await publishTo(channel, true)).toHaveProperty("gauges");
    expect(await publishTo(channel, true)).not.toHaveProperty("gauges");
    Object.assign(metricsLimits, { metricsGaugesAgainMs: 0 });
    expect(await publishTo(channel, true)).toHaveProperty("gauges");
    Object.assign(metricsLimits, { metricsGaugesAgainMs });
  });
});

async function atGateway(user: string): Promise<TestSocket> {
  const upgrade = { headers: { Upgrade: "websocket" } };
  const path = address("/connection/websocket");
  const socket = TestSocket.on(await exports.default.fetch(path, upgrade));
  await socket.ask({ id: 1, connect: { token: await token({ sub: user }) } });
  return socket;
}

async function publishTo(channel: string, carries: boolean): Promise<CarriedReport | undefined> {
  const request = {
    data: new TextEncoder().encode("1"),
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };
  const answers = await env.CHANNELS.getByName(channel).execute(
    [{ method: "publish", request }],
    carries,
  );
  return answers.outcome === "answers" ? answers.counted : undefined;
}
