/**
 * Sentences about the configuration, as it concerns clients. The functions by which sessions act say who may do what; a
 * test tries each sentence with sessions (rule N29).
 */
import { mayMark, maySeeMarks } from "../../src/features/cursors/may.ts";
import { mayCallProcedures } from "../../src/features/procedures/may.ts";
import { mayAppend, mayRemoveKey, maySetKey } from "../../src/features/maps/may.ts";
import {
  type AskedChannel,
  hasHistory,
  mayHearJoins,
  mayPublish,
  mayReadHistory,
  maySeePresence,
  maySubscribe,
} from "../../src/session/may.ts";
import type { NamespaceSettings, Settings, ShownOptions } from "./answers.ts";
import { isMirror } from "./channel-questions.ts";
import { mirrorSentences, shownBySentences } from "./mirror-sentences.ts";
import { duration, listed, newest, whole } from "./text.ts";
import {
  byCapability,
  type Deed,
  forSubscribersOnly,
  isForKept,
  sentenceOf,
  whichSubscribersMay,
  whyNobody,
} from "./who-may.ts";

/** What holds in all namespaces. */
export function generalSentences({ private_prefix: prefix }: Settings): readonly string[] {
  return [
    "A subscription token lets its client subscribe to its channel, whatever the namespace says, but for receipts that the client may not see.",
    "Backends and connection tokens may subscribe clients to any channel.",
    ...(prefix === ""
      ? []
      : [
          `To a channel whose name begins with “${prefix}”, nothing but these lets a client subscribe.`,
        ]),
  ];
}

/** What clients may do in a namespace. */
export function sentencesOf(namespace: NamespaceSettings, settings: Settings): readonly string[] {
  const { options } = namespace;
  const plain = { options, private: false };
  return [
    ...typeOf(namespace),
    ...mirrorSentences(namespace, settings),
    sentenceOf(subscribing(plain, settings)),
    ...limitedChannels(namespace, settings),
    ...changing(plain),
    sentenceOf(seeing(plain)),
    ...joins(options),
    ...shownBySentences(namespace, settings),
    ...history(namespace),
    ...recovery(namespace, settings),
    ...cursors(plain),
    ...calling(plain).map((deed) => sentenceOf(deed)),
    ...capabilities(plain, settings),
    ...closed(options, settings),
  ];
}

/** A channel of a namespace. */
type Channel = AskedChannel<ShownOptions>;

/** What the channels are, where they aren't streams. */
function typeOf({ type, options: { map, sharedPoll } }: NamespaceSettings): readonly string[] {
  if (type === "shared_poll") {
    const interval = duration(sharedPoll?.refreshIntervalMs ?? 0);
    return [
      `Each channel is a shared poll: a backend is asked for the values of all keys that clients track, every ${interval}.`,
      "Whoever may subscribe tracks the keys for which it has a signature of a backend.",
    ];
  }
  if (type !== "map" || map === undefined) return [];
  const keyTtl = duration(map.keyTtlMs);
  switch (map.mode) {
    case "ephemeral":
      return [
        `Each channel is a map, which is in memory. A key ends ${keyTtl} after its last change.`,
      ];
    case "recoverable":
      return [
        `Each channel is a map, which is stored. A key ends ${keyTtl} after its last change.`,
      ];
    case "persistent":
      return ["Each channel is a map, which is stored. A key stays until it is removed."];
  }
}

function subscribing(channel: Channel, { private_prefix: privatePrefix }: Settings): Deed {
  return {
    what: "subscribe",
    asked: "subscribe without a subscription token",
    none: "subscribe by themselves",
    ask: (caller) => maySubscribe(channel, caller, { privatePrefix }),
  };
}

function limitedChannels(
  { name, options }: NamespaceSettings,
  { namespace_boundary: boundary, user_boundary: separator }: Settings,
): readonly string[] {
  const example = `${name === "" ? "" : name + boundary}${separator}42`;
  return options.allowUserLimitedChannels && separator !== ""
    ? [
        `To a channel whose name ends with users, such as ${example}, only these may subscribe, without a token.`,
      ]
    : [];
}

const publishing = (channel: Channel): Deed => ({
  what: "publish",
  ask: (caller) => mayPublish(channel, caller),
});

function changingKeys(channel: Channel): readonly Deed[] {
  const key = ownKeys[channel.options.map?.clientKey ?? ""];
  return [
    { what: `set ${key}`, none: "set keys", ask: (caller) => maySetKey(channel, caller) },
    { what: `remove ${key}`, none: "remove keys", ask: (caller) => mayRemoveKey(channel, caller) },
    {
      what: "append to the text of a key",
      none: "append to the text of keys",
      ask: (caller) => mayAppend(channel, caller),
    },
  ];
}

/** The keys that clients of a map change, by `map.client_key`. */
const ownKeys = {
  "": "keys",
  client_id: "one key, the ID of its connection",
  user_id: "one key, the ID of its user",
};

const seeing = (channel: Channel): Deed => ({
  what: "see who is here",
  ask: (caller) => maySeePresence(channel, caller),
});

const reading = (channel: Channel): Deed => ({
  what: "read the history",
  ask: (caller) => mayReadHistory(channel, caller),
});

function marking(channel: Channel): readonly Deed[] {
  return channel.options.cursors === undefined
    ? []
    : [
        {
          what: "mark what it has read, and ask what is unread",
          none: "mark what they have read",
          ask: (caller) => mayMark(channel, caller),
        },
        { what: "see what others have read", ask: (caller) => maySeeMarks(channel, caller) },
      ];
}

function calling(channel: Channel): readonly Deed[] {
  return channel.options.code === undefined
    ? []
    : [
        {
          what: "call procedures of the channel's code",
          none: "call procedures",
          ask: (caller) => mayCallProcedures(channel, caller),
        },
      ];
}

/** All that clients may do on a channel to which they needn't be subscribed. */
function deedsOn(channel: Channel): readonly Deed[] {
  const isMap = channel.options.map !== undefined;
  return [
    ...(isMap ? changingKeys(channel) : [publishing(channel)]),
    seeing(channel),
    reading(channel),
    ...marking(channel),
    ...calling(channel),
  ];
}

/** The sentences about publishing, or about changing the keys of a map. */
function changing(channel: Channel): readonly string[] {
  const { map, sharedPoll } = channel.options;
  if (map === undefined) {
    const byBackend = sharedPoll?.publishEnabled === true ? ", which may also publish them" : "";
    return [
      sentenceOf(publishing(channel)),
      ...(sharedPoll ? [`The values come from the backend${byBackend}.`] : []),
    ];
  }
  if (isMirror({ type: channel.options.subscriptionType })) {
    const why = new Set(changingKeys(channel).map(({ ask }) => whyNobody(ask)));
    return [`Clients may not change keys, which the server alone does: ${[...why].join(", ")}.`];
  }
  return [
    ...changingKeys(channel).map((deed) => sentenceOf(deed)),
    ...(map.removeClientOnUnsubscribe
      ? ["The key that is the ID of a connection is removed when its subscription ends."]
      : []),
  ];
}

const hearing = (channel: Channel): Deed => ({
  what: "hear who joins and leaves",
  ask: (caller) => mayHearJoins(channel, caller),
});

/** The sentences about joins and leaves of others. */
function joins(options: ShownOptions): readonly string[] {
  if (!options.joinLeave) return [];
  if (options.forcePushJoinLeave) return ["Every subscriber hears who joins and leaves."];
  const { ask } = hearing({ options, private: false });
  const who = whichSubscribersMay(ask);
  return [
    who === undefined
      ? `Subscribers may not hear who joins and leaves: ${whyNobody(ask)}.`
      : `Every ${who} that asks for it hears who joins and leaves.`,
  ];
}

function history({ type, options }: NamespaceSettings): readonly string[] {
  const may = sentenceOf(reading({ options, private: false }));
  if (!hasHistory(options)) return [may];
  const size = options.historySize;
  const what = type === "map" ? "change" : "publication";
  const ttl = duration(options.historyTtlMs);
  return [
    `The ${newest(size, what)} ${size === 1 ? "is" : "are"} kept, for ${ttl} after the last one.`,
    may,
  ];
}

/** What a client gets that was away. */
function recovery(
  { options }: NamespaceSettings,
  { recovery_max: max }: Settings,
): readonly string[] {
  if (options.map !== undefined)
    return [
      hasHistory(options)
        ? "A client that was away gets the changes that it missed, or reads the map anew where they aren't kept any more."
        : "A client that was away reads the map anew.",
    ];
  if (!hasHistory(options)) return [];
  const isForced = options.forceRecovery;
  const isCache = options.recoveryMode === "cache";
  const who = isForced
    ? "A client that was away"
    : options.allowRecovery
      ? "A client that was away, and has asked for recovery,"
      : "A client that was away, may read the history, and has asked for recovery,";
  const gets = isCache
    ? "gets the newest publication"
    : `recovers up to ${whole(max)} missed publications`;
  const first =
    isCache && options.autoCacheRecover && isForced
      ? ["A client that subscribes for the first time gets the newest publication as well."]
      : [];
  return [`${who} ${gets}.`, ...first];
}

function cursors(channel: Channel): readonly string[] {
  const deeds = marking(channel);
  if (deeds.length === 0) return [];
  const isForOthers = [false, true].some((isPrivate) =>
    isForKept((caller) => mayMark({ ...channel, private: isPrivate }, caller)),
  );
  return [
    "The server keeps how far each user has read. A client marks and asks for its own user only.",
    ...deeds.map((deed) => sentenceOf(deed)),
    ...(isForOthers
      ? ["Another client with a user may mark once the channel keeps something of that user."]
      : []),
  ];
}

/** The sentences about capabilities. */
function capabilities(channel: Channel, settings: Settings): readonly string[] {
  const { joinLeave, forcePushJoinLeave } = channel.options;
  const hears = joinLeave && !forcePushJoinLeave ? [hearing(channel)] : [];
  const added = byCapability([subscribing(channel, settings), ...deedsOn(channel), ...hears]);
  return added.length === 0
    ? []
    : [`The capabilities of a token let its client do more: ${added.join("; ")}.`];
}

/** The sentences about channels that are limited by their names. */
function closed(options: ShownOptions, settings: Settings): readonly string[] {
  const hasUsers = options.allowUserLimitedChannels && settings.user_boundary !== "";
  if (settings.private_prefix === "" && !hasUsers) return [];
  const onLimited = deedsOn({ options, private: true });
  const only = forSubscribersOnly(deedsOn({ options, private: false }), onLimited);
  return only.length === 0
    ? []
    : [
        `In private channels, and in those that are limited to users, only subscribers may ${listed(only)}.`,
      ];
}
