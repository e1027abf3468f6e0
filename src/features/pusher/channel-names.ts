import type { ChannelConfig } from "../../config/config.ts";
import type { PusherApp } from "./config.ts";
import { pusherLimits } from "./limits.ts";

/** The kind of a channel, which follows from its name. */
export interface ChannelKind {
  /** user: the channel of a user's events. */
  readonly access: "public" | "private" | "presence" | "user";
  /** Its data is encrypted by a key that the server doesn't have, so clients send no events there. */
  readonly encrypted: boolean;
  /** A subscriber gets the last event at once. */
  readonly cache: boolean;
}

/** The kind of a channel; undefined if no channel has this name. */
export function kindOf(name: string): ChannelKind | undefined {
  const user = userOfChannel(name);
  if (user !== undefined)
    return isUserId(user) ? { access: "user", encrypted: false, cache: false } : undefined;
  if (!channelShape.test(name) || name.length > pusherLimits.channelCharactersMax) return undefined;
  const [, access = "public"] = /^(private|presence)-/.exec(name) ?? [];
  return {
    access: access === "private" || access === "presence" ? access : "public",
    encrypted: name.startsWith("private-encrypted-"),
    cache: /^(?:private-(?:encrypted-)?|presence-)?cache-/.test(name),
  };
}

/** Whether clients subscribe to the channel by themselves. */
export function isClients(name: string): boolean {
  const kind = kindOf(name);
  return kind !== undefined && kind.access !== "user";
}

/** Whether the channel has members, who come and go. */
export function listsMembers(name: string): boolean {
  return watchedUser(name) !== undefined || kindOf(name)?.access === "presence";
}

const channelShape = /^[-\w=@,.;]+$/;

/** The user in the name of a channel of a user's events; undefined for any other name. */
export function userOfChannel(name: string): string | undefined {
  return name.startsWith(userPrefix) ? name.slice(userPrefix.length) : undefined;
}

const userPrefix = "#server-to-user-";

/** Whether a user can have this ID. A comma would make another user-limited channel of the user's channel (rule A5). */
export function isUserId(id: string): boolean {
  return id !== "" && id.length <= pusherLimits.userCharactersMax && !id.includes(",");
}

/**
 * The channel for which a name stands in an application: that of its namespace. The events of the user 7 are on the
 * channel that is limited to this user, `NAMESPACE:#7`, which is also a personal channel.
 */
export function channelOf(
  name: string,
  { namespace }: Pick<PusherApp, "namespace">,
  { namespaceBoundary }: Pick<ChannelConfig, "namespaceBoundary">,
): string {
  const user = userOfChannel(name);
  return `${namespace}${namespaceBoundary}${user === undefined ? name : `#${user}`}`;
}

/** The name by which an application knows a channel of its namespace. */
export function nameIn(
  app: Pick<PusherApp, "namespace">,
  channel: string,
  channels: Pick<ChannelConfig, "namespaceBoundary">,
): string {
  return nameOf(channel, channelOf("", app, channels));
}

/**
 * As {@link nameIn}, for whoever knows the beginning of all names of the namespace's channels.
 *
 * @param prefix the namespace and the boundary
 */
export function nameOf(channel: string, prefix: string): string {
  const name = channel.slice(prefix.length);
  return name.startsWith("#") ? `${userPrefix}${name.slice(1)}` : name;
}

/**
 * The channel of an application on which a user's connections are present while they watch others, or may be watched (rule
 * PU18). No client can name it.
 */
export function watchChannelOf(
  user: string,
  { namespace }: Pick<PusherApp, "namespace">,
  { namespaceBoundary }: Pick<ChannelConfig, "namespaceBoundary">,
): string {
  return `${namespace}${namespaceBoundary}${watchPrefix}${user}`;
}

/** The user whose presence the channel of that name shows; undefined for any other name. */
export function watchedUser(name: string): string | undefined {
  return name.startsWith(watchPrefix) ? name.slice(watchPrefix.length) : undefined;
}

/** The names of an application's own channels have no such character. */
const watchPrefix = "~";
