import type { ChannelConfig, ChannelOptions } from "../../config/config.ts";
import { readOptions } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";

declare module "../../config/config.ts" {
  interface ChannelOptions {
    /** Present if the publications of the channels can be edited and deleted (rules ED). */
    readonly changes?: ChangeOptions;
  }
}

/** How the publications of a namespace's channels may be changed. */
type ChangeOptions = Readonly<Record<string, never>>;

/** The options about changes of publications, as a namespace has them. */
export const changeOptions = {
  /**
   * Publications can be [edited and deleted](changes.md); needs history, and channels of the type `stream`.
   */
  allow_change: { is: "boolean", own: true },
} as const satisfies Options;

/** Reads them. @param namespace receives the problems */
export function readChanges(namespace: Section): Partial<ChannelOptions> {
  const { allowChange } = readOptions(namespace, changeOptions);
  return allowChange ? { changes: {} } : {};
}

/**
 * Reports changes in channels whose publications aren't kept, or are changes of keys.
 *
 * @param sections of the namespaces, by their names; "" for channels without one
 */
export function checkChanges(
  sections: ReadonlyMap<string, Section>,
  { withoutNamespace, namespaces }: ChannelConfig,
): void {
  for (const [name, section] of sections) {
    const options = name === "" ? withoutNamespace : namespaces.get(name);
    if (options?.changes === undefined) continue;
    const { historySize, historyTtlMs, subscriptionType } = options;
    if (subscriptionType !== "stream")
      section.problem("allow_change", `is not for subscription_type "${subscriptionType}"`);
    else if (historySize === 0 || historyTtlMs === 0)
      section.problem("allow_change", "requires history: set history_size and history_ttl");
  }
}
