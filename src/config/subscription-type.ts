import type {
  ChannelBackends,
  ChannelFeatures,
  ChannelType,
  OptionsReader,
  UnfitOptions,
} from "./channel-features.ts";
import type { ChannelOptions, ChannelTypes } from "./config.ts";
import { readOption } from "./fields.ts";
import type { ChoiceOption } from "./option.ts";
import type { Section } from "./section.ts";

/** The type of a namespace's channels, with the options that it adds. */
interface ReadType {
  /** Undefined for streams. */
  readonly type: ChannelType | undefined;
  readonly options: Partial<ChannelOptions> & Pick<ChannelOptions, "subscriptionType">;
}

/**
 * Reads `subscription_type` and what belongs to it, such as the options `map.*` (docs/protocol.md 5.6). The options of
 * another type are left to whoever refuses unknown keys.
 *
 * @param section of the namespace; receives the problems
 */
export function readSubscriptionType(
  section: Section,
  { types, besideType }: ChannelFeatures,
  backends: ChannelBackends,
): ReadType {
  const choice = readOption(section, "subscription_type", subscriptionTypeOption(types));
  const beside = readAll(besideType, section, backends);
  if (!section.isValid("subscription_type")) {
    // The type is misspelt, so it isn't known which options belong to it.
    for (const one of types) section.take(one.section);
    return { type: undefined, options: { subscriptionType: "stream" } };
  }
  const type = types.find(({ name }) => name === choice);
  const options = type === undefined ? beside : type.read(section, beside, backends);
  return { type, options: { ...options, subscriptionType: type?.name ?? "stream" } };
}

/** `subscription_type` of a namespace. @param types beside streams */
export function subscriptionTypeOption(types: readonly Pick<ChannelType, "name">[]): TypeOption {
  return { is: "choice", of: ["", "stream", ...types.map(({ name }) => name)] };
}

export interface TypeOption extends ChoiceOption {
  readonly of: readonly ["", ...(keyof ChannelTypes)[]];
}

/** The options that several readers read. */
export function readAll(
  readers: readonly OptionsReader[],
  section: Section,
  backends: ChannelBackends,
): Partial<ChannelOptions> {
  const options: Partial<ChannelOptions> = {};
  for (const read of readers) Object.assign(options, read(section, backends));
  return options;
}

/**
 * Reports the options of streams that a namespace of another type has: they would have no effect.
 *
 * @param features the options as they were written, before the type's own stream
 * @param metaTtlMs the namespace's own `history_meta_ttl`; 0 for none
 * @param section of the namespace; receives the problems
 */
export function refuseStreamOptions(
  features: StreamFeatures,
  metaTtlMs: number,
  section: Section,
  { channels, history, recovery, allowedDeltas, deltaPublish, tags }: UnfitOptions,
): void {
  const given = [
    ["history_size", features.historySize > 0, history],
    ["history_ttl", features.historyTtlMs > 0, history],
    ["history_meta_ttl", metaTtlMs > 0, history],
    ["force_positioning", features.forcePositioning, recovery],
    ["allow_positioning", features.allowPositioning, recovery],
    ["force_recovery", features.forceRecovery, recovery],
    ["allow_recovery", features.allowRecovery, recovery],
    ["force_recovery_mode", features.recoveryMode === "cache", recovery],
    ["auto_cache_recover", features.autoCacheRecover, recovery],
    ["allowed_delta_types", features.allowDelta, allowedDeltas],
    ["delta_publish", features.deltaPublish, deltaPublish],
    ["allow_tags_filter", features.allowTagsFilter, tags],
  ] as const;
  for (const [name, isOn, reason] of given) {
    if (isOn && reason !== undefined) section.problem(name, `is not for ${channels}, ${reason}`);
  }
}

type StreamFeatures = Pick<
  ChannelOptions,
  | "historySize"
  | "historyTtlMs"
  | "forcePositioning"
  | "allowPositioning"
  | "forceRecovery"
  | "allowRecovery"
  | "recoveryMode"
  | "autoCacheRecover"
  | "allowDelta"
  | "deltaPublish"
  | "allowTagsFilter"
>;
