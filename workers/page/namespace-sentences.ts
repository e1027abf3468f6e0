/**
 * What the configuration means for clients, in sentences. A test compares what they say with what the server decides
 * (rule N29).
 */
import type { NamespaceSettings, Settings } from "./answers.ts";
import { keepsHistory } from "./channel-questions.ts";
import { mirrorSentences, shownBySentences } from "./mirror-sentences.ts";
import { duration, newest, whole } from "./text.ts";

/** What holds in all namespaces. */
export function generalSentences({ private_prefix: prefix }: Settings): readonly string[] {
  return [
    "A subscription token lets its client subscribe to its channel, whatever the namespace says.",
    "Backends and connection tokens may subscribe clients to any channel.",
    ...(prefix === ""
      ? []
      : [
          `To a channel whose name begins with “${prefix}”, nothing but these lets a client subscribe.`,
        ]),
    "A token's capabilities allow its holder more: “sub” subscribing, “pub” publishing and changing keys, “prs” seeing who is here, “hst” reading the history. “sub” opens no private channel and none that is limited to users, and none of them does anything where a backend decides.",
  ];
}

/** What clients may do in a namespace. */
export function sentencesOf(namespace: NamespaceSettings, settings: Settings): readonly string[] {
  return [
    ...typeOf(namespace),
    ...mirrorSentences(namespace, settings),
    ...subscribing(namespace, settings),
    ...changing(namespace),
    ...presence(namespace),
    ...shownBySentences(namespace, settings),
    ...history(namespace),
    ...recovery(namespace, settings),
    ...cursors(namespace),
    ...forSubscribersOnly(namespace),
  ];
}

/** What the channels are, where they aren't streams. */
function typeOf({ type, options }: NamespaceSettings): readonly string[] {
  const keyTtl = duration(Number(options["map.key_ttl_ms"] ?? 0));
  if (type === "shared_poll") {
    const interval = duration(Number(options["shared_poll.refresh_interval_ms"] ?? 0));
    return [
      `Each channel is a shared poll: a backend is asked for the values of all keys that clients track, every ${interval}.`,
      "Whoever may subscribe tracks the keys for which it has a signature of a backend.",
    ];
  }
  if (type !== "map") return [];
  switch (String(options["map.mode"])) {
    case "ephemeral":
      return [
        `Each channel is a map, which is in memory. A key ends ${keyTtl} after its last change.`,
      ];
    case "recoverable":
      return [
        `Each channel is a map, which is stored. A key ends ${keyTtl} after its last change.`,
      ];
    default:
      return ["Each channel is a map, which is stored. A key stays until it is removed."];
  }
}

function subscribing(
  { name, options, hooks }: NamespaceSettings,
  { namespace_boundary: boundary, user_boundary: separator }: Settings,
): readonly string[] {
  const example = `${name === "" ? "" : name + boundary}${separator}42`;
  const limited =
    options["allow_user_limited_channels"] === true && separator !== ""
      ? [
          `To a channel whose name ends with users, such as ${example}, only these may subscribe, without a token.`,
        ]
      : [];
  if (hooks.includes("subscribe"))
    return ["A backend decides who may subscribe without a subscription token.", ...limited];
  if (options["allow_subscribe_for_client"] !== true)
    return ["Clients may not subscribe by themselves.", ...limited];
  const who = options["allow_subscribe_for_anonymous"] === true ? "client" : "client with a user";
  return [`Every ${who} may subscribe.`, ...limited];
}

/** Who may publish, or change the keys of a map. */
function changing(namespace: NamespaceSettings): readonly string[] {
  const { type, options } = namespace;
  switch (type) {
    case "stream":
      return decided(namespace, { hook: "publish", option: "allow_publish", what: "publish" });
    case "map": {
      const key = ownKeys[String(options["map.client_key"] ?? "")] ?? "keys";
      return [
        ...decided(namespace, {
          hook: "map.publish",
          option: "map.allow_publish",
          what: `set ${key}`,
          none: "set keys",
        }),
        ...decided(namespace, {
          hook: "map.remove",
          option: "map.allow_remove",
          what: `remove ${key}`,
          none: "remove keys",
        }),
        ...(options["map.client_key"] === "user_id" ? ["A client without a user has no key."] : []),
        ...(options["map.remove_client_on_unsubscribe"] === true
          ? ["The key that is the ID of a connection is removed when its subscription ends."]
          : []),
      ];
    }
    case "shared_poll":
      return [
        options["shared_poll.publish_enabled"] === true
          ? "Clients may not publish. The values come from the backend, which may also publish them."
          : "Clients may not publish. The values come from the backend.",
      ];
    default:
      return ["Clients may not change keys: the server alone does."];
  }
}

/** The keys that clients of a map change, by `map.client_key`. */
const ownKeys: Readonly<Record<string, string>> = {
  client_id: "one key, the ID of its connection",
  user_id: "one key, the ID of its user",
};

/** Who is known to be there, and who is told. */
function presence(namespace: NamespaceSettings): readonly string[] {
  const { options } = namespace;
  const what = "see who is here";
  const seeing =
    options["presence"] === true
      ? decided(namespace, { option: "allow_presence", what })
      : ["Clients may not see who is here: presence is off."];
  if (options["join_leave"] !== true) return seeing;
  return [
    ...seeing,
    options["force_push_join_leave"] === true
      ? "Every subscriber hears who joins and leaves."
      : "Subscribers that ask for it, and may see who is here, hear who joins and leaves.",
  ];
}

function history(namespace: NamespaceSettings): readonly string[] {
  const { type, options } = namespace;
  if (!keepsHistory(namespace))
    return type === "stream" || type === "map"
      ? ["Clients may not read a history: nothing is kept of what was published."]
      : [];
  const what = type === "map" ? "change" : "publication";
  const size = Number(options["history_size"]);
  const ttl = duration(Number(options["history_ttl_ms"]));
  return [
    `The ${newest(size, what)} ${size === 1 ? "is" : "are"} kept, for ${ttl} after the last one.`,
    ...decided(namespace, { option: "allow_history", what: "read the history" }),
  ];
}

/** What a client gets that was away. */
function recovery(
  namespace: NamespaceSettings,
  { recovery_max: max }: Settings,
): readonly string[] {
  const { type, options } = namespace;
  if (type.startsWith("map"))
    return [
      keepsHistory(namespace)
        ? "A client that was away gets the changes that it missed, or reads the map anew where they aren't kept any more."
        : "A client that was away reads the map anew.",
    ];
  if (!keepsHistory(namespace)) return [];
  const isForced = options["force_recovery"] === true;
  const isCache = options["recovery_mode"] === "cache";
  const who = isForced
    ? "A client that was away"
    : options["allow_recovery"] === true
      ? "A client that was away, and has asked for recovery,"
      : "A client that was away, may read the history, and has asked for recovery,";
  const gets = isCache
    ? "gets the newest publication"
    : `recovers up to ${whole(max)} missed publications`;
  const first =
    isCache && options["auto_cache_recover"] === true && isForced
      ? ["A client that subscribes for the first time gets the newest publication as well."]
      : [];
  return [`${who} ${gets}.`, ...first];
}

function cursors({ options }: NamespaceSettings): readonly string[] {
  const receipts = options["cursors.receipts"];
  if (receipts === undefined) return [];
  return [
    "The server keeps how far each user has read. A client needs a user, and marks and asks for its own user only.",
    receipts === "backend"
      ? "Clients may not see what others have read."
      : receipts === "publisher"
        ? "Every client that may publish may see what others have read."
        : "Every subscriber with a user may see what others have read.",
  ];
}

function forSubscribersOnly({ options }: NamespaceSettings): readonly string[] {
  return options["limited_channels_for_subscribers_only"] === true
    ? [
        "In private channels, and in those that are limited to users, what clients may do is for their subscribers only.",
      ]
    : [];
}

/** Something that a backend decides on, or the options of the namespace. */
interface Permission {
  /** The hook that asks the backend; absent if there is none. */
  readonly hook?: string;
  /** What the names of the options begin with. */
  readonly option: string;
  readonly what: string;
  /** The same where nobody may; absent if it is no other. */
  readonly none?: string;
}

function decided(
  { options, hooks }: NamespaceSettings,
  { hook, option, what, none = what }: Permission,
): readonly string[] {
  if (hook !== undefined && hooks.includes(hook)) return [`A backend decides who may ${what}.`];
  const is = (kind: string): boolean => options[`${option}_for_${kind}`] === true;
  const who = is("client") ? "client" : is("subscriber") ? "subscriber" : undefined;
  if (who === undefined) return [`Clients may not ${none}.`];
  return [`Every ${who}${is("anonymous") ? "" : " with a user"} may ${what}.`];
}
