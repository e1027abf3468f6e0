import { resolveChannel } from "../../../channel/channel-name.ts";
import { type ChannelConfig, type ChannelOptions, everyOptions } from "../../../config/config.ts";
import { partsOf } from "../../../config/name-parts.ts";
import type { Section } from "../../../config/section.ts";

/** How mirrors of one kind are named: an option of the source's namespace has the prefix of their names (rule Z36). */
export interface MirrorPrefix {
  /** The option's key, below the namespace. */
  readonly option: string;
  /** The `subscription_type` of the mirrors. */
  readonly type: ChannelOptions["subscriptionType"];
  /** The prefix; undefined if channels with these options have no such mirror. */
  readonly of: (options: ChannelOptions) => string | undefined;
}

/**
 * The mirror of a channel. A prefix may make a name that is too long, or that has no namespace. Then nobody can look at
 * such a map, and nothing is reported.
 */
export function mirrorOf(
  name: string,
  { of, type }: MirrorPrefix,
  config: ChannelConfig,
): string | undefined {
  const found = resolveChannel(name, config);
  const prefix = found.outcome === "resolved" ? of(found.options) : undefined;
  if (prefix === undefined) return undefined;
  return typeOf(prefix + name, config) === type ? prefix + name : undefined;
}

/** The channel that a mirror shows; undefined if the channel isn't one of that kind, or shows no channel. */
export function sourceOf(
  name: string,
  { of, type }: MirrorPrefix,
  config: ChannelConfig,
): string | undefined {
  if (typeOf(name, config) !== type) return undefined;
  for (const options of everyOptions(config)) {
    const prefix = of(options);
    if (prefix === undefined || !name.startsWith(prefix)) continue;
    const source = name.slice(prefix.length);
    const shown = resolveChannel(source, config);
    if (shown.outcome === "resolved" && of(shown.options) === prefix) return source;
  }
  return undefined;
}

function typeOf(
  name: string,
  config: ChannelConfig,
): ChannelOptions["subscriptionType"] | undefined {
  const found = resolveChannel(name, config);
  return found.outcome === "resolved" ? found.options.subscriptionType : undefined;
}

/**
 * Reports prefixes that don't lead to channels of the right type, and prefixes that begin with another one: a mirror's
 * name has to identify its channel.
 *
 * @param sections of the namespaces, by their names; "" for channels without one
 * @param what     the mirrors in a sentence, such as `presence map`
 */
export function checkMirrorPrefixes(
  sections: ReadonlyMap<string, Section>,
  channel: ChannelConfig,
  prefixes: readonly MirrorPrefix[],
  what: string,
): void {
  const optionsOf = (name: string): ChannelOptions | undefined =>
    name === "" ? channel.withoutNamespace : channel.namespaces.get(name);
  const given = [...sections].flatMap(([name, section]) =>
    prefixes.flatMap(({ option, type, of }) => {
      const options = optionsOf(name);
      const prefix = options && of(options);
      return prefix === undefined ? [] : [{ name, section, option, type, prefix }];
    }),
  );
  const known: string[] = [];
  for (const { name, section, option, type, prefix } of given) {
    const example = name === "" ? prefix : prefix + name + channel.namespaceBoundary;
    const target = partsOf(example, channel).namespace ?? "";
    if (optionsOf(target)?.subscriptionType === type) known.push(prefix);
    else
      section.wrongValue(option, prefix, `leads to no namespace with subscription_type "${type}"`);
  }
  for (const { section, option, prefix } of given) {
    if (known.some((other) => other !== prefix && prefix.startsWith(other)))
      section.wrongValue(option, prefix, `begins with the prefix of another ${what}`);
  }
}
