import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import { version } from "../../../src/version.ts";
import { address, apiKeyHeader, call, fetchWith, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig, testSecrets } from "../support/test-config.ts";
import { awake } from "../support/object-state.ts";
import { places } from "../support/place.ts";
import { TestSocket } from "../support/test-socket.ts";
import { Variant } from "../support/variant.ts";

const board = {
  name: "board",
  subscription_type: "map",
  allow_subscribe_for_client: true,
  map: { mode: "recoverable", key_ttl: "10m", min_page_size: 1 },
};
configure({
  ...testConfig,
  channel: { ...testConfig.channel, namespaces: [...testConfig.channel.namespaces, board] },
  prometheus: { enabled: true },
});
// The same in shorter times: test/core/features/metrics holds the reports to their real ones.
Object.assign(metricsLimits, { metricsReportMs: 300, metricsCollectMs: 100, metricsStoreMs: 300 });

const metricsKey = "a-key-for-metrics-of-32-characters";

function scrape(headers: Record<string, string> = apiKeyHeader): Promise<Response> {
  return exports.default.fetch(address("/metrics"), { headers });
}

/** The values of all series, by their names with labels. */
async function series(): Promise<ReadonlyMap<string, number>> {
  const text = await (await scrape()).text();
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line): [string, number] => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Resolves with what is collected once it is so. */
async function until(
  isSo: (all: ReadonlyMap<string, number>) => boolean,
): Promise<ReadonlyMap<string, number>> {
  let all = await series();
  await vi.waitUntil(
    async () => {
      all = await series();
      return isSo(all);
    },
    { timeout: 30_000, interval: 200 },
  );
  return all;
}

/** The increase of some series while something happens, which is over once the first of them has increased by so much. */
async function increaseOf(
  names: readonly string[],
  by: number,
  happens: () => Promise<void>,
): Promise<readonly number[]> {
  const before = await series();
  const of = (all: ReadonlyMap<string, number>) =>
    names.map((name) => (all.get(name) ?? 0) - (before.get(name) ?? 0));
  await happens();
  return of(await until((all) => (of(all)[0] ?? 0) >= by));
}

const room = (name: string, more = "") => `${name}{${more}channel_namespace="room"}`;

const synchronised = (outcome: string) =>
  `dormouse_map_synchronisations_total{outcome="${outcome}",channel_namespace="board"}`;

const pages = (phase: string) =>
  `dormouse_map_pages_total{phase="${phase}",channel_namespace="board"}`;

const requests = (path: string, method: string, status: number) =>
  `centrifugo_node_incoming_http_requests_total{path="${path}",method="${method}",status="${status}"}`;

describe("metrics", () => {
  it("count what a channel's object does, awake and after its sleep", async () => {
    const channel = newChannel("room");
    const sockets = [
      await TestSocket.subscribe(channel, "ada"),
      await TestSocket.subscribe(channel, "bob"),
    ];
    await publish(channel, 0);
    const names = [
      room("dormouse_deliveries_total"),
      room("centrifugo_node_messages_sent_count", 'type="publication",'),
      room("centrifugo_broker_publish_suppressed_count", 'reason="idempotency",'),
    ];
    for (const sleeps of [false, true]) {
      await until((all) => (all.get("centrifugo_node_num_clients") ?? 0) >= 2);
      if (sleeps) await hibernate(env.CHANNELS.getByName(channel));
      const added = await increaseOf(names, 4, async () => {
        await publish(channel, 1, { idempotency_key: `first ${sleeps}` });
        await publish(channel, 1, { idempotency_key: `first ${sleeps}` });
        await publish(channel, 2);
      });
      expect(added).toStrictEqual([4, 2, 1]);
    }
    expect(sockets).toHaveLength(2);
  });

  it.each(places)(
    "say how many connections, subscriptions and channels there are on $name, also once nobody is subscribed",
    async (place) => {
      const channel = newChannel("room");
      const gauges = [
        "centrifugo_node_num_clients",
        "centrifugo_node_num_subscriptions",
        "centrifugo_node_num_channels",
      ];
      let socket: TestSocket | undefined;
      const came = await increaseOf(gauges, 1, async () => {
        socket = await new Variant(place, awake).subscribe(channel, "ada");
      });
      expect(came).toStrictEqual([1, 1, 1]);
      const before = await series();
      socket?.close();
      const after = await until(
        (all) => (all.get(gauges[0] ?? "") ?? 0) < (before.get(gauges[0] ?? "") ?? 0),
      );
      const left = gauges.map((name) => (after.get(name) ?? 0) - (before.get(name) ?? 0));
      expect(left).toStrictEqual([-1, -1, -1]);
    },
  );

  it.each(places)("count how clients on $name synchronise with maps", async (place) => {
    const channel = newChannel("board");
    for (const key of ["a", "b", "a"]) await call("map_publish", { channel, key, data: 1 });
    await call("map_publish", { channel, key: "a", data: 1, key_mode: "if_new" });
    const outcomes = ["unrecoverable", "lost", "completed", "recovered"].map(synchronised);
    const added = await increaseOf([...outcomes, pages("state"), pages("stream")], 1, async () => {
      const socket = await new Variant(place, awake).connect(channel, "ada");
      const ask = async (id: number, fields: object) => {
        socket.send({ id, subscribe: { channel, type: 1, limit: 1, ...fields } });
        return JSON.parse(await socket.line()).subscribe;
      };
      await ask(2, { phase: 2, cursor: "a", epoch: "another" });
      const { cursor, epoch, offset } = await ask(3, { phase: 2 });
      await ask(4, { phase: 2, cursor, epoch, offset });
      await socket.ask({ id: 5, unsubscribe: { channel } });
      await ask(6, { phase: 1, recover: true, epoch, offset });
      await socket.ask({ id: 7, unsubscribe: { channel } });
      await ask(8, { phase: 1, recover: true, epoch: "another", offset });
    });
    expect(added).toStrictEqual([1, 1, 1, 1, 2, 0]);
  });

  it("[A13] count refusals by their rule, and errors by their code", async () => {
    const channel = newChannel("closed");
    const names = [
      'dormouse_refusals_total{refused="subscribe",rule="A1"}',
      'centrifugo_client_num_reply_errors{method="subscribe",code="103"}',
    ];
    const added = await increaseOf(names, 1, async () => {
      const socket = await TestSocket.connect(channel, "ada");
      socket.send({ id: 2, subscribe: { channel } });
      await socket.next();
    });
    expect(added).toStrictEqual([1, 1]);
  });

  it("[J4] count requests by their routes, and the errors of commands by their codes", async () => {
    const names = [
      requests("/api/history", "POST", 200),
      'centrifugo_api_command_errors_total{protocol="http",method="history",error="102"}',
      requests("other", "GET", 404),
      'centrifugo_api_command_duration_seconds_histogram_count{protocol="http",method="history"}',
    ];
    const added = await increaseOf(names, 1, async () => {
      await call("history", { channel: "nowhere:1", limit: 1 });
      await exports.default.fetch(address("/wp-admin"));
    });
    expect(added).toStrictEqual([1, 1, 1, 1]);
  });

  it("[J3] are read without waking an object, and stored while it matters", async () => {
    const channel = newChannel("room");
    await publish(channel, 1);
    await until((all) => (all.get(room("dormouse_deliveries_total")) ?? 0) >= 0);
    const stub = env.CHANNELS.getByName(channel);
    await hibernate(stub);
    const woken = vi.spyOn(env.CHANNELS, "getByName");
    await series();
    expect(woken).not.toHaveBeenCalled();
    woken.mockRestore();
  });

  it("[J1] go on after the collecting objects slept", async () => {
    await publish(newChannel("room"), 1);
    const name = room("centrifugo_node_messages_sent_count", 'type="publication",');
    const before = await until((all) => (all.get(name) ?? 0) > 0);
    const collectors = Array.from({ length: metricsLimits.metricsCollectors }, (_, number) =>
      env.METRICS.getByName(String(number)),
    );
    for (const collector of collectors) {
      await vi.waitUntil(() => runInDurableObject(collector, (object) => object.isStored), {
        timeout: 30_000,
      });
      await evictDurableObject(collector);
    }
    const after = await series();
    expect(after.get(name)).toBeGreaterThanOrEqual(before.get(name) ?? 0);
  });
});

describe("who may read metrics", () => {
  it("[J5] is whoever has METRICS_KEY or an API key that admits everything", async () => {
    const ask = async (headers: Record<string, string>): Promise<number> => {
      const request = new Request(address("/metrics"), { headers });
      return (await fetchWith({ METRICS_KEY: metricsKey }, request)).status;
    };
    expect(await ask({ Authorization: `Bearer ${metricsKey}` })).toBe(200);
    expect(await ask(apiKeyHeader)).toBe(200);
    expect(await ask({ Authorization: `Bearer ${testSecrets.API_KEY}` })).toBe(401);
    expect(await ask({ Authorization: "Bearer wrong" })).toBe(401);
    expect(await ask({})).toBe(401);
  });

  it("[J5] reads the server's version also before anything was counted", async () => {
    expect(await series()).toContainEqual([`centrifugo_node_build{version="${version}"}`, 1]);
  });

  it("[J5] is nobody where metrics aren't switched on", async () => {
    const request = new Request(address("/metrics"), { headers: apiKeyHeader });
    const off = await fetchWith({ config: testConfig }, request);
    expect([off.status, await off.text()]).toEqual([404, "prometheus.enabled is not set"]);
  });

  it("[J5] isn't a backend whose key admits only some methods", async () => {
    const keys = [{ name: "some", secret: "API_KEY_SOME", methods: ["*"], channels: ["*"] }];
    const config = { ...testConfig, prometheus: { enabled: true }, http_api: { keys } };
    const key = "a-restricted-key-of-32-characters-";
    const request = new Request(address("/metrics"), { headers: { "X-API-Key": key } });
    const differences = { config, API_KEY_SOME: key };
    expect((await fetchWith(differences, request)).status).toBe(401);
  });

  it("are shown in one format, whatever a scraper asks for", async () => {
    const response = await scrape({ ...apiKeyHeader, Accept: "application/openmetrics-text" });
    expect(response.headers.get("Content-Type")).toContain("text/plain; version=0.0.4");
    expect(await response.text()).toContain("\ncentrifugo_node_build{");
  });
});
