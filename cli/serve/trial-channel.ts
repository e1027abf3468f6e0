import { maySubscribe } from "../../src/session/may.ts";
import type { ChannelConfig, ChannelOptions } from "../../src/config/config.ts";

/** The channel with which a newcomer tries the server, and the call that publishes to it. */
export interface TrialChannel {
  readonly channel: string;
  /** Whether every user may subscribe. Otherwise a token, a backend or the channel's name says who may. */
  readonly isOpen: boolean;
  /** The method of the HTTP API. */
  readonly method: "publish" | "map_publish";
  /** Its request, as JSON. */
  readonly request: string;
}

/**
 * Finds a channel to which a backend may publish: preferably one to which every user may subscribe as well, and `news` before
 * those of namespaces.
 *
 * @returns undefined if there is none
 */
export function trialChannel({
  withoutNamespace,
  namespaces,
  namespaceBoundary,
}: ChannelConfig): TrialChannel | undefined {
  const prefixed = [...namespaces].map(
    ([name, options]) => [`${name}${namespaceBoundary}`, options] as const,
  );
  const all = [["", withoutNamespace] as const, ...prefixed];
  const found = all.flatMap(([prefix, options]) => trialIn(prefix, options) ?? []);
  return found.find(({ isOpen }) => isOpen) ?? found[0];
}

/** The channel of one namespace; undefined if a backend can't publish JSON to it. */
function trialIn(prefix: string, options: ChannelOptions): TrialChannel | undefined {
  const channel = `${prefix}news`;
  const { subscriptionType: type, publicationDataFormat: format } = options;
  if (options.channelRegex?.test("news") === false || format === "binary") return undefined;
  const channelOfAll = { options, private: false };
  const isOpen = maySubscribe(channelOfAll, { user: "42" }, { privatePrefix: "" }).allowed === true;
  const data = { text: "hello" };
  if (type === "stream")
    return { channel, isOpen, method: "publish", request: JSON.stringify({ channel, data }) };
  if (type !== "map") return undefined;
  const request = JSON.stringify({ channel, key: "first", data });
  return { channel, isOpen, method: "map_publish", request };
}
