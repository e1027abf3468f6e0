import type { ChannelConfig, ChannelOptions } from "../../config/config.ts";
import { readBoolean, readChoice, readWholeNumber } from "../../config/fields.ts";
import type { Section } from "../../config/section.ts";
import type { FilterNode } from "../../protocol/command.ts";
import { parseServerFilter } from "../../protocol/json/server-filter.ts";
import { isJsonObject } from "../../protocol/wire-value.ts";
import { cursorLimits } from "./limits.ts";

declare module "../../config/config.ts" {
  interface ChannelOptions {
    /** Present if the channels keep what each user has got and read (rules CU). */
    readonly cursors?: CursorOptions;
  }
}

/** The options `cursors` of a namespace. */
export interface CursorOptions {
  /**
   * Where a user is who has never marked anything: before the first publication, at the newest one, or where the user's
   * first subscription began.
   */
  readonly unreadFrom: "all" | "none" | "subscribed";
  /** Who the users are to whom publications are addressed: those who ever subscribed, those who are named, or nobody. */
  readonly audience: "none" | "subscribed" | "named";
  /** The largest number of unread publications that is told. */
  readonly unreadMax: number;
  /** Which publications count as unread, by their tags; absent for all. */
  readonly unreadFilter?: FilterNode;
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
  const cursors: CursorOptions = {
    unreadFrom: readChoice(section, "unread_from", { choices: ["all", "none", "subscribed"] }),
    audience: readChoice(section, "audience", { choices: ["none", "subscribed", "named"] }),
    unreadMax: readWholeNumber(section, "unread_max", {
      default: cursorLimits.unreadMax,
      min: 1,
      max: cursorLimits.unreadMax,
    }),
    ...(unreadFilter && { unreadFilter }),
  };
  section.refuseOthers({});
  return isEnabled ? { cursors } : {};
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
 * Reports cursors of channels that have no offsets, or whose offsets number changes of keys.
 *
 * @param sections of the namespaces, by their names; "" for channels without one
 */
export function checkCursors(
  sections: ReadonlyMap<string, Section>,
  { withoutNamespace, namespaces }: ChannelConfig,
): void {
  for (const [name, section] of sections) {
    const options = name === "" ? withoutNamespace : namespaces.get(name);
    if (options?.cursors === undefined) continue;
    const { historySize, historyTtlMs, subscriptionType } = options;
    if (subscriptionType !== "stream")
      section.problem("cursors.enabled", `is not for subscription_type "${subscriptionType}"`);
    else if (historySize === 0 || historyTtlMs === 0)
      section.problem("cursors.enabled", "requires history: set history_size and history_ttl");
  }
}
