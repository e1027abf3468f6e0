import type { GatheredPresence } from "../channel/presence.ts";
import { SharedPresence } from "../channel/shared-presence.ts";
import type { PresenceAnswer } from "../protocol/reply.ts";
import type { ChannelOperation } from "../contract/channel-call.ts";
import type { ChannelPresenceReply } from "../contract/relay-request.ts";
import type { Subscriber } from "../hub/subscriber.ts";
import type { Codec } from "../protocol/codec.ts";
import { errorCodes } from "../protocol/codes.ts";
import { jsonCodec } from "../protocol/json/codec.ts";
import type { PartedChannelObject } from "./part.ts";
import { limits } from "../limits.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import { answerOf } from "./object-call.ts";
import type { Platform } from "./platform.ts";

/** Finds out for a channel's object who is present, on its own sockets and on its gateways (rules G6, P1 and P3). */
export class ChannelPresence {
  /** For the object's sessions, whose clients ask. */
  readonly shared: SharedPresence;
  readonly #object: PartedChannelObject;
  /** Whether a call asked who is present: then silent connections are closed before that is answered (rule K4). */
  #sweepIsDue = false;

  constructor(object: PartedChannelObject) {
    this.#object = object;
    const source = {
      later: object.later,
      gather: (done: (others: GatheredPresence) => void) => this.#gather(done),
      subscribers: () => this.#sweptSubscribers(),
    };
    this.shared = new SharedPresence(source, object.bounds);
  }

  /** Lists who is present, for a call. */
  list(done: (reply: ChannelPresenceReply) => void): void {
    if (!this.#isKnown) {
      done({ outcome: "error", error: errorCodes.unknownChannel });
      return;
    }
    this.#ask(undefined, (answer) => {
      if (answer.outcome === "failed") {
        done({ outcome: "error", error: answer.error });
        return;
      }
      const { parts, incomplete } = answer.result;
      done({ outcome: "present", clients: parts.flat(), complete: incomplete !== true });
    });
  }

  /**
   * Finds out who is present, once for all commands of a call (rule P3).
   *
   * @param done takes undefined if no command asks, or none may know
   */
  askFor(
    commands: readonly ChannelOperation[],
    done: (present: PresenceAnswer | undefined) => void,
  ): void {
    const asks = (asked: string): boolean => commands.some(({ method }) => method === asked);
    if (!this.#isKnown || !this.#object.channel.options.presence) done(undefined);
    else if (asks("presence")) this.#ask(jsonCodec, done);
    else if (asks("presence_stats")) this.#ask(undefined, done);
    else done(undefined);
  }

  /** Whether the configuration has the channel's namespace. */
  get #isKnown(): boolean {
    return this.#object.knownChannel !== undefined;
  }

  /** @param codec the one in which the list will be encoded; undefined if it won't be */
  #ask(codec: Codec | undefined, done: (answer: PresenceAnswer) => void): void {
    this.#sweepIsDue = true;
    this.shared.ask({ codec, done });
  }

  /** The subscribers, without silent connections if a call asked for them. */
  #sweptSubscribers(): readonly Subscriber[] {
    if (this.#sweepIsDue) this.#object.sweep();
    this.#sweepIsDue = false;
    return this.#object.channel.hub.subscribers;
  }

  /** Asks all gateways which of their clients are present. */
  #gather(done: (others: GatheredPresence) => void): void {
    const { platform, channel, called, endEvent } = this.#object;
    const { gateways } = channel.relay;
    called(gateways.length);
    gatherPresence(platform, gateways, channel.name, false, (others) => {
      done(others);
      endEvent(platform.nowMs());
    });
  }
}

/**
 * Asks all gateways at once which of their clients are present on a channel (rule G6).
 *
 * @param gateways their names
 * @param shown    whether to ask for the clients that a presence map shows
 * @param done     takes the clients of all gateways that answered within `limits.presenceGatherMs`
 */
export function gatherPresence(
  { call }: Pick<Platform, "call">,
  gateways: readonly string[],
  channel: string,
  shown: boolean,
  done: (gathered: GatheredPresence) => void,
): void {
  const answers: (readonly ClientInfo[] | undefined)[] = [];
  let missing = gateways.length;
  const gathered = (): void =>
    done({
      clients: answers.flatMap((clients) => clients ?? []),
      complete: answers.every((clients) => clients !== undefined),
    });
  if (missing === 0) gathered();
  const request = [channel, shown] as const;
  for (const [index, gateway] of gateways.entries()) {
    call("presentOnGateway", gateway, request, limits.presenceGatherMs, (reply) => {
      answers[index] = answerOf(reply)?.clients;
      missing--;
      if (missing === 0) gathered();
    });
  }
}
