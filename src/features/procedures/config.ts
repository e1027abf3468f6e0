import type { ChannelConfig, ChannelOptions, Config } from "../../config/config.ts";
import { readOptions } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";
import type { Permission } from "../../session/may.ts";
import { type ChannelCode, parseChannelCode } from "./channel-code.ts";

declare module "../../config/config.ts" {
  interface ChannelOptions {
    /** The clients that may call procedures; absent if none may. */
    readonly calls?: Permission;
    /** The code of the channels; absent if they have none. It comes from the Worker's own code. */
    readonly code?: ChannelCode;
  }
}

/** The options of a namespace about calls of its channels' code. */
export const callOptions = {
  /** Clients may call the procedures of the channels' code ([procedures.md](procedures.md)). */
  allow_call_for_client: { is: "boolean", own: true },
  /** Subscribers of the channel may call them. */
  allow_call_for_subscriber: { is: "boolean", own: true },
  /** Anonymous clients may call them. */
  allow_call_for_anonymous: { is: "boolean", own: true },
} as const satisfies Options;

/** Reads the options of a namespace. @param namespace receives the problems */
export function readCalls(namespace: Section): Partial<ChannelOptions> {
  const { allowCallForClient, allowCallForSubscriber, allowCallForAnonymous } = readOptions(
    namespace,
    callOptions,
  );
  const calls = {
    client: allowCallForClient,
    subscriber: allowCallForSubscriber,
    anonymous: allowCallForAnonymous,
  };
  return Object.values(calls).includes(true) ? { calls } : {};
}

/** The option, opened to all clients (rule A11). */
export function openedCalls(): Partial<ChannelOptions> {
  return { calls: { client: true, subscriber: true, anonymous: true } };
}

/** A configuration whose channels have code, and the problems of that code. */
interface CodedConfig {
  readonly config: Config;
  readonly problems: readonly string[];
}

/**
 * Gives the namespaces of a configuration their code.
 *
 * @param definitions by the names of the namespaces, as any JavaScript may have made them; "" for channels without one
 */
export function withChannelCode(config: Config, definitions: object): CodedConfig {
  const problems: string[] = [];
  let { channel } = config;
  for (const [name, definition] of Object.entries(definitions)) {
    const place = name === "" ? 'channels[""]' : `channels.${name}`;
    const options = name === "" ? channel.withoutNamespace : channel.namespaces.get(name);
    const parsed = parseChannelCode(definition, place);
    if (parsed.outcome === "bad") problems.push(...parsed.problems);
    if (options === undefined) problems.push(`${place}: channel.namespaces has no ${name}`);
    else {
      const unfit = unfitFor(options);
      if (unfit !== undefined) problems.push(`${place}: ${unfit}`);
      if (parsed.outcome === "code")
        channel = coded(channel, name, { ...options, code: parsed.code });
    }
  }
  return { config: { ...config, channel }, problems };
}

function coded(channel: ChannelConfig, name: string, options: ChannelOptions): ChannelConfig {
  return name === ""
    ? { ...channel, withoutNamespace: options }
    : { ...channel, namespaces: new Map([...channel.namespaces, [name, options]]) };
}

/** Why channels with these options can't have code; undefined if they can. */
function unfitFor({ subscriptionType, map }: ChannelOptions): string | undefined {
  if (subscriptionType === "stream") return undefined;
  if (subscriptionType !== "map")
    return `channels with subscription_type "${subscriptionType}" have no code`;
  return map?.mode === "ephemeral"
    ? 'the keys of a map with code are kept: set map.mode to "recoverable" or "persistent"'
    : undefined;
}
