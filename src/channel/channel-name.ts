import type { ChannelConfig, ChannelOptions } from "../config/config.ts";
import { partsOf } from "../config/name-parts.ts";
import { nearestName, printableName } from "../config/section.ts";
import { utf8Fits } from "../protocol/bytes.ts";

/** The outcome of resolving a channel name: the options that apply, and who may subscribe (docs/protocol.md 5.4). */
export type ResolvedChannel =
  | {
      readonly outcome: "resolved";
      readonly options: ChannelOptions;
      /** The name begins with the private prefix: clients need a subscription token (rule A5). */
      readonly private: boolean;
      /** The users that the channel is limited to; absent if it isn't user-limited (rule A5). */
      readonly users?: readonly string[];
    }
  | { readonly outcome: "unknown-namespace" }
  | { readonly outcome: "bad-name"; readonly reason: string };

/** A name that stands for a channel. */
export type KnownChannel = Extract<ResolvedChannel, { readonly outcome: "resolved" }>;

/**
 * Resolves a channel name against the configuration.
 *
 * @param name any text; the empty name is a bad one
 */
export function resolveChannel(name: string, config: ChannelConfig): ResolvedChannel {
  if (name === "") return { outcome: "bad-name", reason: "the channel name is empty" };
  if (!utf8Fits(name, config.maxLengthBytes)) {
    return {
      outcome: "bad-name",
      reason: `the channel name is over ${config.maxLengthBytes} bytes`,
    };
  }
  const { isPrivate, namespace, rest } = partsOf(name, config);
  const options =
    namespace === undefined ? config.withoutNamespace : config.namespaces.get(namespace);
  if (options === undefined) return { outcome: "unknown-namespace" };
  if (options.channelRegex === undefined ? !isAscii(name) : !options.channelRegex.test(rest)) {
    return { outcome: "bad-name", reason: "the channel name has a character that is not allowed" };
  }
  const users = options.allowUserLimitedChannels ? limitedTo(name, config) : undefined;
  return {
    outcome: "resolved",
    options,
    private: isPrivate,
    ...(users === undefined ? {} : { users }),
  };
}

/** Why a channel is unknown: the namespace that its name has, and the configured one that was probably meant. */
export function unknownNamespace(name: string, config: ChannelConfig): string {
  const { namespace = "" } = partsOf(name, config);
  const nearest = nearestName(namespace, config.namespaces.keys());
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return `channel.namespaces doesn't have ${printableName(namespace)}${hint}`;
}

/** A channel's namespace, as the label of a series; "" without one. */
export function namespaceLabel(channel: string, config: ChannelConfig): string {
  return partsOf(channel, config).namespace ?? "";
}

/**
 * Resolves a channel name for a connection of an object that serves one channel: another channel is unknown there
 * (rule C6).
 *
 * @param only the channel that the object serves; undefined if it serves any
 */
export function resolveServedChannel(
  name: string,
  config: ChannelConfig,
  only: string | undefined,
): ResolvedChannel {
  const resolved = resolveChannel(name, config);
  const isAnother = only !== undefined && name !== only;
  return resolved.outcome === "resolved" && isAnother ? { outcome: "unknown-namespace" } : resolved;
}

function limitedTo(name: string, config: ChannelConfig): readonly string[] | undefined {
  if (config.userBoundary === "") return undefined;
  const boundary = name.lastIndexOf(config.userBoundary);
  if (boundary < 0) return undefined;
  const list = name.slice(boundary + config.userBoundary.length);
  return config.userSeparator === "" ? [list] : list.split(config.userSeparator);
}

/** Centrifugo's test for a name in a namespace without `channel_regex`: ASCII characters only, printable or not. */
function isAscii(name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if (name.charCodeAt(index) > 127) return false;
  }
  return true;
}
