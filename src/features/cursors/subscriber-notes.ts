import type { ChannelOptions } from "../../config/config.ts";
import type { RelayEntry } from "../../contract/relay-batch.ts";
import type { SessionIdentity, DeliveryNote } from "../../contract/session-snapshot.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import type {
  ObjectPart,
  PartedChannelObject,
  PartedGateway,
  PartedObject,
} from "../../object/part.ts";
import type { DeliveryNotes, DeliveryStart, PingedSession } from "../../session/observer.ts";
import { pingAnsweredMs } from "../../session/liveness.ts";
import type { SessionContext } from "../../session/ports.ts";
import type { Session } from "../../session/session.ts";
import type { Subscription } from "../../session/subscription.ts";
import { addProof, type Coverage, type UserProofs } from "./coverage.ts";
import { cursorLimits } from "./limits.ts";

declare module "../../contract/relay-batch.ts" {
  interface RelayEntries {
    /** A subscription has ended, and proves what its user has received (rule CU14). */
    readonly arrived: { readonly user: string; readonly proof: Coverage };
  }
}

/**
 * Notes in the subscriptions of one object what their clients are known to have received (rules CU12 and CU13). A note
 * is reported to the channel's object when the subscription ends, or when the object asks.
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

  pinging(session: PingedSession, answeredAtMs: number | undefined, nowMs: number): void {
    const { identity } = session;
    const answeredMs = pingAnsweredMs(identity, answeredAtMs, nowMs);
    // After the clock was set back, an answer may seem later than this ping, or the answer to the one before may be missing.
    const isTold =
      (answeredAtMs ?? 0) < nowMs && (identity.awaitingPong !== true || answeredMs !== undefined);
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

  /**
   * Finds what is known of users' connections here, some of them in each turn: there may be ten thousand. One that ends
   * meanwhile is left out, because what it proves is written then (rule CU14).
   *
   * @param done called at once if there are few connections
   */
  gather(
    asked: AskedUsers,
    { sockets, later }: GatheringObject,
    done: (found: KnownHere) => void,
  ): void {
    const all = [...sockets.sessions()];
    const found: KnownHere = { proofs: new Map(), unsure: new Set() };
    const look = (from: number): void => {
      const to = from + cursorLimits.censusSliceSessions;
      for (const session of all.slice(from, to)) this.#look(session, asked, found);
      if (to >= all.length) done(found);
      else later(0, () => look(to));
    };
    look(0);
  }

  #look(
    { closed, user, subscriptions, identity }: Session,
    { channel, users, upTo }: AskedUsers,
    { proofs, unsure }: KnownHere,
  ): void {
    if (closed || (users !== "all" && !users.has(user))) return;
    const subscription = subscriptions.get(channel);
    if (subscription?.note === undefined) return;
    const proof = this.proofOf(subscription);
    if (proof !== undefined) addProof(proofs, user, proof);
    if (upTo !== undefined && (proof?.offset ?? 0) < upTo && answersPings(identity))
      unsure.add(user);
  }

  proofOf(subscription: Subscription): Coverage | undefined {
    const { note, answering } = subscription;
    if (note === undefined) return undefined;
    const { identity, answeredAtMs } = answering;
    return provenBy(note, pingAnsweredMs(identity, answeredAtMs, this.#object.nowMs()));
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

/** An object whose connections are looked at. */
export interface GatheringObject extends Pick<PartedObject, "later"> {
  readonly sockets: Pick<PartedObject["sockets"], "sessions">;
}

/** A question about what users have received of a channel. */
interface AskedUsers {
  readonly channel: string;
  readonly users: ReadonlySet<string> | "all";
  /** The answer names the users that may still prove, by the next ping, to have got everything up to this offset. */
  readonly upTo: number | undefined;
}

/** The proofs of the connections of one object. */
export interface KnownHere {
  readonly proofs: UserProofs;
  /**
   * Users with a connection that isn't known to have received everything, but may prove it by its answer to the next
   * ping.
   */
  readonly unsure: Set<string>;
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

/** How far the subscribers of a channel in one object are. */
export interface SentPosition {
  /** "" where the channel has no stream, or isn't known to have one. */
  readonly epoch: string;
  /** The newest offset that they have been sent, or are about to be. */
  readonly top: number;
  /** Everything up to this offset has been handed to their sockets. */
  readonly sent: number;
  /** Where a subscriber is, that has been there since before the epoch, or that isn't known to have been. */
  readonly begun: number;
}

/** The note of a subscription that begins. */
function noteOfStart(
  { epoch, top }: SentPosition,
  start: DeliveryStart | undefined,
  nowMs: number,
): DeliveryNote {
  const since = Math.min(start?.since ?? top, top);
  const recovered = start?.isClients === true;
  return { epoch, since, offset: since, atMs: nowMs, sent: since, recovered };
}

/**
 * The note of a subscription at the time a ping is sent.
 *
 * @param answeredMs the latest time at which the ping before was answered; undefined if it isn't known to be answered
 * @param isTold     whether an answer to this ping can be distinguished from an answer to an earlier ping
 * @returns the same note if it says the same
 */
export function noteAtPing(
  note: DeliveryNote,
  answeredMs: number | undefined,
  at: SentPosition,
  isTold: boolean,
  nowMs: number,
): DeliveryNote {
  if (note.epoch !== at.epoch) {
    const { epoch, begun, sent } = at;
    const fresh = { epoch, since: begun, offset: begun, atMs: nowMs, recovered: false };
    return { ...fresh, sent: isTold ? Math.max(sent, begun) : begun };
  }
  const { offset, atMs } = arrived(note, answeredMs);
  const sent = isTold ? Math.max(at.sent, offset) : offset;
  if (offset === note.offset && sent === note.sent) return note;
  return { ...note, offset, atMs, sent };
}

/** The arrival that a note proves; undefined for none. */
export function provenBy(note: DeliveryNote, answeredMs: number | undefined): Coverage | undefined {
  const { epoch, since, recovered } = note;
  const { offset, atMs } = arrived(note, answeredMs);
  if (epoch === "") return undefined;
  if (offset > since) return { epoch, since, offset, by: "ping", atMs };
  return recovered ? { epoch, since, offset, by: "recovery", atMs } : undefined;
}

function arrived(
  { offset, atMs, sent }: DeliveryNote,
  answeredMs: number | undefined,
): Pick<DeliveryNote, "offset" | "atMs"> {
  const isMore = answeredMs !== undefined && sent > offset;
  return isMore ? { offset: sent, atMs: answeredMs } : { offset, atMs };
}
