/**
 * What happens to channels that keep what their users have got and read (the rules CU). Questions and marks are told when they
 * are asked and when they are answered, so that an answer can be compared with what was known in between.
 */
export type CursorEvent =
  | CursorsOpened
  | MemberNamed
  | AudienceListed
  | PingAnswered
  | MarkAsked
  | MarkAnswered
  | UnreadAsked
  | UnreadAnswered
  | DeliveredAsked
  | DeliveredAnswered
  | CursorCallEnded
  | ReceiptEvent;

/** What is shown of users' marks, and what they are in the end. */
export type ReceiptEvent =
  | ReceiptsShown
  | ReceiptChanged
  | ReceiptsEnded
  | MarksListed
  | UserForgotten;

interface Common {
  /** µs since some fixed moment, as in `HistoryEvent`. */
  readonly time: number;
  readonly process: string;
  readonly channel: string;
}

/** The first event of such a channel. */
export interface CursorsOpened extends Common {
  readonly type: "info";
  readonly f: "cursors";
  /** Whether members are those who subscribe, or those whom a backend names. */
  readonly audience: "subscribed" | "named";
  /** After how many ms a backend is told that a member hasn't seen a publication. */
  readonly notifyAfterMs: number;
  /** The largest number of unread publications that is told. */
  readonly unreadMax: number;
}

/** A backend is about to make a user a member of the audience. */
interface MemberNamed extends Common {
  readonly type: "invoke";
  readonly f: "member";
  readonly user: string;
}

/** A backend was told who the members of the audience are. */
export interface AudienceListed extends Common {
  readonly type: "ok";
  readonly f: "audience";
  readonly users: readonly string[];
}

/**
 * A client with a connection to the channel's own object answers a ping. The server sends the next ping only when it has the
 * answer (rule K2).
 */
interface PingAnswered extends Common {
  readonly type: "ok";
  readonly f: "pong";
}

interface CursorCall extends Common {
  /** Unique in the history. */
  readonly call: string;
  readonly user: string;
}

/** Somebody asks to mark what a user has read. */
export interface MarkAsked extends CursorCall {
  readonly type: "invoke";
  readonly f: "mark";
  readonly epoch: string;
  readonly offset: number;
  /** Whether a client of the user marks, and so says that it has got everything up to there. */
  readonly own: boolean;
}

export interface MarkAnswered extends CursorCall {
  readonly type: "ok";
  readonly f: "mark";
  readonly epoch: string;
  /** The mark that stands. */
  readonly read: number;
}

interface UnreadAsked extends CursorCall {
  readonly type: "invoke";
  readonly f: "unread";
}

export interface UnreadAnswered extends CursorCall {
  readonly type: "ok";
  readonly f: "unread";
  readonly unread: number;
  readonly read: number;
  /** The newest publication. */
  readonly offset: number;
  readonly epoch: string;
  readonly capped?: boolean;
  readonly reset?: boolean;
}

/** Somebody asks what a user is known to have got. */
interface DeliveredAsked extends CursorCall {
  readonly type: "invoke";
  readonly f: "delivered";
}

export interface DeliveredAnswered extends CursorCall {
  readonly type: "ok";
  readonly f: "delivered";
  readonly epoch: string;
  /** Everything after the one and up to the other has arrived; `since` is 0 if it is absent. */
  readonly since?: number;
  readonly offset: number;
  readonly by?: string;
}

/** A mark or a question was refused (fail), or nobody knows what became of it (info). */
interface CursorCallEnded extends CursorCall {
  readonly type: "fail" | "info";
  readonly f: "mark" | "unread" | "delivered";
}

/** What a user has read of an epoch, as somebody was told. */
export interface ReceiptTold {
  readonly user: string;
  readonly epoch: string;
  readonly read: number;
  /** When the user marked that, ms since 1970. */
  readonly atMs: number;
}

/** A client has synchronised the channel's receipts: from now on it is told each change. */
interface ReceiptsShown extends Common {
  readonly type: "ok";
  readonly f: "receipts";
  readonly entries: readonly ReceiptTold[];
}

/** A client is told that a user has read more or, without the other fields, that nothing is shown of the user any more. */
interface ReceiptChanged extends Common, Partial<ReceiptTold> {
  readonly type: "ok";
  readonly f: "receipt";
  readonly user: string;
}

/** A client's subscription to receipts has ended. */
interface ReceiptsEnded extends Common {
  readonly type: "info";
  readonly f: "receipts-end";
  /** Whether the client won't come back. */
  readonly leaves?: boolean;
}

/** A backend was told what all users have read, when everything had settled. */
export interface MarksListed extends Common {
  readonly type: "ok";
  readonly f: "marks";
  readonly epoch: string;
  readonly marks: readonly Omit<ReceiptTold, "epoch">[];
}

/** A backend is about to have a user forgotten. */
interface UserForgotten extends Common {
  readonly type: "invoke";
  readonly f: "forget-user";
  readonly user: string;
}
