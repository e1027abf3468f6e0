import type { SubscriberPlan } from "./clients/plan.ts";
import type { ProvedChannel } from "./scenario.ts";

/** A channel of the proof that keeps what its users have got and read. */
export interface ProvedCursors {
  readonly channel: string;
  /** The map that shows what its users have read. */
  readonly receipts: string;
  readonly audience: "subscribed" | "named";
  /** The users about whom a backend asks. */
  readonly users: readonly string[];
  /** Those whom a backend makes members. */
  readonly named: readonly string[];
}

/** Only readers subscribe to them, each of whom is a member of the one audience by subscribing. */
export const cursorChannels: readonly ProvedChannel[] = ["read:a", "read:b", "named:a"].map(
  (name) => ({
    name,
    recovery: "stream",
    load: "slow",
    recoverable: 5_000,
    own: 0,
    gateways: 0,
  }),
);

/** Gus has no client. */
export const provedCursors: readonly ProvedCursors[] = [
  {
    channel: "read:a",
    receipts: "seen:read:a",
    audience: "subscribed",
    users: ["ann", "ben", "dan", "eve", "fay"],
    named: [],
  },
  {
    channel: "read:b",
    receipts: "seen:read:b",
    audience: "subscribed",
    users: ["ann", "ben", "cat", "eve"],
    named: [],
  },
  {
    channel: "named:a",
    receipts: "known:named:a",
    audience: "named",
    users: ["ann", "dan", "eve", "fay", "gus"],
    named: ["ann", "eve", "fay", "gus"],
  },
];

/** Users whose marks a backend sets, too: one of them has no client that marks. */
export const markedUsers: readonly string[] = ["ann", "dan"];

/**
 * Users whom a backend alone marks, once on each channel, when the faults are over: the first one is forgotten then, the next
 * one is marked right after the channel's object has lost its memory, and the last one after that.
 */
export const lastUsers = { forgotten: "hal", afterWaking: "ida", later: "jon" } as const;

const all = ["read:a", "read:b", "named:a"];

/**
 * Most users have a client on a gateway and one on a channel's own address. Of some users no client marks, so that pings alone
 * prove what has arrived. Two users leave early: one comes back in the end, and one doesn't. All but one of the clients on
 * gateways follow the receipts of their channels.
 */
export function readingSubscribers(): readonly SubscriberPlan[] {
  return [
    following(atGateway("ann-1", all, { user: "ann", everyMs: 700 })),
    atChannel("ann-2", "read:a", { user: "ann" }),
    atGateway("ben-1", ["read:a", "read:b"], { user: "ben" }),
    publishing(atChannel("ben-2", "read:a", { user: "ben" })),
    following(atGateway("cat-1", ["read:b"], { user: "cat" })),
    publishing(atChannel("cat-2", "read:b", { user: "cat", everyMs: 900 })),
    following(atGateway("dan-1", ["named:a"], { user: "dan" })),
    atChannel("dan-2", "read:a", { user: "dan" }),
    following(atGateway("eve-1", all, { user: "eve", everyMs: 400, leaves: "for a while" })),
    following(atGateway("fay-1", ["read:a", "named:a"], { user: "fay", leaves: "for good" })),
  ];
}

function atGateway(
  process: string,
  channels: readonly string[],
  reads: NonNullable<SubscriberPlan["reads"]>,
): SubscriberPlan {
  return { process, kind: "reader", endpoint: "gateway", channels, reads };
}

function atChannel(
  process: string,
  channel: string,
  reads: NonNullable<SubscriberPlan["reads"]>,
): SubscriberPlan {
  return { process, kind: "reader", endpoint: "channel", channels: [channel], reads };
}

function following(plan: SubscriberPlan): SubscriberPlan {
  return {
    ...plan,
    follows: provedCursors.filter(({ channel }) => plan.channels.includes(channel)),
  };
}

function publishing(plan: SubscriberPlan): SubscriberPlan {
  const [channel = ""] = plan.channels;
  return { ...plan, publishes: { channel, everyMs: 900 } };
}

/** After how long a backend is told of what a member hasn't seen: there is a ping, and mostly its answer. */
export const notifyAfterMs = 4_000;
/** The default of `cursors.unread_max`. */
export const unreadMax = 1_000;

/** The options of the namespaces of these channels, by name. */
export const cursorNamespaces = {
  read: namespaceOf("subscribed", "seen:"),
  named: namespaceOf("named", "known:"),
} as const;

/**
 * How long the keys of receipts live, by namespace. The ones are counted twice within it. The others are counted only when
 * somebody comes, or when their channel's object says that it has lost its memory.
 */
export const receiptsTtl = { seen: "10s", known: "1h" } as const;

function namespaceOf(audience: ProvedCursors["audience"], receiptsPrefix: string): object {
  const cursors = {
    enabled: true,
    audience,
    notify_after: `${notifyAfterMs}ms`,
    notify_seen: true,
    receipts: "subscriber",
    receipts_channel_prefix: receiptsPrefix,
  };
  return { history_size: 10_000, allow_publish_for_subscriber: true, cursors };
}
