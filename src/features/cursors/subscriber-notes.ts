import type { ChannelOptions } from "../../config/config.ts";
import type { RelayEntry } from "../../contract/relay-batch.ts";
import type { SessionIdentity } from "../../contract/session-snapshot.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import type { ObjectPart, PartedChannelObject, PartedGateway } from "../../object/part.ts";
import {
  type DeliveryNotes,
  type DeliveryStart,
  type PingedSession,
} from "../../session/observer.ts";
import { pingAnsweredMs } from "../../session/liveness.ts";
import type { SessionContext } from "../../session/ports.ts";
import type { Session } from "../../session/session.ts";
import type { Subscription } from "../../session/subscription.ts";
import { addProof, type Coverage } from "./coverage.ts";
import { noteAtPing, noteOfStart, provenBy, type SentPosition } from "./delivery-note.ts";

declare module "../../contract/relay-batch.ts" {
  interface RelayEntries {
    /** A subscription has ended that proves what its user has got (rule CU14). */
    readonly arrived: { readonly user: string; readonly proof: Coverage };
  }
}

/**
 * Notes in the subscriptions of one object what their clients are known to have got (rules CU12 and CU13). The channel's
 * object hears of a note when the subscription ends, or when it asks.
 */
export class SubscriberNotes implements ObjectPart, DeliveryNotes {
  readonly ofSessions: Pick<SessionContext, "deliveries"> = { deliveries: this };
  readonly #object: NotingObject;

  constructor(object: NotingObject) {
    this.#object = object;
  }

  notes(channel: string | undefined): boolean {
    return channel === undefined || this.#object.isNoted(channel);
  }

  begin(subscription: Subscription, start: DeliveryStart | undefined): void {
    const { channel, info } = subscription;
    if (info.user === "" || !this.#object.isNoted(channel)) return;
    subscription.note = noteOfStart(this.#object.sent(channel), start, this.#object.nowMs());
  }

  restore(subscription: Subscription): void {
    // The attachment had no room for the note: what is sent from now on is noted again.
    if (subscription.note === undefined) this.begin(subscription, undefined);
  }

  pinging(session: PingedSession, nowMs: number): void {
    const { answeredAtMs = 0, identity } = session;
    const answeredMs = pingAnsweredMs(session, nowMs);
    // After the clock was set back, an answer may seem later than this ping, or the answer to the one before may be missing.
    const isTold =
      answeredAtMs < nowMs && (identity.awaitingPong !== true || answeredMs !== undefined);
    this.#note(session, answeredMs, isTold, nowMs);
  }

  answered(session: PingedSession, nowMs: number): void {
    const { answeredAtMs = 0, identity } = session;
    // The edge has asked the platform with each of its pings, so there was one since the last answer (rule K7).
    const { pingedAtMs = 0 } = identity;
    const isAnswer = pingedAtMs > 0 && answeredAtMs > pingedAtMs && answeredAtMs <= nowMs;
    this.#note(session, isAnswer ? nowMs : undefined, answeredAtMs <= nowMs, nowMs);
  }

  entryOfEnd(subscription: Subscription, _options: ChannelOptions): RelayEntry | undefined {
    const proof = this.proofOf(subscription);
    return proof && { type: "arrived", user: subscription.info.user, proof };
  }

  /** What is known of users' connections here, by user: of these users, or of all. */
  proofs(
    channel: string,
    sessions: Iterable<Session>,
    users: ReadonlySet<string> | "all",
  ): ReadonlyMap<string, Coverage> {
    const found = new Map<string, Coverage>();
    for (const { closed, user, subscriptions } of sessions) {
      if (closed || (users !== "all" && !users.has(user))) continue;
      const subscription = subscriptions.get(channel);
      const proof = subscription && this.proofOf(subscription);
      if (proof !== undefined) addProof(found, user, proof);
    }
    return found;
  }

  /**
   * The users with a connection here that isn't known to have got everything up to an offset, but may prove it by its answer
   * to the next ping.
   *
   * @param upTo undefined: nobody is meant
   */
  unsure(
    channel: string,
    sessions: Iterable<Session>,
    users: ReadonlySet<string> | "all",
    upTo: number | undefined,
  ): ReadonlySet<string> {
    const found = new Set<string>();
    if (upTo === undefined) return found;
    for (const { closed, user, subscriptions, identity } of sessions) {
      if (closed || (users !== "all" && !users.has(user)) || !answersPings(identity)) continue;
      const subscription = subscriptions.get(channel);
      if (subscription?.note === undefined) continue;
      if ((this.proofOf(subscription)?.offset ?? 0) < upTo) found.add(user);
    }
    return found;
  }

  proofOf(subscription: Subscription): Coverage | undefined {
    const { note } = subscription;
    return note && provenBy(note, pingAnsweredMs(subscription.answering, this.#object.nowMs()));
  }

  #note(
    { subscriptions }: PingedSession,
    answeredMs: number | undefined,
    isTold: boolean,
    nowMs: number,
  ): void {
    for (const one of subscriptions.all) {
      const { note } = one;
      if (note === undefined) continue;
      one.note = noteAtPing(note, answeredMs, this.#object.sent(one.channel), isTold, nowMs);
    }
  }
}

/** Whether a client answers pings, of its object or of an edge. */
function answersPings({ keepalive, awaitingPong, noPongs }: SessionIdentity): boolean {
  return noPongs !== true && (keepalive !== "client" || awaitingPong === true);
}

/** An object whose subscriptions are noted. */
export interface NotingObject {
  nowMs(): number;
  /** Whether the channel keeps what its users have got. */
  isNoted(channel: string): boolean;
  sent(channel: string): SentPosition;
}

/** The object of a channel, whose subscribers all are noted. */
export function notingChannel({ channel, platform }: PartedChannelObject): NotingObject {
  return {
    nowMs: () => platform.nowMs(),
    isNoted: () => true,
    // A stream begins while all subscribers are there.
    sent: () => positionOf(channel.top, channel.hub.firstWaitingOffset, "from its beginning"),
  };
}

/** A gateway, which has many channels. */
export function notingGateway(object: PartedGateway): NotingObject {
  return {
    nowMs: () => object.platform.nowMs(),
    isNoted: (channel) => object.gateway.optionsOf(channel)?.cursors !== undefined,
    sent: (channel) => {
      const { position, firstWaitingOffset } = object.gateway.follower(channel) ?? {};
      return positionOf(position, firstWaitingOffset, "from now on");
    },
  };
}

/** Where the subscribers of a channel are, whose top and whose first waiting offset these are. */
export function positionOf(
  position: StreamPosition | undefined,
  firstWaitingOffset: number | undefined,
  newEpoch: "from its beginning" | "from now on",
): SentPosition {
  const { epoch, offset: top } = position ?? { epoch: "", offset: 0 };
  const sent = firstWaitingOffset === undefined ? top : Math.min(top, firstWaitingOffset - 1);
  return { epoch, top, sent, begun: newEpoch === "from now on" ? top : 0 };
}
