import type { SubscribeOptions, SubscribeOutcome } from "../channel/channel-outcomes.ts";
import type { FailedReply } from "../contract/channel-call.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";
import type { DisconnectCode, ErrorCode, UnsubscribeCode } from "../protocol/codes.ts";
import type { Command } from "../protocol/command.ts";
import type { AnsweringSession, Subscription } from "./subscription.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** Watches one session: is called for what its client receives, once its user's home has admitted the client. */
export interface SessionObserver {
  /** The connect is accepted, unless it isn't yet, or its user's home is asked. Saying so again does nothing. */
  accepted(): void;
  /** Subscriptions have begun. Their client receives the reply now or, if the session is held, afterwards. */
  begun(subscriptions: readonly NamedSubscription[]): void;
  /** @param code why the server ended it; undefined if the client did */
  unsubscribed(channel: string, code: EndCode | undefined): void;
  /** The connection ends, with all its subscriptions. */
  ended(code: EndCode): void;
}

/** A session, as its observer sees it. */
export interface ObservedSession {
  readonly identity: SessionIdentity;
  readonly client: string;
  readonly user: string;
  readonly hasConnected: boolean;
  /** Whether the user's home is asked: nothing is sent until it has answered. */
  readonly held: boolean;
  readonly subscriptions: Pick<Subscriptions, "all">;
}

/** Is called for the subscriptions and the ends of connections of one object, held or not. */
export interface ClientObserver {
  /** The channel has answered a subscribe. */
  subscribed(
    subscription: NamedSubscription,
    options: SubscribeOptions,
    reply: SubscribeOutcome | FailedReply,
  ): void;
  /**
   * A subscription has ended, and its connection hasn't.
   *
   * @param code that the client receives; 0 if the client ended it
   */
  unsubscribed(subscription: NamedSubscription, code: number): void;
  /**
   * A connection ends.
   *
   * @param code of the close; 1006 if the connection was lost
   */
  ended(
    session: Pick<ObservedSession, "client" | "user" | "hasConnected"> & {
      readonly identity: Pick<SessionIdentity, "openedAtMs">;
    },
    code: number,
    by: "client" | "server",
  ): void;
}

/** A subscription, with its channel and its client. */
type NamedSubscription = Pick<Subscription, "channel" | "info">;

/** How a connection or a subscription ended, from either side. */
export interface EndCode {
  readonly code: number;
  readonly reason: string;
}

/** Counts what the sessions of one object do. */
export interface SessionCounts {
  /** A client has sent a command. */
  command(method: Command["method"]): void;
  /** A command is answered with an error. */
  replyError(method: Command["method"], error: ErrorCode): void;
  /** A connect was accepted. */
  connected(): void;
  /** A connection has ended. */
  ended(): void;
  /** The server closes a connection. */
  disconnected(code: DisconnectCode): void;
  /** The server ends a subscription. */
  unsubscribed(code: UnsubscribeCode): void;
  /**
   * A subscription begins.
   *
   * @param recovery what came of its request to recover; undefined if it had none
   */
  subscribed(
    channel: string,
    recovery: { readonly recovered: boolean; readonly publications: number } | undefined,
  ): void;
  /** A client is sent a page of a map's state, or of its stream. */
  mapPage(channel: string, phase: "state" | "stream"): void;
  /**
   * A client's synchronisation with a map ends. completed: the client has read the map, and gets its changes. recovered: it
   * went on with its copy. unrecoverable (112) and lost (113): it has to begin with the state.
   */
  mapSynchronised(
    channel: string,
    outcome: "completed" | "recovered" | "unrecoverable" | "lost",
  ): void;
}

/** Notes in the subscriptions what their clients are known to have got. The session saves the notes. */
export interface DeliveryNotes {
  /** Whether subscriptions to this channel are noted; undefined: to any channel of the object. */
  notes(channel: string | undefined): boolean;
  /**
   * A subscription begins, or it turns out where it has begun.
   *
   * @param start undefined for the channel's position of now
   */
  begin(subscription: Subscription, start: DeliveryStart | undefined): void;
  /**
   * The client is about to be pinged, and will be saved.
   *
   * @param answeredAtMs when the platform last answered the client, ms since 1970; undefined for never
   */
  pinging(session: PingedSession, answeredAtMs: number | undefined, nowMs: number): void;
  /** The client of a stream has answered a ping of the edge's; it will be saved. */
  answered(session: PingedSession, nowMs: number): void;
}

/** Where a subscription begins that has recovered. */
export interface DeliveryStart {
  /** The client is sent everything after this offset, at first with the reply. */
  readonly since: number;
  /** Whether the client itself has said that it goes on from there. */
  readonly isClients: boolean;
}

/** A session that is pinged. */
export interface PingedSession extends AnsweringSession {
  readonly subscriptions: { readonly all: readonly Subscription[] };
}
