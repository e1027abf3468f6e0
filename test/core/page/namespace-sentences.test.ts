import { describe, expect, it } from "vitest";
import { type Capability, parseCapabilities } from "../../../src/access/capabilities.ts";
import { type KnownChannel, resolveChannel } from "../../../src/channel/channel-name.ts";
import type { Config } from "../../../src/config/config.ts";
import { shownSettings } from "../../../src/features/console/settings.ts";
import { mayChange } from "../../../src/features/maps/map-commands.ts";
import {
  type Caller,
  capabilitiesOf,
  mayAsk,
  mayPublish,
  mayReadHistory,
  maySeePresence,
  maySubscribe,
  subscribeHookOf,
} from "../../../src/session/grant.ts";
import type { Settings } from "../../../workers/page/answers.ts";
import { generalSentences, sentencesOf } from "../../../workers/page/namespace-sentences.ts";
import { configured } from "../../support/configured.ts";

/** Whether a client may do something; a backend may be asked. */
type Decision = "yes" | "no" | "asks";

type Action = "subscribe" | "publish" | "set" | "remove" | "presence" | "history" | "marks";

/** A client and a channel. */
interface Asker {
  readonly user: "" | "ada";
  readonly subscribed: boolean;
  readonly hasCapabilities: boolean;
  readonly channel: "plain" | "private" | "of ada" | "of bob";
}

const channelNames = {
  plain: "ns:1",
  private: "$ns:1",
  "of ada": "ns:1#ada",
  "of bob": "ns:1#bob",
};

const askers: readonly Asker[] = (["", "ada"] as const).flatMap((user) =>
  [false, true].flatMap((subscribed) =>
    [false, true].flatMap((hasCapabilities) =>
      (["plain", "private", "of ada", "of bob"] as const).map((channel) => ({
        user,
        subscribed,
        hasCapabilities,
        channel,
      })),
    ),
  ),
);

const endpoint = "https://backend.example/hooks";
const proxy = {
  subscribe: { endpoint },
  publish: { endpoint },
  map_publish: { endpoint },
  map_remove: { endpoint },
  shared_poll_refresh: { endpoint },
};

/** The configuration of one namespace, and what the page is told of it. */
function withNamespace(options: object): { readonly config: Config; readonly settings: Settings } {
  const namespaces = [{ ...options, name: "ns" }];
  const config = configured({ channel: { proxy, namespaces } });
  return { config, settings: JSON.parse(JSON.stringify(shownSettings(config))) };
}

/** All combinations of options that are on or off, each with what is always on. */
function combinations(names: readonly string[], always: object = {}): readonly object[] {
  return Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.reduce(
      (options, name, index) =>
        (bits >> index) % 2 === 1 ? { ...options, [name]: true } : options,
      always,
    ),
  );
}

/** What the server decides. */
function decision(action: Action, asker: Asker, config: Config): Decision {
  const { user, subscribed, channel } = asker;
  const known = resolveChannel(channelNames[channel], config.channel);
  if (known.outcome !== "resolved") throw new Error("the channel has no namespace");
  const capabilities = asker.hasCapabilities ? { capabilities: allCapabilities } : {};
  const claims = { user, expireAtSeconds: 0, subscriptions: [], ...capabilities };
  const own = capabilitiesOf(
    claims,
    channelNames[channel],
    known,
    subscribed || action === "subscribe",
  );
  return decided(action, { user, subscribed, ...own }, known);
}

const parsed = parseCapabilities([
  {
    channels: ["*"],
    match: "wildcard",
    allow: ["sub", "pub", "prs", "hst"] satisfies Capability[],
  },
]);
const allCapabilities = (parsed.outcome === "read" ? parsed.text : undefined) ?? "";

function of(isAllowed: boolean): Decision {
  return isAllowed ? "yes" : "no";
}

function decided(action: Action, caller: Caller, known: KnownChannel): Decision {
  const { options } = known;
  switch (action) {
    case "subscribe":
      return subscribeHookOf(known) === undefined ? of(maySubscribe(known, caller)) : "asks";
    case "publish":
      if (options.subscriptionType !== "stream") return "no";
      if (options.publishHook === undefined) return of(mayPublish(options, caller));
      return mayAsk(known, caller) ? "asks" : "no";
    case "set":
    case "remove":
      return changing(action, caller, known);
    case "presence":
      return of(options.presence && maySeePresence(options, caller));
    case "history":
      return of(options.historySize > 0 && mayReadHistory(options, caller));
    case "marks":
      switch (options.cursors?.receipts) {
        case "publisher":
          return of(mayPublish(options, caller));
        case "subscriber":
          return of(caller.user !== "" && caller.subscribed);
        case "backend":
        case undefined:
          return "no";
      }
  }
}

function changing(action: "set" | "remove", caller: Caller, known: KnownChannel): Decision {
  const { map, subscriptionType } = known.options;
  if (map === undefined || subscriptionType !== "map") return "no";
  const hook = action === "set" ? map.publishHook : map.removeHook;
  const what = action === "set" ? "publish" : "remove";
  const hasKey = map.clientKey !== "user_id" || caller.user !== "";
  if (!mayChange(known, what, caller) || !hasKey) return "no";
  return hook === undefined ? "yes" : "asks";
}

/** What a reader of the page expects, who takes its sentences at their word. */
function expected(action: Action, asker: Asker, settings: Settings): Decision {
  const namespace = settings.namespaces.find(({ name }) => name === "ns");
  if (namespace === undefined) throw new Error("the page isn't told of the namespace");
  const said = sentencesOf(namespace, settings);
  const general = generalSentences(settings);
  const isLimited =
    asker.channel.startsWith("of ") && said.some((one) => one.includes("only these may subscribe"));
  const isClosed = isLimited || asker.channel === "private";
  if (action === "subscribe") {
    if (asker.channel === "private" && general.some((one) => one.endsWith(tokensOnly))) return "no";
    if (isLimited) return asker.user === "ada" && asker.channel === "of ada" ? "yes" : "no";
  } else if (isClosed && !asker.subscribed && said.some((one) => one.endsWith(subscribersOnly)))
    return "no";
  if (asker.user === "" && (action === "set" || action === "remove"))
    if (said.includes("A client without a user has no key.")) return "no";
  return bySentence(action, asker, said);
}

const tokensOnly = "begins with “$”, nothing but these lets a client subscribe.";
const subscribersOnly = "what clients may do is for their subscribers only.";

/** What is said of an action. */
const phrases: Readonly<Record<Action, string>> = {
  subscribe: "subscribe(?: without a subscription token| by themselves)?",
  publish: "publish",
  set: "set (?:keys|one key, the ID of its (?:connection|user))",
  remove: "remove (?:keys|one key, the ID of its (?:connection|user))",
  presence: "see who is here",
  history: "read the history",
  marks: "see what others have read",
};
const capabilityOf: Readonly<Record<Action, Capability | undefined>> = {
  subscribe: "sub",
  publish: "pub",
  set: "pub",
  remove: "pub",
  presence: "prs",
  history: "hst",
  marks: undefined,
};

function bySentence(action: Action, asker: Asker, said: readonly string[]): Decision {
  const { user, subscribed, hasCapabilities } = asker;
  const phrase = phrases[action];
  const found = said.flatMap((one) => {
    const match = new RegExp(
      `^(?:(A backend decides who may)|(Clients may not)|Every (client|subscriber)( with a user)?( that may publish)? may) ${phrase}\\.$`,
    ).exec(one);
    return match === null ? [] : [match];
  });
  expect(found.length, `${action}: ${said.join(" ")}`).toBeLessThanOrEqual(1);
  const [[, backend, , who, withUser, publishing] = []] = found;
  // Nothing is said of what the channels don't have.
  if (found.length === 0) return "no";
  if (backend !== undefined) return "asks";
  const capability = capabilityOf[action];
  if (hasCapabilities && capability !== undefined) return "yes";
  if (publishing !== undefined) return bySentence("publish", asker, said);
  if (who === undefined || (withUser !== undefined && user === "")) return "no";
  return who === "client" || subscribed ? "yes" : "no";
}

const closing = ["limited_channels_for_subscribers_only", "allow_user_limited_channels"];
const stream = { history_size: 5, history_ttl: "1m" };
const kinds = ["client", "subscriber", "anonymous"];
const allowing = (option: string) => kinds.map((kind) => `${option}_for_${kind}`);

/** For each action all combinations of the options that it depends on. */
const tables: Readonly<Record<Action, readonly object[]>> = {
  subscribe: combinations([
    "allow_subscribe_for_client",
    "allow_subscribe_for_anonymous",
    "subscribe_proxy_enabled",
    "allow_user_limited_channels",
  ]),
  publish: [
    ...combinations([...allowing("allow_publish"), "publish_proxy_enabled", ...closing]),
    ...combinations(allowing("allow_publish"), {
      subscription_type: "shared_poll",
      shared_poll: { mode: "versioned", publish_enabled: true },
    }),
    ...combinations(allowing("allow_publish"), {
      subscription_type: "map",
      map: { mode: "persistent" },
    }),
  ],
  set: maps("allow_publish", "publish_proxy_enabled"),
  remove: maps("allow_remove", "remove_proxy_enabled"),
  presence: [
    ...combinations(["presence", ...allowing("allow_presence"), ...closing]),
    ...combinations(["presence", ...allowing("allow_presence")], {
      subscription_type: "map_clients",
      map: { key_ttl: "60s" },
    }),
  ],
  history: [
    ...combinations([...allowing("allow_history"), ...closing], stream),
    ...combinations(allowing("allow_history")),
    ...combinations(allowing("allow_history"), {
      subscription_type: "map",
      map: { mode: "ephemeral", key_ttl: "60s" },
    }),
    ...combinations(allowing("allow_history"), {
      subscription_type: "map",
      map: { mode: "persistent" },
    }),
  ],
  marks: ["backend", "publisher", "subscriber"].flatMap((receipts) =>
    combinations([...allowing("allow_publish"), ...closing], {
      ...stream,
      cursors: { enabled: true, receipts },
    }),
  ),
};

function maps(option: string, hook: string): readonly object[] {
  const open = combinations([...allowing(option)], { mode: "persistent" });
  const others = ["client_id", "user_id"].flatMap((client_key) =>
    open.map((map) => ({ ...map, client_key })),
  );
  const all = [...open, ...others, { mode: "persistent", [hook]: true }];
  const mirror = { subscription_type: "map_users", map: { key_ttl: "60s" } };
  return [
    mirror,
    ...all.flatMap((map) => combinations(closing, { subscription_type: "map", map })),
  ];
}

describe("what the page Namespaces says of clients", () => {
  it.each(Object.keys(tables).filter((name): name is Action => name in tables))(
    "[N29] is what the server decides, for all combinations of options: %s",
    (action) => {
      const wrong: object[] = [];
      const decisions = new Set<Decision>();
      for (const options of tables[action]) {
        const { config, settings } = withNamespace(options);
        for (const asker of askers) {
          const says = expected(action, asker, settings);
          const does = decision(action, asker, config);
          decisions.add(does);
          if (says !== does) wrong.push({ options, asker, says, does });
        }
      }
      expect(wrong).toStrictEqual([]);
      expect(decisions.has("yes") && decisions.has("no")).toBe(true);
    },
  );
});
