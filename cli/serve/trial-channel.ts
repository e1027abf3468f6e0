import type { ChannelConfig, ChannelOptions } from "../../src/config/config.ts";

/** The channel with which a newcomer tries the server, and the call that publishes to it. */
export interface TrialChannel {
  readonly channel: string;
  /** The method of the HTTP API. */
  readonly method: "publish" | "map_publish";
  /** Its request, as JSON. */
  readonly request: string;
}

/**
 * Finds a channel to which every user may subscribe and a backend may publish: `news`, if the configuration admits it, or
 * one of its first namespace that does.
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
  for (const [prefix, options] of [["", withoutNamespace] as const, ...prefixed]) {
    const channel = `${prefix}news`;
    const { subscriptionType: type } = options;
    if (!isOpen(options) || options.channelRegex?.test("news") === false) continue;
    const data = { text: "hello" };
    if (type === "stream")
      return { channel, method: "publish", request: JSON.stringify({ channel, data }) };
    if (type !== "map") continue;
    const request = JSON.stringify({ channel, key: "first", data });
    return { channel, method: "map_publish", request };
  }
  return undefined;
}

/** Whether a user may subscribe without a token and without a backend that is asked, and JSON may be published. */
function isOpen({
  allowSubscribeForClient,
  subscribeHook,
  publicationDataFormat: format,
}: ChannelOptions): boolean {
  return allowSubscribeForClient && subscribeHook === undefined && format !== "binary";
}
