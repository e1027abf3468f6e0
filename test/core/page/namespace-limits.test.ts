import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { shownSettings } from "../../../src/features/console/settings.ts";
import { limits } from "../../../src/limits.ts";
import type { Settings } from "../../../workers/page/answers.ts";
import { limitSentences } from "../../../workers/page/namespace-limits.ts";
import { sentencesOf } from "../../../workers/page/namespace-sentences.ts";
import { configured } from "../../support/configured.ts";

const endpoint = "https://backend.example/hooks";
const history = { history_size: 5, history_ttl: "90s" };
const map = (options: object) => ({ subscription_type: "map", map: options });
const mirror = (type: string) => ({ subscription_type: type, map: { key_ttl: "60s" } });

/** What the page says of a namespace of a configuration. */
function said(
  namespaces: readonly object[],
  name: string,
  more: object = {},
): { readonly sentences: readonly string[]; readonly limited: readonly string[] } {
  const proxy = { shared_poll_refresh: { endpoint } };
  const config = configured({ ...more, channel: { proxy, namespaces } });
  const settings: Settings = JSON.parse(JSON.stringify(shownSettings(config)));
  const namespace = settings.namespaces.find((one) => one.name === name);
  if (namespace === undefined) throw new Error("the page isn't told of the namespace");
  return {
    sentences: sentencesOf(namespace, settings),
    limited: limitSentences(namespace, settings, { ...limits, ...mapLimits }),
  };
}

function buckets(rate: number, interval: string): object {
  return { buckets: [{ rate, interval }] };
}

describe("the limits that the page Namespaces says", () => {
  const pages =
    "A client reads the map in pages of 100 to 1,000 keys, and has 5 seconds for all of them.";
  const value =
    "A message of a client has at most 64 KiB, and the value that a backend sets 1 MiB.";
  it.each([
    [
      "a stream",
      history,
      [
        "A message of a client has at most 64 KiB, and the data of a backend's publication 1 MiB.",
        "A client reads up to 300 publications of the history at once.",
      ],
    ],
    [
      "a stream without history",
      {},
      ["A message of a client has at most 64 KiB, and the data of a backend's publication 1 MiB."],
    ],
    [
      "a map that is stored",
      map({ mode: "persistent" }),
      [value, "A map has at most 100,000 keys.", pages],
    ],
    [
      "a map in memory",
      map({ mode: "ephemeral", key_ttl: "1m" }),
      [
        value,
        "A map has at most 100,000 keys.",
        "Its keys and values have at most 16 MiB together.",
        pages,
      ],
    ],
    [
      "a presence map",
      mirror("map_users"),
      [
        "A map has at most 100,000 keys.",
        "Its keys and values have at most 16 MiB together.",
        pages,
      ],
    ],
    [
      "a shared poll",
      { subscription_type: "shared_poll" },
      ["A connection tracks at most 5,000 keys."],
    ],
  ])("[N29] are those of the server: %s", (_kind, options, expected) => {
    const { limited } = said([{ ...options, name: "ns" }], "ns");
    expect(limited).toStrictEqual(["The name of a channel has at most 255 bytes.", ...expected]);
  });

  it("[N29] [B21] are the rates of the namespace, or else those of all", () => {
    const client = {
      rate_limit: {
        client_command: {
          enabled: true,
          publish: {
            enabled: true,
            ...buckets(5, "1s"),
            namespace_overrides: [{ enabled: true, namespace_name: "slow", ...buckets(1, "10s") }],
          },
          rpc: { enabled: true, ...buckets(9, "1s") },
        },
        user_command: { enabled: true, total: { enabled: true, ...buckets(60, "10s") } },
      },
    };
    const rates = (name: string) =>
      said([{ name: "slow" }, { name: "fast" }], name, { client }).limited.slice(2);
    const ofUser =
      "All connections of a user together may send a command of any kind 60 times at once, and 6 times a second after that.";
    expect(rates("slow")).toStrictEqual([
      "A connection may publish 1 time at once, and 6 times a minute after that.",
      ofUser,
    ]);
    expect(rates("fast")).toStrictEqual([
      "A connection may publish 5 times at once, and 5 times a second after that.",
      ofUser,
    ]);
  });
});

describe("what the page Namespaces says of presence maps and receipts", () => {
  const shown = {
    ...history,
    name: "room",
    map_clients_presence_channel_prefix: "clients:",
    map_users_presence_channel_prefix: "users:",
  };
  const all = [
    shown,
    { name: "clients", ...mirror("map_clients") },
    { name: "users", ...mirror("map_users") },
    { name: "receipts", ...mirror("map_receipts") },
  ];

  it("[N29] [Z21] [Z36] is what they show, for how long, and who decides", () => {
    const { sentences } = said(all, "users");
    expect(sentences.slice(0, 5)).toStrictEqual([
      "Each channel is a presence map: its keys are the IDs of the users who are subscribed to another channel, each once. Anonymous clients aren't shown.",
      "“users:room:…” shows “room:…”.",
      "A user stays for 1 minute after the last subscription has ended, and for up to half as long again.",
      "Clients that poll, and those whose token hides them, aren't shown.",
      "The options of this namespace alone decide who may look: a client needs no right on the channel that is shown.",
    ]);
    expect(said(all, "clients").sentences).toContain(
      "A client is removed when its subscription ends, and within 1 minute where its object has crashed.",
    );
    expect(said(all, "room").sentences).toContain(
      "Whoever may subscribe to “clients:room:…” and “users:room:…” sees there who is subscribed, and hears who comes and goes.",
    );
    expect(said(all, "receipts").sentences).toContain(
      "No namespace names a prefix for such channels, so they show nothing.",
    );
  });
});
