import type { Refusal } from "../access/refusal.ts";
import type { Channel } from "../channel/channel.ts";
import type { ChannelSetup } from "../channel/channel-setup.ts";
import type { Config } from "../config/config.ts";
import type { BackendQuestion, BackendReply } from "../contract/backend-call.ts";
import type {
  CarriedReport,
  ChannelAnswer,
  ChannelAnswers,
  ChannelOperation,
} from "../contract/channel-call.ts";
import type { Erased } from "../contract/erased.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { GatewaySetup } from "../gateway/gateway-setup.ts";
import type { SessionContext } from "../session/ports.ts";
import type { ClientSockets } from "./client-sockets.ts";
import type { Platform } from "./platform.ts";
import type { ChannelPresenceReply, PresenceKind } from "../contract/relay-request.ts";
import type { Backlog } from "../hub/backlog.ts";
import type { FanOutLimits } from "../hub/hub.ts";
import type { SubscriptionPart } from "../session/channels.ts";
import type { CommitQueue, JobOutcome } from "./commit-queue.ts";

/**
 * What a feature adds to an object that holds clients' sockets. A part has those members that it needs. The host calls the
 * parts in the order of their list.
 */
export interface ObjectPart extends SubscriptionPart {
  /** What it adds to the setup of the object's sessions. */
  readonly ofSessions?: Partial<SessionContext>;
  /** What it adds to the setup of the channel, on the channel's own object. */
  ofChannel?(name: string): Partial<ChannelSetup>;
  /** What it adds to the setup of a gateway. */
  readonly ofGateway?: Partial<GatewaySetup>;
  /** The channel of the object is there. */
  began?(channel: Channel): void;
  /** The object was made to act. */
  happened?(kind: EventKind): void;
  /** What was collected is handed on: all of it is durable. */
  handsOn?(nowMs: number): void;
  /** Everything that the jobs of a round have written is durable. */
  committed?(nowMs: number): void;
  /** An event of the object ends, before the alarm is set. */
  ended?(nowMs: number): void;
  /** Does what is due. It is called when an event ends, after the hub has begun to send. */
  settle?(nowMs: number): void;
  /** Whether something waits to be sent: then {@link sendSlice} is called in another turn of the event loop. */
  readonly sending?: boolean;
  sendSlice?(): void;
  /**
   * Ends what operations of a backend have begun, before they are answered; one part of an object does at most.
   *
   * @param parts all of the object
   */
  finish?(
    ended: EndedOperations,
    parts: readonly ObjectPart[],
    done: (answers: readonly ChannelAnswer[]) => void,
  ): void;
  /**
   * Blanks publications of the channel that are erased, a slice of what it holds in each call (rule ED14).
   *
   * @param from what the call before gave; 0 in the first call
   * @returns undefined if no slice is left
   */
  erase?(erased: Erased, from: number): number | undefined;
  /** The alarm rings. */
  rang?(nowMs: number): void;
  /** Does what is due when the alarm rings. The object settles afterwards. */
  ring?(nowMs: number): void;
  /** Forgets what is stored of other clients: their sockets were lost with an instance that couldn't do it. */
  keepOnly?(connected: ReadonlySet<string>): void;
  /** When the alarm has to ring for it, ms since 1970; Infinity for never. */
  dueAtMs?(nowMs: number): number;
  /** Whether nothing of it is stored; absent: nothing ever is. */
  storesNothing?(): boolean;
  /** The storage was deleted because nothing is stored: the tables that the part has made are gone. */
  storageDeleted?(): void;
  /** The object's events after a number, each as JSON text (rule E5). */
  eventsAfter?(since: number, limit: number, nowMs: number): readonly string[];
  /** A command or a socket was refused. */
  refused?(refusal: Refusal, nowMs: number): void;
  /** A backend was asked, and has answered after that time. */
  backendAnswered?(question: BackendQuestion, reply: BackendReply, seconds: number): void;
  /** All frames that were on their way have been sent, after that time. */
  sent?(seconds: number): void;
  /** A channel's object has called. */
  calledByChannel?(): void;
  /** Lists the clients or users that a presence map shows, and ends the event. */
  listShown?(kind: PresenceKind, done: (reply: ChannelPresenceReply) => void): void;
  /** Tells a backend of something that another feature has found, in the stretch in which that is written. */
  tell?(event: ToldEvent, nowMs: number): void;
  /** How many events the backend hasn't taken yet. */
  readonly untaken?: number;
  /** What the answer to a caller carries that reports for the object (rule J7). */
  forAnswer?(nowMs: number): CarriedReport | undefined;
  /** Whether the object can report for another one. */
  readonly carries?: boolean;
  /** Takes what came with the answer of another object. */
  carry?(counted: CarriedReport): void;
}

/** Operations of one call that were carried out, and their answers, in order. */
export interface EndedOperations {
  readonly operations: readonly ChannelOperation[];
  readonly answers: readonly ChannelAnswer[];
}

/**
 * Has the part that does so end what the operations of a backend's call have begun.
 *
 * @param parts of the channel's object
 */
export function finish(
  operations: readonly ChannelOperation[],
  carriedOut: JobOutcome<ChannelAnswers>,
  parts: readonly ObjectPart[],
  done: (finished: JobOutcome<ChannelAnswers>) => void,
): void {
  const finisher = parts.find((part) => part.finish !== undefined);
  if (
    finisher?.finish === undefined ||
    carriedOut.outcome !== "done" ||
    carriedOut.result.outcome === "overloaded"
  ) {
    done(carriedOut);
    return;
  }
  finisher.finish({ operations, answers: carriedOut.result.answers }, parts, (answers) =>
    done({ outcome: "done", result: { outcome: "answers", answers } }),
  );
}

/** What features tell a backend of, by its `type`: a feature adds its own in its folder. @public */
export interface ToldEvents {}

/** One of these events. */
export type ToldEvent = {
  [Type in keyof ToldEvents]: { readonly type: Type } & ToldEvents[Type];
}[keyof ToldEvents];

/**
 * What makes an object act: clients, the alarm, and calls of the HTTP API (`api`), of gateways, of a channel's object
 * (`batch`), for presence, for users and their homes, for the directory, and by those who ask how the object is.
 */
export type EventKind =
  | "upgrade"
  | "frame"
  | "close"
  | "alarm"
  | "api"
  | "gateway"
  | "batch"
  | "presence"
  | "users"
  | "directory"
  | "question";

/** Makes the part of one object; undefined if the configuration has no use for it there. */
export type NewPart = (object: PartHost) => ObjectPart | undefined;

/** An object of either kind, as its parts see it. */
export type PartHost = PartedChannelObject | PartedGateway;

/** What a feature adds to a home of users. */
export interface HomePart extends Pick<ObjectPart, "ended" | "dueAtMs" | "rang" | "eventsAfter"> {
  /** A user has got the first connection, or has lost the last one. Absent where that isn't of interest. */
  noteOnline?(user: string, isOnline: boolean): void;
}

/** A home of users, as its parts see it. */
export interface PartedHome extends Pick<PartedObject, "config" | "platform" | "endEvent"> {
  /** The part of that class; undefined if there is none here. */
  part<Part extends HomePart>(wanted: abstract new (...made: never[]) => Part): Part | undefined;
}

/** How much is done in one turn. The simulator's bounds are so small that a few clients reach them. */
export type ObjectBounds = FanOutLimits & { readonly presenceSliceClients: number };

/** An object, as its parts see it. Its channel or gateway is there once the parts are made. */
export interface PartedObject {
  readonly config: Config;
  readonly platform: Platform;
  /** The object's name among all objects. */
  readonly node: string;
  readonly awakeSinceMs: number;
  /** The clients' sockets; there once the parts are made. */
  readonly sockets: Pick<ClientSockets, "sessions" | "clients" | "empty">;
  /** The channel whose object it is; undefined for a gateway, and if the configuration lacks the channel's namespace. */
  readonly knownChannel: string | undefined;
  readonly askBackend: AskBackend;
  /** The part of that class; undefined if there is none here. */
  part<Part extends ObjectPart>(wanted: abstract new (...made: never[]) => Part): Part | undefined;
  readonly backlog: Pick<Backlog, "overloaded">;
  /** Notes an event, for those who ask what the object wakes for. */
  readonly happened: (kind: EventKind) => void;
  /** The number of channels that have subscribers on this object. */
  channelCount(): number;
  /** When the job came that is being carried out, ms since 1970; undefined outside of a job. */
  jobAddedAtMs(): number | undefined;
  /** The calls since the object woke for which the platform bills, without those that are counted at the called object. */
  readonly billedCalls: number;
  /** Called before calls to other objects, with their number, by default one. */
  readonly called: (calls?: number) => void;
  /** Does work after so many ms; after 0 ms, others have had a turn. */
  readonly later: (waitMs: number, work: () => void) => void;
  readonly endEvent: (nowMs: number) => void;
  /** Ends an event without settling: nothing was collected to be sent to clients. */
  readonly schedule: (nowMs: number) => void;
  /** Somebody asks how the object is: closes silent connections first. @returns the time, ms since 1970 */
  looked(): number;
}

/**
 * Asks a backend, once.
 *
 * @param done called once, with the time; "busy" if the backend has answered, but the object can't carry out what follows
 *             (rule B6), or if nobody waits for the answer any more
 */
export type AskBackend = (
  question: BackendQuestion,
  timeoutMs: number,
  done: (reply: BackendReply | { readonly outcome: "busy" }, nowMs: number) => void,
) => void;

/** The object of a channel, as its parts see it. */
export interface PartedChannelObject extends PartedObject {
  readonly kind: "channel";
  readonly channel: Channel;
  readonly queue: CommitQueue;
  readonly bounds: ObjectBounds;
  /** Closes silent connections. */
  readonly sweep: () => void;
  /** Has the parts that tell backends of events tell of this one. */
  readonly tell: (event: ToldEvent, nowMs: number) => void;
  /** How many events the backend hasn't taken yet. */
  readonly untaken: () => number;
}

/** The object of a gateway, as its parts see it. */
export interface PartedGateway extends PartedObject {
  readonly kind: "gateway";
  readonly gateway: Gateway;
}

/** The calls that a feature adds to objects: how an object carries each out. */
export type AddedCalls<Calls, Host> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (
    ...request: infer Request extends readonly object[]
  ) => Promise<infer Answer>
    ? AddedCall<Host, Readonly<Request>, Answer>
    : never;
};

/** One of these calls. */
interface AddedCall<Host, Request extends readonly object[], Answer> {
  // A method, so that those of all calls are of one type.
  answer(object: Host, request: Request, done: (answer: Answer) => void): void;
}

/** Such calls, whatever they are. */
export type CallsTo<Host> = Readonly<Record<string, AddedCall<Host, readonly object[], object>>>;
