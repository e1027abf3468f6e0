import { describe, expect, it } from "vitest";
import { namedSecretNames } from "../../../../src/config/secret-uses.ts";
import { pollLimits } from "../../../../src/features/shared-polls/limits.ts";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { pollDefaults } from "./poll-fixture.ts";
import { configOf, problemsOf } from "../../config/parsed.ts";

const path = "channel.without_namespace";
const refresh = { endpoint: "https://example.com/refresh" };
const channelOf = (poll: object, others: object = {}) => ({
  proxy: { shared_poll_refresh: refresh },
  without_namespace: { subscription_type: "shared_poll", shared_poll: poll, ...others },
});

describe("[A8] the options of a shared poll", () => {
  const off = configOf({}).channel.withoutNamespace;

  it.each([
    [{}, {}],
    [{ proxy_name: "", refresh_interval: "0s", mode: "", refresh_batch_size: 0 }, {}],
  ])("are taken, with Centrifugo's defaults: %j", (poll, options) => {
    const config = configOf({ channel: channelOf(poll) });
    const [refreshHook] = config.hooks.targets.values();
    expect(refreshHook?.name).toBe("channel.proxy.shared_poll_refresh");
    expect(config.channel.withoutNamespace).toStrictEqual({
      ...off,
      subscriptionType: "shared_poll",
      sharedPoll: { ...pollDefaults, ...options, refreshHook },
    });
  });

  it("name their backend", () => {
    const proxies = [{ name: "votes", endpoint: "https://example.com/votes" }];
    const config = configOf({ proxies, channel: channelOf({ proxy_name: "votes" }) });
    expect(config.channel.withoutNamespace.sharedPoll?.refreshHook.name).toBe("proxies.votes");
  });

  it.each<[object, string]>([
    [{ publish_enabled: true }, 'publish_enabled requires mode "versioned"'],
    [{ proxy_name: "votes" }, 'proxy_name: "votes" is not the name of one of proxies'],
    [
      { refresh_interval: "99ms" },
      `refresh_interval is shorter than ${pollLimits.pollIntervalMsMin / 1_000}s`,
    ],
    [
      { keep_latest_data: true },
      "keep_latest_data is an option of Centrifugo PRO, not supported by Dormouse",
    ],
  ])("are refused: %j", (poll, problem) => {
    expect(problemsOf({ channel: channelOf(poll) })).toEqual([`${path}.shared_poll.${problem}`]);
  });

  it("need a backend", () => {
    const { without_namespace } = channelOf({});
    expect(problemsOf({ channel: { without_namespace } })).toEqual([
      `${path}.shared_poll.proxy_name requires channel.proxy.shared_poll_refresh.endpoint`,
    ]);
  });

  it.each([
    [{ history_size: 1 }, "history_size", "which keep no history"],
    [{ force_recovery: true }, "force_recovery", "which keep no history"],
    [
      { allowed_delta_types: ["fossil"], delta_publish: true },
      "delta_publish",
      "which send deltas to all who ask for them",
    ],
    [{ allow_tags_filter: true }, "allow_tags_filter", "which have no tags"],
  ])("go without those of streams: %j", (options, name, reason) => {
    expect(problemsOf({ channel: channelOf({}, options) })).toEqual([
      `${path}.${name} is not for shared polls, ${reason}`,
    ]);
  });
});

describe("[A8] the section shared_poll", () => {
  it("[SP14] needs its secret where there is a shared poll, and doesn't hold it", () => {
    expect(namedSecretNames(configOf({ channel: channelOf({}) }))).toContain(
      "SHARED_POLL_HMAC_SECRET_KEY",
    );
    expect(namedSecretNames(configOf({}))).not.toContain("SHARED_POLL_HMAC_SECRET_KEY");
    expect(problemsOf({ shared_poll: { hmac_secret_key: "hunter2" } })).toEqual([
      "shared_poll.hmac_secret_key is a secret: set SHARED_POLL_HMAC_SECRET_KEY instead",
    ]);
    expect(problemsOf({ shared_poll: { hmac_previous_secret_key: "hunter2" } })).toEqual([
      "shared_poll.hmac_previous_secret_key is a secret: set SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY instead",
    ]);
  });

  it("has a limit that each object has for itself", () => {
    const parsed = parseConfig({ shared_poll: { concurrency_limit: 64 } });
    expect(parsed).toMatchObject({
      notes: [
        "shared_poll.concurrency_limit is ignored: each channel's object bounds how much it asks at a time",
      ],
    });
  });
});
