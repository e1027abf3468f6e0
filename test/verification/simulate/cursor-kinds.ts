/** The channels of a world that keep what their users have got and read: one namespace for each name. */
import { namespaceOf } from "./namespace-of.ts";

/** `mark:` has a long history, `short:` a short one that counts some publications, `newest:` cache recovery. */
export const cursorKinds = ["mark:a", "short:b", "newest:c"];

/** Those of the plans in which a backend names audiences and has users forgotten: `named:` has an audience that it names. */
export const audienceKinds = ["mark:a", "named:d"];

/** A channel with its receipts. */
export const receiptKinds = ["seen:e", "receipts:seen:e"] as const;

/** Whether a channel keeps what its users have got and read. */
export function hasCursors(channel: string): boolean {
  return [...cursorKinds, ...audienceKinds, receiptKinds[0]].some(
    (kind) => namespaceOf(kind) === namespaceOf(channel),
  );
}

/** The channel whose receipts this one is; undefined if it is none. */
export function receiptsOf(channel: string): string | undefined {
  return channel.startsWith(receiptsPrefix) ? channel.slice(receiptsPrefix.length) : undefined;
}

/** Whether a backend is told what a channel's audience hasn't seen. */
export function hasAudience(channel: string): boolean {
  return audienceKinds.some((kind) => namespaceOf(kind) === namespaceOf(channel));
}

/** Whether the channel's audience are those whom a backend names. */
export function isNamed(channel: string): boolean {
  return namespaceOf(channel) === "named";
}

/** From this number of unread publications on, a channel tells this number. */
export function unreadMaxOf(channel: string): number {
  return namespaceOf(channel) === "short" ? shortUnreadMax : 1_000;
}

/** The tags of a backend's publication; absent where they mean nothing. */
export function tagsOf(
  channel: string,
  data: string,
): { readonly tags?: { readonly kind: string } } {
  if (namespaceOf(channel) !== "short") return {};
  return { tags: { kind: /[02468]\.*"?$/.test(data) ? "notice" : "message" } };
}

/**
 * Whether a publication counts as unread for users who haven't published it. On `short:` the even ones of a backend do.
 */
export function countsAsUnread(channel: string, data: string): boolean {
  return namespaceOf(channel) !== "short" || (/^"?api-/.test(data) && !isMessage(channel, data));
}

function isMessage(channel: string, data: string): boolean {
  return tagsOf(channel, data).tags?.kind === "message";
}

const shortUnreadMax = 3;

const receiptsPrefix = "receipts:";

const open = {
  presence: true,
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  allow_presence_for_client: true,
  force_recovery: true,
};

const long = { history_ttl: "1h", history_meta_ttl: "24h" };

/** After how long a backend is told that a member of an audience hasn't seen a publication, ms. */
export const notifyAfterMs = 30_000;

/** For how much longer publications are gathered that are told of together, ms. */
export const togetherMs = 3_000;

/** What a backend is told of. */
export const cursorEvents = {
  target: "queue:EVENTS",
  types: ["unseen", "seen"],
  namespaces: ["mark", "named"],
};

const notify = { enabled: true, notify_after: `${notifyAfterMs}ms`, notify_seen: true };

/** How the configuration describes them. */
export const cursorNamespaces: readonly object[] = [
  {
    ...open,
    ...long,
    name: "mark",
    history_size: 1_000,
    cursors: { ...notify, audience: "subscribed" },
  },
  {
    ...open,
    ...long,
    name: "named",
    history_size: 1_000,
    cursors: { ...notify, audience: "named" },
  },
  {
    ...open,
    ...long,
    name: "seen",
    history_size: 1_000,
    cursors: {
      enabled: true,
      receipts: "publisher",
      receipts_channel_prefix: receiptsPrefix,
    },
  },
  {
    name: "receipts",
    subscription_type: "map_receipts",
    presence: true,
    allow_subscribe_for_client: true,
    allow_presence_for_client: true,
    map: {
      mode: "ephemeral",
      key_ttl: "40s",
      min_page_size: 1,
      default_page_size: 2,
      max_page_size: 4,
    },
  },
  {
    ...open,
    name: "short",
    history_size: 4,
    history_ttl: "20s",
    history_meta_ttl: "40s",
    cursors: {
      enabled: true,
      unread_max: shortUnreadMax,
      unread_tags_filter: { key: "kind", cmp: "eq", val: "notice" },
    },
  },
  {
    ...open,
    ...long,
    name: "newest",
    history_size: 3,
    force_recovery_mode: "cache",
    cursors: { enabled: true, unread_from: "none" },
  },
];
