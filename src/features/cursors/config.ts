import type { ChannelConfig, ChannelOptions, Config } from "../../config/config.ts";
import {
  readBoolean,
  readChoice,
  readDurationMs,
  readText,
  readWholeNumber,
} from "../../config/fields.ts";
import type { Section } from "../../config/section.ts";
import type { FilterNode } from "../../protocol/command.ts";
import { parseServerFilter } from "../../protocol/json/decode.ts";
import { isJsonObject } from "../../protocol/wire-value.ts";
import { cursorLimits } from "./limits.ts";

declare module "../../config/config.ts" {
  interface ChannelOptions {
    /** Present if the channels keep what each user has got and read (rules CU). */
    readonly cursors?: CursorOptions;
  }
}

type ToldConfig = NonNullable<Config["events"]>;

/** The options `cursors` of a namespace. */
export interface CursorOptions {
  /**
   * Where a user is who has never marked anything: before the first publication, at the newest one, or where the user's
   * first subscription began.
   */
  readonly unreadFrom: "all" | "none" | "subscribed";
  /** Who the users are to whom publications are addressed: those who ever subscribed, those who are named, or nobody. */
  readonly audience: "none" | "subscribed" | "named";
  /** Which clients may see what others have read: those that are subscribed, those that may publish, or none (rule CU37). */
  readonly receipts: "backend" | "publisher" | "subscriber";
  /** The prefix that makes a channel's name that of its receipts (rule CU36), which isn't ""; absent if there are none. */
  readonly receiptsPrefix?: string;
  /** The largest number of unread publications that is told. */
  readonly unreadMax: number;
  /** Which publications count as unread, by their tags; absent for all. */
  readonly unreadFilter?: FilterNode;
  /** When a backend is told what members haven't seen; absent if it isn't told. */
  readonly notify?: NotifyOptions;
}

/** What a backend is told of, and when (rules CU23 to CU26). */
export interface NotifyOptions {
  /** How old a publication is then at least, in ms. */
  readonly afterMs: number;
  /** What counts as seen: what has arrived or is read, or only what is read. */
  readonly unless: "got" | "read";
  /** Whether it is told, too, when a member has seen what was reported. */
  readonly seen: boolean;
}

/** How old the oldest publication that isn't judged becomes until it is judged, with those of the same burst, in ms. */
export function judgedAtAgeMs({ afterMs }: Pick<NotifyOptions, "afterMs">): number {
  return afterMs + Math.min(Math.floor(afterMs / 10), cursorLimits.judgedTogetherMsMax);
}

/**
 * Reads `cursors.*` of a namespace.
 *
 * @param namespace receives the problems
 */
export function readCursors(namespace: Section): Partial<ChannelOptions> {
  const section = namespace.section("cursors");
  const isEnabled = readBoolean(section, "enabled");
  const unreadFilter = readFilter(section);
  const notify = readNotify(section);
  const receiptsPrefix = readText(section, "receipts_channel_prefix", { default: "" });
  const cursors: CursorOptions = {
    unreadFrom: readChoice(section, "unread_from", { choices: ["all", "none", "subscribed"] }),
    audience: readChoice(section, "audience", { choices: ["none", "subscribed", "named"] }),
    unreadMax: readWholeNumber(section, "unread_max", {
      default: cursorLimits.unreadMax,
      min: 1,
      max: cursorLimits.unreadMax,
    }),
    receipts: readChoice(section, "receipts", {
      choices: ["backend", "publisher", "subscriber"],
    }),
    ...(receiptsPrefix !== "" && { receiptsPrefix }),
    ...(unreadFilter && { unreadFilter }),
    ...(notify && { notify }),
  };
  section.refuseOthers({});
  return isEnabled ? { cursors } : {};
}

function readNotify(section: Section): NotifyOptions | undefined {
  const notify: NotifyOptions = {
    afterMs: readDurationMs(section, "notify_after", {
      defaultMs: 0,
      minMs: cursorLimits.notifyAfterMsMin,
      maxMs: cursorLimits.notifyAfterMsMax,
    }),
    unless: readChoice(section, "notify_unless", { choices: ["got", "read"] }),
    seen: readBoolean(section, "notify_seen"),
  };
  if (notify.seen && notify.afterMs === 0 && section.isValid("notify_after"))
    section.problem("notify_seen", "requires notify_after");
  return notify.afterMs === 0 ? undefined : notify;
}

function readFilter(section: Section): FilterNode | undefined {
  const name = "unread_tags_filter";
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
  events: ToldConfig | undefined,
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
  events: ToldConfig | undefined,
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
