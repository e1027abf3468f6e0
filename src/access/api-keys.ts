/**
 * The keys of the HTTP API and what each of them admits (rule A14). Their values are secrets of the Worker; nothing here
 * knows them.
 */
import { matchesGlob } from "./glob.ts";

/** The methods of maps and of shared polls. */
export const keyMethods = [
  "map_publish",
  "map_remove",
  "map_read_state",
  "map_read_stream",
  "map_stats",
  "map_clear",
  "shared_poll_publish",
] as const;

/** The methods of the HTTP API, by their names in paths, bodies and the configuration. */
export const apiMethods = [
  "publish",
  "broadcast",
  "history",
  "history_remove",
  "presence",
  "presence_stats",
  "disconnect",
  "unsubscribe",
  "subscribe",
  "refresh",
  "block_user",
  "unblock_user",
  "revoke_token",
  "invalidate_user_tokens",
  "connections",
  "info",
  "channels",
  "update_user_status",
  "get_user_status",
  "delete_user_status",
  "why",
  "inspect",
  ...keyMethods,
] as const;

/** The methods that a key may admit: also one that isn't a command, and so isn't in a batch. */
export const admittedMethods = [...apiMethods, "events"] as const;

/** The methods that change something: the only ones in messages of a queue, which get no answer (rule M1). */
export const changingMethods = [
  "publish",
  "broadcast",
  "history_remove",
  "disconnect",
  "unsubscribe",
  "subscribe",
  "refresh",
  "block_user",
  "unblock_user",
  "revoke_token",
  "invalidate_user_tokens",
  "update_user_status",
  "delete_user_status",
  "map_publish",
  "map_remove",
  "map_clear",
  "shared_poll_publish",
] as const satisfies readonly (typeof apiMethods)[number][];

/** The key with which a backend calls the API, or the consumer whose queue brings a backend's messages. */
export interface ApiKey {
  /** For the log and for errors: the name in `http_api.keys`, the name of the secret, or the name of the consumer. */
  readonly name: string;
  /** The holder of these rights, in words for an error; absent for a key of `http_api.keys`. */
  readonly title?: string;
  /** Absent if the key admits everything. */
  readonly rights?: ApiKeyRights;
}

/** A key of `http_api.keys`, or a consumer, admits these methods on these channels. */
export interface ApiKeyRights {
  /** Names of methods; "*" stands for every method. */
  readonly methods: readonly string[];
  /** Globs for the names of channels. */
  readonly channels: readonly string[];
}

/**
 * Why a key doesn't admit a request, in words that quote nothing of the request.
 *
 * @param channel undefined if the method alone is to be checked; `allChannels` if the method acts on all channels
 * @returns undefined if the key admits the request
 */
export function keyRefusal(
  { name, title, rights }: ApiKey,
  method: string,
  channel: string | typeof allChannels | undefined,
): string | undefined {
  if (rights === undefined) return undefined;
  const subject = `${title ?? `the API key "${name}" of http_api.keys`} doesn't admit`;
  const { methods, channels } = rights;
  if (!methods.includes(method) && !methods.includes("*")) return `${subject} the method ${method}`;
  if (channel === undefined) return undefined;
  if (channel === allChannels)
    return channels.includes("*") ? undefined : `${subject} all channels, as ${method} requires`;
  return channels.some((glob) => matchesGlob(channel, glob)) ? undefined : `${subject} the channel`;
}

/** Stands for the channels of a method that acts on all of them. */
export const allChannels = Symbol("all channels");
