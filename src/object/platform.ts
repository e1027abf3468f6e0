/**
 * What an object needs of the platform on which it lives. Nothing here returns a promise: what takes time calls back, in
 * an event of its own. `workers/objects` implements it on Durable Objects, and the simulator in a world with faults.
 */
import type { ConnectionVerdict, SubscriptionVerdict } from "../access/claims.ts";
import type { Refusal } from "../access/refusal.ts";
import type { SilentConnections } from "../access/server-descriptors.ts";
import type { TrackVerdict } from "../access/key-signature.ts";
import type { HookEndpoint } from "../config/config.ts";
import type { KeepaliveTexts } from "../contract/keepalive.ts";
import type { BackendQuestion, BackendReply } from "../contract/backend-call.ts";
import type { TrackBatch } from "../protocol/command.ts";
import type { Sql } from "../sql.ts";
import type { CallName, CallReply, CallRequest } from "./object-call.ts";

/** The platform of one object. */
export interface Platform {
  /** The object's name among those of its kind. */
  readonly name: string;
  readonly sql: CountedSql;
  readonly sockets: PlatformSockets;
  readonly verifier: Verifier;
  /** Takes reports of silent connections (rule B31); absent where file descriptors have no bound. */
  readonly silent?: Pick<SilentConnections, "report">;
  /** The time by the clock of the object's machine, ms since 1970. */
  nowMs(): number;
  /** Does work after so many ms; after 0 ms, others have had a turn. Meanwhile the object can't hibernate. */
  after(waitMs: number, work: () => void): Timer;
  /** Does work that must not keep what comes after it from being done: an error that it throws goes to the log. */
  guard(work: () => void): void;
  /** Calls back once everything written so far is durable; with false if it never will be. */
  sync(done: (isDurable: boolean) => void): void;
  /** Deletes everything that is stored, and then calls back. */
  deleteAll(done: () => void): void;
  /** The size of the database, bytes. */
  storedBytes(): number;
  /** Reads the time of the object's alarm: ms since 1970, Infinity if none is set. */
  readAlarm(done: (atMs: number) => void): void;
  /** The same. Nothing else happens to the object before it has called back. */
  readAlarmFirst(done: (atMs: number) => void): void;
  /** Sets the alarm, in the same commit as what was written in this event. `failed` is called if it couldn't be set. */
  setAlarm(atMs: number, failed: () => void): void;
  /** Calls another object, once. */
  readonly call: CallObject;
  /** Asks a backend, once, and waits for its answer for at most so many ms (rule Q5). */
  askBackend(
    question: BackendQuestion,
    timeoutMs: number,
    done: (reply: BackendReply) => void,
  ): void;
  /**
   * Sends a batch of events to a receiver, once.
   *
   * @param body JSON
   * @param done takes whether the receiver has taken it; if that isn't known it says no
   * @param to   absent: the target of the configuration's events
   */
  sendEvents(body: string, done: (isTaken: boolean) => void, to?: SignedReceiver): void;
  /** A new ID for a connection. */
  newClient(): string;
  /** A new epoch of a stream. */
  newEpoch(): string;
  /**
   * Does work in a span of the platform's tracing (rule X2), which lasts until the work calls back. To be called only for
   * work of a known trace: a span costs about 10 µs, also where nothing is traced.
   */
  span(
    name: "publish" | "commit",
    attributes: TracedPublication,
    work: (over: () => void) => void,
  ): void;
  /** A warning or an error for the log: without anything from a payload or a token. */
  log(level: "warn" | "error", line: string): void;
  /** Notes a refusal in the log (rule A13). */
  noteRefusal(refusal: Refusal, node: string): void;
  /** Ends this instance once the event is over; the next event makes the object again. */
  abandon(reason: string): void;
}

/** Makes a call to another object. The answer comes in an event of its own. */
type CallObject = <Name extends CallName>(
  name: Name,
  to: string,
  request: CallRequest<Name>,
  waitMs: number,
  done: (reply: CallReply<Name>) => void,
) => void;

/** A receiver of events that knows by its own secret who sends them. */
export interface SignedReceiver {
  readonly endpoint: HookEndpoint;
  /** The name of the secret with which the body is signed (HMAC-SHA256). */
  readonly secret: string;
  /** The headers of a request. @param signature hexadecimal */
  readonly headers: (signature: string) => Readonly<Record<string, string>>;
}

/** The object's database, which counts the rows that the platform bills. */
interface CountedSql extends Sql {
  /** The rows written since the object woke. */
  readonly rowsWritten: number;
}

/** Something that is going to happen. */
export interface Timer {
  cancel(): void;
}

/** The sockets that clients have opened to the object. They outlive its memory. */
export interface PlatformSockets {
  /** All that are open, or only those with a tag. */
  all(tag?: string): readonly PlatformSocket[];
  tagsOf(socket: PlatformSocket): readonly string[];
  /** When the platform last answered the client in the object's place (rule K3), ms since 1970; undefined for never. */
  answeredAtMs(socket: PlatformSocket): number | undefined;
  /** What the platform answers in the object's place, from now on; undefined: nothing. */
  setAnswering(texts: KeepaliveTexts | undefined): void;
}

/** A client's socket. A hibernatable WebSocket of the platform is one. */
export type PlatformSocket = Pick<
  SocketMembers,
  "send" | "close" | "serializeAttachment" | "deserializeAttachment" | "bufferedAmount"
>;

interface SocketMembers {
  /** @throws if the socket is closing */
  send(message: string | Uint8Array): void;
  /** @throws if the platform takes no such code or reason, or the socket has failed already */
  close(code?: number, reason?: string): void;
  /** Stores what {@link deserializeAttachment} gives, for as long as the socket lives. */
  serializeAttachment(attachment: object): void;
  deserializeAttachment(): unknown;
  /** Bytes that were sent and that the client hasn't taken yet; undefined where the platform doesn't say. */
  readonly bufferedAmount?: number;
}

/** Verifies tokens and signatures. It calls back at once, or in an event of its own. */
export interface Verifier {
  connection(token: string, nowMs: number, done: (verdict: ConnectionVerdict) => void): void;
  subscription(token: string, nowMs: number, done: (verdict: SubscriptionVerdict) => void): void;
  /** Gives a verdict for each batch, on whether its keys may be tracked by the user. */
  tracks(
    batches: readonly TrackBatch[],
    user: string,
    channel: string,
    nowMs: number,
    done: (verdicts: readonly TrackVerdict[]) => void,
  ): void;
  /**
   * Finds out whether a text is signed (HMAC-SHA256) with a secret that the configuration names.
   *
   * @param signature hexadecimal
   */
  signed(secret: string, text: string, signature: string, done: (isSigned: boolean) => void): void;
}

/** `traceparent` is the trace of the backend or the client, which the platform's own doesn't continue. */
export interface TracedPublication {
  readonly traceparent: string;
  readonly channel: string;
}
