/**
 * The session's ports: what a session needs of the object that holds it (socket, configuration, verified tokens; for
 * channels see `Channels`), and what its commands need of it. Everything here is synchronous; what takes time calls `done`.
 */
import { type DisconnectCode, type UnsubscribeCode, errorCodes } from "../protocol/codes.ts";
import type { ChangeQuestion } from "../contract/backend-call.ts";
import type { ClientObserver, ObservedSession, SessionCounts } from "./observer.ts";
import type { DeliveryNotes, PingedSession, SessionObserver } from "./observer.ts";
import type { Dependence } from "./dependence/dependence.ts";
import type { Dialect, Verdicts } from "./dialect/dialect.ts";
import type { Reply } from "../protocol/reply.ts";
import {
  type Changes,
  type Decision,
  type DecisionDone,
  type Grant,
  type RefusedCommand,
  failWith,
} from "./decision.ts";
import type { Subscription } from "./subscription.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { NamedChannels } from "./named-channels.ts";
import type { UserRates, VainReads } from "./rate-limit.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type {
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
  KeptHeaders,
} from "../contract/session-snapshot.ts";
import type { ChannelOptions, Config, HookTarget } from "../config/config.ts";
import type { KnownChannel } from "../channel/channel-name.ts";
import type {
  PublishRequest,
  SubRefreshRequest,
  SubscribeRequest,
  ConnectRequest,
  RpcRequest,
} from "../protocol/command.ts";
import type { Payload } from "../protocol/payload.ts";
import type { Backlog } from "../hub/backlog.ts";
import type { KnownDeltas } from "../delta/delta-chain.ts";
import type { Refusal } from "../access/refusal.ts";
import type { ConnectionClaims, SubscribeTerms } from "../access/claims.ts";
import type { TrackVerdict } from "../access/key-signature.ts";
import type { PublicationRequest } from "../contract/channel-call.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { Channels } from "./channels.ts";

/** One client's socket, as a session needs it. Every call returns at once and none of them throws. */
export interface Connection {
  send(frame: Message): void;
  /** @param push sent before the close, whatever waits; absent for none */
  close(code: DisconnectCode, push?: Message): void;
  /** Holds back what is sent from now on; a close drops it. */
  hold(): void;
  /** Sends what was held back. */
  release(): void;
  /** Stores the snapshot for as long as the socket lives, so that it survives hibernation (rule S1). */
  save(snapshot: SessionSnapshot): void;
  /** Bytes that were sent and that the client hasn't taken yet, and those that are held back. */
  backlogBytes(): number;
  /** When the platform last answered the client in the object's place (rule K3), ms since 1970; undefined for never. */
  answeredAtMs(): number | undefined;
  /** When the client last sent something, answered by the platform or not, ms since 1970; undefined for never. */
  lastHeardMs(): number | undefined;
}

/** The configuration and the ports that all sessions of an object share. */
export interface SessionContext {
  readonly config: Config;
  readonly channels: Channels;
  /** Absent where users have no homes (`client.users.enabled`). */
  readonly registrar?: Registrar;
  /** The channels that the object's clients name anew (rule B8). */
  readonly namedChannels: NamedChannels;
  /** How fast users may send commands; absent without `client.rate_limit.user_command`. */
  readonly userRates?: UserRates;
  /** Watches a session that begins or is restored; absent where nobody watches, undefined for one that isn't watched. */
  readonly observe?: (session: ObservedSession) => SessionObserver | undefined;
  /** Asks backends; absent where the configuration has no hooks. */
  readonly approver?: Approver;
  /** Absent without `prometheus.enabled`. */
  readonly counts?: SessionCounts;
  /** Notes what clients are known to have got; absent where nobody wants to know it. */
  readonly deliveries?: DeliveryNotes;
  /** The backlog of all of the object's sockets (rule B3). */
  readonly backlog: Pick<Backlog, "sent" | "overloaded">;
  /** What clients do on channels that aren't streams. */
  readonly subscriptionTypes: SubscriptionTypes;
  /** The methods that clients call without a backend; absent if there are none. */
  readonly clientMethods?: ClientMethods;
  /** The protocol of the object's clients; absent where they speak the server's own. */
  readonly dialect?: Dialect;
  /** Deltas that were made for clients that recovered before. */
  readonly knownDeltas: KnownDeltas;
  /** The server's version, as clients receive it; never empty. */
  readonly version: string;
  /** Whether the server makes subscriptions (rule C9): not on sockets that were opened for one channel. */
  readonly serverSubscriptions: boolean;
  /** The name by which clients' posts reach this object (docs/protocol.md 4.3). */
  readonly node: string;
  /** The one channel for which sockets are opened here; absent where they are for any channel. */
  readonly channel?: string;
  /** Whether a session that is too large for its attachment can be stored in a row (rule G2). */
  readonly storesRows: boolean;
  /** Is called for subscriptions and ends of connections; absent where nothing observes them. */
  readonly clients?: ClientObserver;
  /**
   * Does the work after so many ms, and ends the event; after 0 ms others have had a turn. Absent in tests, whose objects
   * have no turns.
   */
  readonly later?: (waitMs: number, work: () => void) => void;
  /** Takes each refusal of a command, for the log (rule A13); absent where nobody reads one. */
  readonly refused?: (refusal: Refusal) => void;
}

/** A session, as far as the commands that it carries out need it. */
export interface CommandSession extends PingedSession {
  readonly context: SessionContext;
  /** The codec of the client's frames. */
  readonly codec: Codec;
  readonly subscriptions: Subscriptions;
  /** The client's identity, and the phase of its connection. */
  identity: SessionIdentity;
  /** Whether a connect waits for server-side subscriptions. Nothing is saved meanwhile. */
  connecting: boolean;
  /** Whether the user's home is asked: nothing is sent, saved or announced until it has answered (rule U4). */
  readonly held: boolean;
  readonly closed: boolean;
  /** What was read for it in vain. */
  vainReads: VainReads;
  /** Whether the next command has to be connect (rule C1). */
  readonly awaitsConnect: boolean;
  /**
   * Whether commands have no effect: the connection is closed, was refused (rule C4), or is unidirectional (rule C11).
   */
  readonly ignoresCommands: boolean;
  /** Whether the client is unidirectional: then errors become disconnect codes (rule C11). */
  readonly unidirectional: boolean;
  /** The user's ID; "" for an anonymous user, and before connect if the edge saw no token. */
  readonly user: string;
  /** The session's state in the form that a save stores. */
  readonly snapshot: SessionSnapshot;
  /**
   * Somebody is asked for a command, or has answered: meanwhile the connection ends if it is restored, because the command
   * would never be answered (rule Q4).
   */
  awaitAnswer(isAwaited: boolean): void;
  /** Changes the identity, and saves the session; without changes it does neither. */
  change(changes: Changes | undefined): void;
  /** The connect is accepted. This may end the connection, or hold it (rule U4). */
  accepted(nowMs: number): void;
  /**
   * Reports the connection, and subscriptions that begin, to a backend. It is called before the reply is sent: what is
   * sent after an event's row was written waits until the row is durable (rule E1).
   */
  reportBegun(begun: readonly Subscription[]): void;
  /** Announces a subscription's join, once the session isn't held (rule O5). */
  announce(subscription: Subscription): void;
  /** Whether an order has ended the subscription to a channel before it began; says so once (rule U2). */
  takeCancelled(channel: string): boolean;
  /** The connect reply has been sent: sends what had to come after it. */
  connected(): void;
  /** Saves the session, unless a connect is under way or the connection is closed. */
  save(): void;
  /** Whether the session could be saved with these subscriptions, and these claims if they are given (rules S1, G2). */
  hasRoom(
    subscriptions: readonly SubscriptionSnapshot[],
    claims?: SessionSnapshot["claims"],
  ): boolean;
  /** Makes a subscription of this session. The caller adds it to `subscriptions`. */
  newSubscription(granted: SubscriptionSnapshot): Subscription;
  /** Ends the subscription to a channel, if it has begun. The client receives nothing. */
  leave(channel: string): void;
  /** Ends the subscription to a channel from the server's side, and tells the client. */
  unsubscribe(channel: string, code: UnsubscribeCode): void;
  /**
   * Sends a reply, or an error if the reply is too large: 106, or 111 for now (rule F4).
   *
   * @returns whether it wasn't replaced by an error
   */
  reply(reply: Reply, nowMs: number): boolean;
  /** Sends a message, unless the client's backlog is too large: then the client is disconnected (rule F4). */
  send(message: Message): void;
  /**
   * Whether a large message can't be sent now: with it the client's backlog, or that of all of the object's clients,
   * would be too large, though not by the message itself.
   */
  mustWait(message: Message): boolean;
  /** Closes the connection from the server's side. */
  disconnect(code: DisconnectCode): void;
}

/** A client's command that is being carried out. */
export interface RunningCommand<Request> {
  readonly session: CommandSession;
  readonly id: number;
  readonly request: Request;
  /** When it was received, or when the last question about it was answered; ms since 1970. */
  readonly nowMs: number;
  /** Takes the decision, at once or later. It is silent if a reply has been sent by then. */
  readonly done: DecisionDone;
}

/** The tokens that came with a command, verified already: a verification takes time, and a session is synchronous. */
export interface VerifiedTokens extends Verdicts {
  /** The signatures of a command that tracks keys, in the order of its batches. */
  readonly tracks?: readonly TrackVerdict[];
}

/**
 * Registers sessions with those who may have to admit them, and who give orders for them later: the homes of users and
 * tokens.
 */
export interface Registrar {
  /** The connect is accepted, or the session is restored: registers it. It may end the connection, or hold it (rule U4). */
  admit(session: AdmittedSession, nowMs: number): void;
  /**
   * The session has ended.
   *
   * @param hadConnected whether it was connected before
   */
  ended(session: CommandSession, hadConnected: boolean): void;
  /**
   * Asks about the token of a refresh, a subscribe or a sub_refresh, before the command reaches its session.
   *
   * @param done takes the tokens, in which one that doesn't stand isn't verified any more
   * @returns whether somebody is asked; otherwise `done` isn't called
   */
  askForTokens(
    session: CommandSession,
    tokens: VerifiedTokens,
    done: (tokens: VerifiedTokens) => void,
  ): boolean;
  /** The tokens of a command that is carried out now, in which one that doesn't stand isn't verified any more. */
  validTokens(session: CommandSession, tokens: VerifiedTokens, nowMs: number): VerifiedTokens;
  /** Asks whether a connection's token stands, before the connection may last longer (rule U33). */
  askBeforeProlonging(
    session: CommandSession,
    expireAtSeconds: number,
    done: (state: "valid" | "revoked" | "unknown") => void,
  ): void;
}

/** A session that may be held until it is admitted. */
export interface AdmittedSession extends CommandSession {
  /** Holds back what is sent from now on, until {@link admitted}. */
  hold(): void;
  /** The client gets what was held back. */
  admitted(): void;
  /** Closes the connection, and writes the reason to the log (rule A13). */
  refuse(rule: string, reason: string, code: DisconnectCode): void;
}

/**
 * A type of subscriptions beside that to a stream. A feature brings it, and says what clients do on its channels in
 * another way than on a stream.
 */
export interface SubscriptionType {
  /**
   * Goes on with a subscription that begins with several requests, if this is a later one of them.
   *
   * @returns whether the request is answered; false if it has to be treated as a first one
   */
  goOn?(command: RunningCommand<SubscribeRequest>): boolean;
  /** Refuses a subscribe before the client's permission is looked at. Undefined: it goes on. */
  refuse?(session: CommandSession, request: SubscribeRequest): Decision | undefined;
  /**
   * Begins a subscription that was granted.
   *
   * @param asStream goes on as for a stream, with this grant
   */
  begin(granted: GrantedSubscribe, asStream: (grant: Grant) => void): void;
  /** On what other channel it depends whether a client may have one of the type. Absent: on none. */
  readonly dependence?: Dependence;
  /** Carries out a client's publish. Absent: only backends publish to such channels. */
  publish?(command: RunningCommand<PublishRequest>, known: KnownChannel): void;
  /** Whether a publish asks a backend (rule Q3). Absent: as for a stream. */
  asksBeforePublish?(options: ChannelOptions): boolean;
  /** Carries out a `sub_refresh` that tracks keys, or ceases to. Absent: there are no keys. */
  changeTracks?(change: TrackChange): void;
}

/** The types beside streams, by the name in the configuration. */
export type SubscriptionTypes = Readonly<
  Partial<Record<ChannelOptions["subscriptionType"], SubscriptionType>>
>;

/** Methods that clients call, and that the server answers itself, by their names. A feature brings them. */
export type ClientMethods = ReadonlyMap<string, ClientMethod>;

/** A method that clients call. */
export interface ClientMethod {
  /** How many reads a call counts as, by what it asks (rule B16). */
  readonly readsOf: (data: Payload | undefined) => number;
  /** Whether a `send` may call it as well, which has no answer. */
  readonly bySend: boolean;
  /** Whether a call may publish, and so waits as publications do (rule F6). Absent: it doesn't. */
  readonly publishes?: true;
  /** Carries out a call. */
  readonly carryOut: (command: RunningCommand<RpcRequest>, turnTo: TurnTo) => void;
}

/**
 * Takes a channel that a command makes the server turn to, unless the connection is subscribed to it (rule B8).
 *
 * @returns whether it may
 */
export type TurnTo = (channel: string) => boolean;

/** A subscribe that is allowed. */
export interface GrantedSubscribe extends RunningCommand<SubscribeRequest> {
  readonly grant: Grant;
  readonly options: ChannelOptions;
}

/** A `sub_refresh` about the keys that a subscription tracks. */
export interface TrackChange extends RunningCommand<SubRefreshRequest> {
  readonly subscription: Subscription;
  readonly options: ChannelOptions;
  readonly tokens: VerifiedTokens;
}

/** The type of subscriptions to channels with these options; undefined for streams. */
export function typeOf(
  { context }: Pick<CommandSession, "context">,
  { subscriptionType }: ChannelOptions,
): SubscriptionType | undefined {
  return context.subscriptionTypes[subscriptionType];
}

/**
 * Who is asked before a session's command is accepted, in place of tokens and of the namespace's permissions: a backend,
 * where the configuration names a target for it. The session says what is asked about, and carries out what the answer
 * grants; the feature that brings this asks, and reads the answer.
 */
export interface Approver {
  /**
   * Asks about a command (docs/protocol.md 7).
   *
   * @param done called at most once, with the time, in the object's own time or within this call; not if the connection
   *             has ended (rule Q4)
   */
  ask<Hook extends keyof Questions>(
    session: CommandSession,
    inquiry: Inquiry<Hook>,
    done: (answer: Answer<Hook>, nowMs: number) => void,
  ): void;
  /**
   * The headers of a connection as questions about its connect need them.
   *
   * @param kept  those of its handshake
   * @param given with the connect command
   * @returns undefined if a session can't keep so many (rule B2)
   */
  headersAtConnect(
    session: CommandSession,
    kept: KeptHeaders,
    given: ReadonlyMap<string, string>,
  ): KeptHeaders | undefined;
  /** Those that are needed after connect; undefined if there are none. */
  headersAfterConnect(session: CommandSession, kept: KeptHeaders): KeptHeaders | undefined;
  readonly refresh: Refresh;
}

/** Extends the lives of connections and subscriptions in the clients' place (rule Q9). */
export interface Refresh {
  /** Asks about the connection, which has expired, or about one of its subscriptions, and extends or ends it. */
  extend(
    session: CommandSession,
    target: HookTarget,
    subscription: SubscriptionSnapshot | undefined,
    nowMs: number,
  ): void;
  /** Whether somebody is asked about a subscription, or for "" about the connection. */
  isUnderWay(session: CommandSession, channel: string): boolean;
}

/** A question about a command, and the target that is asked. */
export interface Inquiry<Hook extends keyof Questions> {
  readonly hook: Hook;
  readonly question: Questions[Hook];
  readonly target: HookTarget;
  readonly nowMs: number;
}

/** What is asked, by the hook. A feature adds its own in its folder. */
export interface Questions {
  readonly connect: ConnectQuestion;
  readonly subscribe: { readonly channel: string; readonly data?: Payload };
  readonly publish: { readonly channel: string; readonly data: Payload } & Partial<ChangeQuestion>;
  readonly rpc: { readonly method: string; readonly data?: Payload };
  readonly message: { readonly data?: Payload };
}

/** What is asked about a client that connects. */
export interface ConnectQuestion {
  readonly data?: Payload;
  /** The client's name and version; "" for none. */
  readonly name: string;
  readonly version: string;
  /** The channels that the client wants to be subscribed to when it connects. */
  readonly channels: readonly string[];
}

/**
 * What is asked about a client that connects.
 *
 * @param request the client's; undefined if it hasn't come yet (rule Q10)
 */
export function connectQuestion(request: ConnectRequest | undefined): ConnectQuestion {
  if (request === undefined) return { name: "", version: "", channels: [] };
  const { data, name, version, subscriptions } = request;
  const channels = [...subscriptions.keys()];
  return { ...(data === undefined ? {} : { data }), name, version, channels };
}

/** What an answer grants, by the hook. A feature adds its own in its folder. */
export interface Grants {
  /** The credentials of the connection, and the `data` of its connect reply; undefined: it gives none. */
  readonly connect: { readonly claims: ConnectionClaims; readonly data?: JsonText } | undefined;
  readonly subscribe: SubscribeTerms;
  readonly publish: PublicationRequest;
  /** The data of the reply. */
  readonly rpc: Payload | undefined;
  readonly message: undefined;
}

/** What comes of a question: a grant, or the decision on the command (rule Q5). */
export type Answer<Hook extends keyof Questions> =
  | { readonly outcome: "granted"; readonly granted: Grants[Hook] }
  | RefusedCommand;

/** Asks about a command, see {@link Approver.ask}. */
export function ask<Hook extends keyof Questions>(
  session: CommandSession,
  inquiry: Inquiry<Hook>,
  done: (answer: Answer<Hook>, nowMs: number) => void,
): void {
  const { approver } = session.context;
  if (approver === undefined) done(failWith(errorCodes.internal), inquiry.nowMs);
  else approver.ask(session, inquiry, done);
}
