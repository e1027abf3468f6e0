/**
 * The keys of the HTTP API and what each of them admits (rule A14). Their values are secrets of the Worker; nothing here
 * knows them.
 */
import { matchesAny } from "./name-glob.ts";
import type { OperationName } from "./operations.ts";

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
  /** Names of operations; "*" stands for every method. */
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
  method: OperationName,
  channel: string | typeof allChannels | undefined,
): string | undefined {
  if (rights === undefined) return undefined;
  const subject = `${title ?? `the API key "${name}" of http_api.keys`} doesn't admit`;
  const { methods, channels } = rights;
  if (!methods.includes(method) && !methods.includes("*")) return `${subject} the method ${method}`;
  if (channel === undefined) return undefined;
  if (channel === allChannels)
    return channels.includes("*") ? undefined : `${subject} all channels, as ${method} requires`;
  return matchesAny(channel, channels) ? undefined : `${subject} the channel`;
}

/** Stands for the channels of a method that acts on all of them. */
export const allChannels = Symbol("all channels");
