import type { ChannelConfig, ChannelOptions } from "../../config/config.ts";
import { checkNeeds, readOptions } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";

declare module "../../config/config.ts" {
  interface ChannelOptions {
    /** Present if the publications of the channels can be edited and deleted (rules ED). */
    readonly changes?: ChangeOptions;
  }
}

/** How the publications of a namespace's channels may be changed. */
interface ChangeOptions {
  /** Whether clients may change publications of their own users. */
  readonly ownForClient: boolean;
  /** For how long after the publication, ms; 0: as long as it is kept. */
  readonly windowMs: number;
  /** Whether homes know the channels to which a user has published (rule ED18). */
  readonly erasableByUser: boolean;
}

/** The options about changes of publications, as a namespace has them. */
export const changeOptions = {
  /**
   * Publications can be [edited and deleted](changes.md); needs history, and channels of the type `stream`.
   */
  allow_change: { is: "boolean", own: true },
  /** A client may edit and delete what clients of its user have published, where it may publish. */
  allow_change_own_for_client: { is: "boolean", own: true, needs: "allow_change" },
  /**
   * How long after a publication a client may change it, if it is of its own user.
   *
   * @default as long as it is kept
   */
  change_window: { is: "duration", own: true, needs: "allow_change_own_for_client" },
  /**
   * `forget_user` with `publications` [finds the channels](erasure.md#forget-a-user) to which a user has published. It costs four
   * rows for each user and channel, once.
   */
  erasable_by_user: { is: "boolean", own: true, needs: "allow_change" },
} as const satisfies Options;

/** Reads them. @param namespace receives the problems */
export function readChanges(namespace: Section): Partial<ChannelOptions> {
  const read = readOptions(namespace, changeOptions);
  checkNeeds(namespace, changeOptions, read);
  const { allowChange, allowChangeOwnForClient: ownForClient, changeWindowMs: windowMs } = read;
  const { erasableByUser } = read;
  return allowChange ? { changes: { ownForClient, windowMs, erasableByUser } } : {};
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
