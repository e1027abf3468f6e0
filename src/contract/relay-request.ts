import {
  operationBytes,
  type ClientOperation,
  type OperationReply,
  type CarriedReport,
} from "./channel-call.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import { type RelayEntry, entryBytes } from "./relay-batch.ts";

/**
 * A request of a gateway to a channel's object, for its clients. The replies come in the order of the requests. During
 * a deploy the two sides may be one release apart (rule V1): fields are only added, and the absence of an added field
 * has a meaning.
 */
export type RelayRequest =
  | ClientOperation
  | {
      [Method in keyof RelayRequests]: { readonly method: Method } & RelayRequests[Method];
    }[keyof RelayRequests];

/** The requests that aren't operations, by their `method`. A feature adds its own in its folder. @public */
export interface RelayRequests {
  /**
   * Registers the gateway: it is sent every entry after the `sequence` of the reply. `onlooks`: for onlookers alone (rule
   * N19); absent: it isn't.
   */
  readonly follow: { readonly onlooks?: true };
  /**
   * Reads all publications after a position, if they can be read and are no more than a client may recover. `whole`:
   * the gateway itself has missed them and needs all of them, however many they are. Then the reply holds the oldest
   * ones, at least one, and the gateway requests the next ones from there on, until it has reached the reply's
   * position.
   */
  readonly recover: { readonly since: StreamPosition; readonly whole?: boolean };
  /** Reads the newest publication, if it can be read, for recovery in cache mode. */
  readonly newest: object;
  /** Passes on joins, leaves and exclusive connections of the gateway's clients. */
  readonly announce: { readonly entries: readonly RelayEntry[] };
  /** The gateway has no subscriber any more, or has one besides onlookers: the channel's object is to ask it (rule E10). */
  readonly check: object;
}

/** The reply to one request: an {@link OperationReply} to an operation. To any other request it is only the failure. */
export type RelayReply =
  | OperationReply
  | {
      [Outcome in keyof RelayOutcomes]: { readonly outcome: Outcome } & RelayOutcomes[Outcome];
    }[keyof RelayOutcomes];

/** The replies to requests that aren't operations, by their `outcome`. A feature adds its own in its folder. @public */
export interface RelayOutcomes {
  readonly following: {
    /** The top; absent on a channel without history. */
    readonly position?: StreamPosition;
    /** The number of the last entry before the gateway was registered: see `RelayBatch`. */
    readonly instance: number;
    readonly sequence: number;
  };
  /** The publications that were requested, oldest first. `position` is the top. */
  readonly recovered: {
    readonly publications: readonly Publication[];
    readonly position: StreamPosition;
  };
  /** The publications can't be read. `position` is the top. */
  readonly unrecoverable: { readonly position: StreamPosition };
  readonly announced: object;
  readonly checking: object;
}

/** The reply to one call: a reply for each request, in order. overloaded: no request was carried out. */
export type RelayReplies =
  | {
      readonly outcome: "answers";
      readonly answers: readonly RelayReply[];
      /** The object's counts, for a caller that reports them (rule J7). Absent: the object reports them itself. */
      readonly counted?: CarriedReport;
    }
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/** The clients of a gateway that are present on a channel. */
export interface GatewayPresence {
  readonly clients: readonly ClientInfo[];
}

/** The kind of a list of present clients: it names each client, or each user once. */
export type PresenceKind = "clients" | "users";

/** The clients that are present on a channel, on its own object and on all gateways (rule G6). */
export type ChannelPresenceReply =
  | {
      readonly outcome: "present";
      readonly clients: readonly ClientInfo[];
      /** Whether every gateway answered in time. */
      readonly complete: boolean;
    }
  | { readonly outcome: "error"; readonly error: ErrorCode };

/** The bytes that a request takes in memory, estimated. */
export function relayRequestBytes(request: RelayRequest): number {
  if ("request" in request) {
    const { info } = "info" in request ? request : {};
    return operationBytes(request) + (info === undefined ? 0 : entryBytes({ type: "join", info }));
  }
  const { entries = [], known = [], keys = [] }: RequestLists = request;
  const entriesBytes = entries.reduce((sum, entry) => sum + entryBytes(entry), plainBytes);
  const knownBytes = known.reduce((sum, { key }) => sum + key.length + keyBytes, entriesBytes);
  return keys.reduce((sum, key) => sum + key.length + keyBytes, knownBytes);
}

/** The lists of a request that may be long. */
interface RequestLists {
  readonly method: string;
  readonly entries?: readonly RelayEntry[];
  readonly known?: readonly { readonly key: string }[];
  readonly keys?: readonly string[];
}

const plainBytes = 256;

/** A key in a list, beside its characters. */
const keyBytes = 32;
