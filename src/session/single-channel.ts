import type { HistoryQuery } from "../contract/channel-call.ts";
import type { ChannelConfig } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import type {
  Channels,
  HistoryAnswer,
  JoinAnswer,
  PresenceAnswer,
  PresenceStatsAnswer,
  PublishAnswer,
} from "./ports.ts";
import { SharedQuestion } from "../channel/coalesced-call.ts";
import type { Subscription } from "./subscription.ts";
import { type Channel, type JoinWish, historyError } from "../channel/channel.ts";
import { type ResolvedChannel, resolveChannel } from "../channel/channel-name.ts";
import { clientPublication } from "../channel/publication-request.ts";
import { type GatheredPresence, presence, presenceStats } from "../channel/presence.ts";

/** Asks all gateways who is present there. `answered` is called once, now or later. */
export type GatherPresence = (answered: (others: GatheredPresence) => void) => void;

/**
 * The channels as sessions in a channel's own object see them: there is this one, and its answers come at once (rule C6).
 * But for {@link find}, names are only given that `find` knew.
 */
export class OwnChannel implements Channels {
  readonly #channel: Channel;
  readonly #config: ChannelConfig;
  readonly #gathering: SharedQuestion<GatheredPresence>;
  /** Subscribers whose coming the others have not heard of yet, and so neither will of their going (rule O5). */
  readonly #unheard = new Set<Subscription>();

  /** What subscribers had when the object fell asleep who get patches; undefined until one of them is restored. */
  #slept: { readonly newest: Payload | undefined } | undefined;

  /** @param gather is only asked while gateways follow the channel, and one time after the other */
  constructor(channel: Channel, config: ChannelConfig, gather: GatherPresence) {
    this.#channel = channel;
    this.#config = config;
    this.#gathering = new SharedQuestion(gather);
  }

  find(name: string): ResolvedChannel {
    const resolved = resolveChannel(name, this.#config);
    return resolved.outcome === "resolved" && name !== this.#channel.name
      ? { outcome: "unknown-namespace" }
      : resolved;
  }

  join(
    subscription: Subscription,
    wish: JoinWish,
    nowMs: number,
    answer: (outcome: JoinAnswer) => void,
  ): void {
    const joined = this.#channel.join(subscription, wish, nowMs);
    if (joined.outcome !== "joined") {
      answer(failed(errorCodes.unrecoverablePosition));
      return;
    }
    this.#unheard.add(subscription);
    answer(joined);
  }

  restore(subscription: Subscription): void {
    this.#channel.hub.add(subscription);
    if (subscription.granted.hasNewest !== true) return;
    // Read once, however many have it.
    this.#slept ??= { newest: this.#channel.newest?.data };
    subscription.deltaBase = this.#slept.newest;
  }

  announce(subscription: Subscription): void {
    if (!this.#unheard.delete(subscription)) return;
    const { announced, sole, info } = subscription;
    if (announced) this.#channel.announce("join", info);
    if (sole) this.#channel.sole(info.user, info.client);
  }

  leave(subscription: Subscription): void {
    if (this.#unheard.delete(subscription)) this.#channel.hub.remove(subscription);
    else this.#channel.leave(subscription);
  }

  publish(
    _channel: string,
    data: Payload,
    info: ClientInfo,
    _subscription: Subscription | undefined,
    nowMs: number,
    answer: (outcome: PublishAnswer) => void,
  ): void {
    if (this.#channel.hub.overloaded(nowMs)) {
      answer(failed(errorCodes.tooManyRequests));
      return;
    }
    const { outcome } = this.#channel.publish(clientPublication(data), info, nowMs);
    answer(
      outcome === "too-many-keys" ? failed(errorCodes.tooManyRequests) : { outcome: "published" },
    );
  }

  history(
    _channel: string,
    query: HistoryQuery,
    bytesMax: number,
    nowMs: number,
    answer: (outcome: HistoryAnswer) => void,
  ): void {
    const outcome = this.#channel.history(query, nowMs, bytesMax);
    answer(outcome.outcome === "history" ? outcome : failed(historyError(outcome.outcome)));
  }

  presence(_channel: string, answer: (outcome: PresenceAnswer) => void): void {
    const asked = this.#withOthers((others) => {
      answer({ outcome: "presence", result: presence(this.#channel.hub.recipients, others) });
    });
    if (asked === "full") answer(failed(errorCodes.tooManyRequests));
  }

  presenceStats(_channel: string, answer: (outcome: PresenceStatsAnswer) => void): void {
    const asked = this.#withOthers((others) => {
      const result = presenceStats(this.#channel.hub.recipients, others);
      answer({ outcome: "presence-stats", result });
    });
    if (asked === "full") answer(failed(errorCodes.tooManyRequests));
  }

  awaitFlush(subscription: Subscription): boolean {
    const { hub } = this.#channel;
    if (!hub.collecting) return false;
    hub.callAfterFlush(subscription);
    return true;
  }

  #withOthers(answered: (others: GatheredPresence | undefined) => void): "asked" | "full" {
    if (this.#channel.relay.size > 0) return this.#gathering.ask(answered);
    answered(undefined);
    return "asked";
  }
}

function failed(error: ErrorCode): { readonly outcome: "failed"; readonly error: ErrorCode } {
  return { outcome: "failed", error };
}
