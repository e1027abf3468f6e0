import type { ChannelOptions } from "./config.ts";
import type { Section } from "./section.ts";

/**
 * Reports options of one namespace that don't go together: the operator expects something that would silently not
 * happen. A key whose own value is bad has been reported already and causes no complaint here.
 *
 * @param section where the options stand; takes the problems
 * @param metaTtlOwner the section that `options.historyMetaTtlMs` comes from: the same one, or `channel`
 */
export function checkChannelOptions(
  options: ChannelOptions,
  section: Section,
  metaTtlOwner: Section,
): void {
  if (options.forcePushJoinLeave && !options.joinLeave && section.isSound("join_leave")) {
    section.problem("force_push_join_leave", "needs join_leave");
  }
  const cacheMissing = options.recoveryMode !== "cache" && section.isSound("force_recovery_mode");
  if (options.autoCacheRecover && cacheMissing) {
    section.problem("auto_cache_recover", 'needs force_recovery_mode "cache"');
  }
  if (options.deltaPublish && !options.allowDelta && section.isSound("allowed_delta_types")) {
    section.problem("delta_publish", "needs allowed_delta_types");
  }
  if (!section.isSound("history_size") || !section.isSound("history_ttl")) return;
  checkHistoryUsers(options, section);
  if (options.historySize > 0 && options.historyTtlMs === 0) {
    section.problem("history_size", "needs history_ttl");
  }
  if (options.historyTtlMs > 0 && options.historySize === 0) {
    section.problem("history_ttl", "needs history_size");
  }
  if (!section.isSound("history_meta_ttl") || !metaTtlOwner.isSound("history_meta_ttl")) return;
  // A position must outlive what it points at, or a client that comes back is told of a loss that never was.
  if (options.historyMetaTtlMs < options.historyTtlMs) {
    section.problem("history_ttl", `is longer than ${metaTtlOwner.pathOf("history_meta_ttl")}`);
  }
}

/**
 * A position is one in the history: without one there is nothing to be positioned in or to recover from, and only who is
 * positioned is sent patches.
 */
function checkHistoryUsers(options: ChannelOptions, section: Section): void {
  if (options.historySize > 0 && options.historyTtlMs > 0) return;
  const users = [
    ["force_positioning", options.forcePositioning],
    ["allow_positioning", options.allowPositioning],
    ["force_recovery", options.forceRecovery],
    ["allow_recovery", options.allowRecovery],
    ["force_recovery_mode", options.recoveryMode === "cache"],
    ["allowed_delta_types", options.allowDelta],
    ["delta_publish", options.deltaPublish],
  ] as const;
  for (const [name, used] of users) {
    if (used) section.problem(name, "needs history: set history_size and history_ttl");
  }
}
