import type { ChannelConfig, ChannelOptions } from "../../config/config.ts";
import { checkNeeds, readOptions } from "../../config/fields.ts";
import type { Options, Values } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import type { FilterNode } from "../../protocol/command.ts";
import { parseServerFilter } from "../../protocol/json/decode.ts";
import { isJsonObject } from "../../protocol/wire-value.ts";
import type { EventsConfig } from "../events/config.ts";
import { cursorLimits } from "./limits.ts";

declare module "../../config/config.ts" {
  interface ChannelOptions {
    /** Present if the channels keep what each user has got and read (rules CU). */
    readonly cursors?: CursorOptions;
  }
}

/** The options `cursors` of a namespace. */
export interface CursorOptions extends Values<typeof readerOptions> {
  /** Which publications count as unread, by their tags; absent for all. */
  readonly unreadFilter?: FilterNode;
  /** The notices to a backend about publications that members haven't seen; absent if it gets none. */
  readonly notify?: NotifyOptions;
}

/** The notices to a backend: which publications, and when (rules CU23 to CU26). */
export interface NotifyOptions {
  /** How old a publication is then at least, in ms. */
  readonly afterMs: number;
  /** What counts as seen: what has arrived or is read, or only what is read. */
  readonly unless: "got" | "read";
  /** Whether a `seen` event follows when the member has caught up. */
  readonly seen: boolean;
}

/** How old the oldest publication that isn't judged becomes until it is judged, with those of the same burst, in ms. */
export function judgedAtAgeMs({ afterMs }: Pick<NotifyOptions, "afterMs">): number {
  return afterMs + Math.min(Math.floor(afterMs / 10), cursorLimits.judgedTogetherMsMax);
}

/** `cursors.*` of a namespace: which publications count, and the notices to a backend. */
export const noticeOptions = {
  /** The channels keep how far each user has read. */
  enabled: { is: "boolean" },
  /**
   * Which publications count, by their tags, as a [tags filter](protocol.md#32-tags-filter):
   * `{ key = "kind", cmp = "eq", val = "message" }`; without it, all.
   */
  unread_tags_filter: { is: "filter", as: "unreadFilter", read: readFilter },
  /**
   * After how long a backend is told that members of the audience haven't seen a publication; with a tenth more, at most 5 s,
   * shorter than `history_ttl`; requires `audience`, and [`events`](configuration.md#events) with the type `unseen`.
   *
   * @default never
   */
  notify_after: {
    is: "duration",
    min: cursorLimits.notifyAfterMsMin,
    max: cursorLimits.notifyAfterMsMax,
  },
  /**
   * What counts as seen: `"got"`: what has arrived at a client of the user or is read; `"read"`: only what is read.
   */
  notify_unless: { is: "choice", of: ["got", "read"] },
  /** A `seen` event follows when they have seen it; requires the type `seen`. */
  notify_seen: { is: "boolean", needs: "notify_after" },
} as const satisfies Options;

/** `cursors.*` of a namespace: the users, and the marks that they and others see. */
export const readerOptions = {
  /**
   * With `"receipts:"`, the marks of `room:7` are the map `receipts:room:7`, whose namespace has
   * `subscription_type = "map_receipts"` (rule CU36).
   */
  receipts_channel_prefix: { is: "text", as: "receiptsPrefix", optional: true },
  /**
   * Where a user is who has marked nothing: `"all"`: before the first publication; `"none"`: at the newest one;
   * `"subscribed"`: where the user became a member of the audience, or else where the channel first had something to keep of
   * the user.
   */
  unread_from: { is: "choice", of: ["all", "none", "subscribed"] },
  /**
   * Who the users are to whom publications are addressed: `"subscribed"`: those who have ever subscribed; `"named"`: those
   * whom a backend names; `"none"`: nobody.
   */
  audience: { is: "choice", of: ["none", "subscribed", "named"] },
  /** The largest number of unread publications that is told. */
  unread_max: {
    is: "whole",
    default: cursorLimits.unreadMax,
    min: 1,
    max: cursorLimits.unreadMax,
  },
  /**
   * Which clients may see what others have read: `"subscriber"`: those that are subscribed to the channel; `"publisher"`:
   * those that may publish to it; `"backend"`: none (rule CU37).
   */
  receipts: { is: "choice", of: ["backend", "publisher", "subscriber"] },
} as const satisfies Options;

/**
 * Reads `cursors.*` of a namespace.
 *
 * @param namespace receives the problems
 */
export function readCursors(namespace: Section): Partial<ChannelOptions> {
  const section = namespace.section("cursors");
  const notice = readOptions(section, noticeOptions);
  checkNeeds(section, noticeOptions, notice);
  const { enabled, unreadFilter, notifyAfterMs, notifyUnless, notifySeen } = notice;
  const notify = { afterMs: notifyAfterMs, unless: notifyUnless, seen: notifySeen };
  const cursors: CursorOptions = {
    ...readOptions(section, readerOptions),
    ...(unreadFilter && { unreadFilter }),
    ...(notifyAfterMs > 0 && { notify }),
  };
  section.refuseOthers({});
  return enabled ? { cursors } : {};
}

function readFilter(section: Section, name: string): FilterNode | undefined {
  const value = section.take(name);
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) {
    section.wrongType(name, value, "a tags filter");
    return undefined;
  }
  const parsed = parseServerFilter({ server_tags_filter: value });
  if (parsed.outcome === "read") return parsed.serverFilter;
  section.problem(name, "is no valid tags filter");
  return undefined;
}

/**
 * Reports cursors of channels that have no offsets, or whose offsets number changes of keys, and those of which nobody
 * would be told.
 *
 * @param sections of the namespaces, by their names; "" for channels without one
 */
export function checkCursors(
  sections: ReadonlyMap<string, Section>,
  { withoutNamespace, namespaces }: ChannelConfig,
  events: EventsConfig | undefined,
): void {
  for (const [name, section] of sections) {
    const options = name === "" ? withoutNamespace : namespaces.get(name);
    if (options?.cursors === undefined) continue;
    const { historySize, historyTtlMs, subscriptionType } = options;
    if (subscriptionType !== "stream")
      section.problem("cursors.enabled", `is not for subscription_type "${subscriptionType}"`);
    else if (historySize === 0 || historyTtlMs === 0)
      section.problem("cursors.enabled", "requires history: set history_size and history_ttl");
    else checkNotify(section, name, options, events);
  }
}

/** Reports notices of which nobody would be told. @param namespace its name */
function checkNotify(
  section: Section,
  namespace: string,
  { cursors, historyTtlMs }: ChannelOptions,
  events: EventsConfig | undefined,
): void {
  const { notify, audience } = cursors ?? {};
  if (notify === undefined) return;
  const require = (isThere: boolean, key: string, what: string): void => {
    if (!isThere) section.problem(`cursors.${key}`, what);
  };
  require(audience !== "none", "notify_after", "requires cursors.audience");
  require(judgedAtAgeMs(notify) <
    historyTtlMs, "notify_after", "with a tenth of it, at most 5s, is not shorter than history_ttl");
  require(events?.types.has("unseen") ===
    true, "notify_after", 'requires events with "unseen" among their types');
  require(!notify.seen ||
    events?.types.has("seen") ===
      true, "notify_seen", 'requires events with "seen" among their types');
  require(events?.namespaces?.has(namespace) !==
    false, "notify_after", "requires the namespace among events.namespaces");
}
