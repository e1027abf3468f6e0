import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import type { Settings } from "../../../workers/page/answers.ts";
import { knownChannel, type Question } from "../../../workers/page/channel-questions.ts";
import { address, apiKeyHeader, call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { logInWith, post } from "./console-post.ts";

const password = "the-password-of-the-console-tests";
const endpoint = "https://backend.example/hooks";
const history = { history_size: 5, history_ttl: "5m" };
const mirror = { map: { key_ttl: "60s" } };
const kinds = [
  { name: "stream", ...history, presence: true },
  { name: "bare" },
  { name: "present", presence: true },
  { name: "cache", ...history, force_recovery: true, force_recovery_mode: "cache" },
  { name: "kept", subscription_type: "map", map: { mode: "persistent" }, presence: true },
  { name: "ending", subscription_type: "map", map: { mode: "recoverable", key_ttl: "1m" } },
  { name: "memory", subscription_type: "map", map: { mode: "ephemeral", key_ttl: "1m" } },
  { name: "clients", subscription_type: "map_clients", ...mirror },
  { name: "users", subscription_type: "map_users", ...mirror, presence: true },
  { name: "receipts", subscription_type: "map_receipts", ...mirror },
  { name: "polled", subscription_type: "shared_poll", shared_poll: { mode: "versionless" } },
  {
    name: "shown",
    ...history,
    map_clients_presence_channel_prefix: "clients:",
    map_users_presence_channel_prefix: "users:",
    cursors: { enabled: true, receipts_channel_prefix: "receipts:" },
    allow_user_limited_channels: true,
  },
];
Object.assign(env, {
  CONSOLE_PASSWORD: password,
  SHARED_POLL_HMAC_SECRET_KEY: "the-key-of-shared-polls-of-worker-tests",
  HOOK_SIGNING_SECRET: "hook-signing-secret-of-worker-tests",
});
configure({
  channel: {
    proxy: { shared_poll_refresh: { endpoint } },
    without_namespace: history,
    namespaces: kinds,
  },
  console: { enabled: true },
});
Object.assign(metricsLimits, { metricsReportMs: 300, metricsCollectMs: 100, metricsStoreMs: 300 });

const logIn = () => logInWith(password);

async function settingsOf(login: object): Promise<Settings> {
  return (await post("/console/api/settings", {}, login)).json();
}

/** How many refusals are counted of a route, and those that are listed. */
async function refusals(login: object): Promise<{
  readonly counted: Readonly<Record<string, number>>;
  readonly listed: readonly { readonly refused: string }[];
}> {
  const metrics: { readonly counters: Readonly<Record<string, number>> } = await (
    await post("/console/api/metrics", {}, login)
  ).json();
  const { refusals: listed }: { readonly refusals: readonly { readonly refused: string }[] } =
    await (await post("/console/api/refusals", {}, login)).json();
  const counted = Object.entries(metrics.counters).filter(([series]) =>
    series.startsWith("dormouse_refusals_total"),
  );
  return { counted: Object.fromEntries(counted), listed };
}

/** How much is kept of a channel, as `inspect` tells it. */
async function kept(channel: string): Promise<object> {
  const { body } = await call("inspect", { channel });
  const { result }: { readonly result: { readonly channel: { readonly history: object } } } =
    JSON.parse(body);
  return result.channel.history;
}

describe("what the pages of the console ask by themselves", () => {
  const channels = ["alone", "$alone", ...kinds.flatMap(({ name }) => [`${name}:1`, `$${name}:1`])];

  it.each([...channels, "shown:1#ada", "clients:shown:1", "users:shown:1", "receipts:shown:1"])(
    "[N28] is admitted: of %s",
    async (channel) => {
      const login = await logIn();
      const known = knownChannel(channel, await settingsOf(login));
      if (known.outcome !== "known") throw new Error("the page doesn't know the namespace");
      const { state, history: publications, keys, presence } = known.questions;
      const asked = [state, publications, keys, presence].filter(
        (one): one is Question => one !== undefined,
      );
      const answers = await Promise.all(
        asked.map(async ({ method, params }) => {
          const response = await post(`/console/api/${method}`, params, login);
          const answer: { readonly error?: object } = await response.json();
          return { method, status: response.status, error: answer.error };
        }),
      );
      expect(answers).toStrictEqual(
        asked.map(({ method }) => ({ method, status: 200, error: undefined })),
      );
    },
  );

  it("[N28] is nothing where there is no such namespace", async () => {
    const settings = await settingsOf(await logIn());
    expect(knownChannel("nowhere:1", settings)).toStrictEqual({
      outcome: "unknown",
      namespace: "nowhere",
    });
  });

  it("[N28] is all that a channel has", async () => {
    const settings = await settingsOf(await logIn());
    const parts = ["stream", "present", "kept", "memory", "users", "polled"].map((name) => {
      const known = knownChannel(`${name}:1`, settings);
      return known.outcome === "known" ? Object.keys(known.questions).toSorted() : [];
    });
    expect(parts).toStrictEqual([
      ["history", "presence", "state"],
      ["presence", "state"],
      ["history", "keys", "presence", "state"],
      ["keys", "state"],
      ["keys", "presence", "state"],
      ["state"],
    ]);
  });

  it("[Y4] what is kept of a map in memory isn't told as a history", async () => {
    await call("map_publish", { channel: "memory:2", key: "a", data: 1 });
    await call("map_publish", { channel: "kept:2", key: "a", data: 1 });
    expect(await kept("memory:2")).toStrictEqual({ publications: 0, size: 0 });
    expect(await kept("kept:2")).toStrictEqual({ publications: 1, size: 100 });
    await publish("stream:2", 1);
    expect(await kept("stream:2")).toStrictEqual({ publications: 1, size: 5 });
  });
});

describe("what is refused to the operator", () => {
  it("[N28] [Y6] isn't among the refusals, and what is refused to others is", async () => {
    const login = await logIn();
    await post("/console/api/history", { channel: "bare:1" }, login);
    await post("/console/api/publish", { channel: "nowhere:1", data: 1 }, login);
    // Without a login, a question of the console is one of a stranger.
    await post("/console/api/info", {});
    await exports.default.fetch(address("/api/history"), {
      method: "POST",
      headers: apiKeyHeader,
      body: JSON.stringify({ channel: "bare:1" }),
    });
    const refused = ["api history", "api info"];
    await vi.waitUntil(async () => (await refusals(login)).listed.length >= refused.length, {
      timeout: 30_000,
      interval: 100,
    });
    const { counted, listed } = await refusals(login);
    expect(listed.map((one) => one.refused).toSorted()).toStrictEqual(refused);
    expect(counted).toStrictEqual({
      'dormouse_refusals_total{refused="/api/history",rule="W1"}': 1,
      'dormouse_refusals_total{refused="/console/api/:method",rule="N2"}': 1,
    });
  });
});
