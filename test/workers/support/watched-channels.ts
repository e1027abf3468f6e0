import { env } from "cloudflare:workers";
import type { ChannelAnswers, ChannelOperation } from "../../../src/contract/channel-call.ts";
import type { Env } from "../../../workers/platform/env.ts";

/** One call of the edge to a channel's object. */
export interface WatchedCall {
  readonly channel: string;
  readonly commands: readonly ChannelOperation[];
  /** Makes the call. */
  readonly proceed: () => Promise<ChannelAnswers>;
}

/**
 * The real namespace of objects, with the test between it and the edge: it sees each call and may let the platform fail
 * instead of making it.
 */
export function watchedChannels(
  watch: (call: WatchedCall) => Promise<ChannelAnswers>,
): Env["CHANNELS"] {
  return new Proxy(env.CHANNELS, {
    get: (channels, property) =>
      property === "getByName"
        ? (channel: string) => watchedStub(channels.getByName(channel), channel, watch)
        : Reflect.get(channels, property),
  });
}

function watchedStub(
  stub: ReturnType<Env["CHANNELS"]["getByName"]>,
  channel: string,
  watch: (call: WatchedCall) => Promise<ChannelAnswers>,
): typeof stub {
  return new Proxy(stub, {
    get: (target, property) =>
      property === "execute"
        ? (commands: readonly ChannelOperation[]) =>
            watch({ channel, commands, proceed: async () => target.execute(commands) })
        : Reflect.get(target, property),
  });
}

/** The platform's error for an overloaded object. */
export function overloadedError(): Error {
  return Object.assign(new Error("Durable Object is overloaded"), { overloaded: true });
}
