import type { ChannelOptions } from "../config/config.ts";
import type {
  ChannelOperation,
  FailedReply,
  OperationReply,
  PublicationRequest,
} from "../contract/channel-call.ts";
import type { RelayEntry } from "../contract/relay-batch.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";
import type { FieldWriter } from "../protocol/fields.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import type { PublishOutcome } from "./channel-outcomes.ts";
import type { History, HistoryOutcome } from "./history.ts";
import type { PublicationStore } from "./publication-store.ts";
import type { Relay } from "./relay.ts";
import type { Sql } from "../sql.ts";
import type { ChannelKeys, KeyedChannel, KeyedStream } from "./keyed-stream.ts";
import type { StoredTable } from "./stored-tables.ts";

/**
 * What a feature does on one channel. The channel asks its parts, in their order, about what isn't the stream's: the
 * first one that gives anything but undefined has carried it out. A feature has a part of a channel that isn't of its
 * type only to refuse its operations there.
 */
export interface ChannelPart {
  /**
   * Carries out an operation of a backend or a client.
   *
   * @param roomBytes how large the publications of the reply may be, where the operation itself allows more
   */
  carryOut?(operation: ChannelOperation, nowMs: number, roomBytes: number): PartOutcome | undefined;
  /**
   * Whether an operation of the part would change nothing, because something is amiss with it or because it was carried out before.
   * Nobody has to decide on it then. Undefined for operations of others.
   */
  isVain?(operation: ChannelOperation, nowMs: number): boolean | undefined;
  /**
   * Decides on an operation before any other part sees it, and has it carried out, as it is or changed. Undefined where the part
   * decides on none; at most one part of a channel decides.
   *
   * @param next carries an operation out; to be called once at most
   */
  readonly decide?:
    | ((
        operation: ChannelOperation,
        nowMs: number,
        next: (operation: ChannelOperation) => PartOutcome,
      ) => PartOutcome)
    | undefined;
  /**
   * Carries out a request of a gateway that is no operation.
   *
   * @param roomBytes how large the reply may be
   */
  reply?(
    gateway: string,
    request: RelayRequest,
    roomBytes: number,
    nowMs: number,
  ): RelayReply | undefined;
  /** Takes an entry about a subscriber, here or on a gateway, that the features' `SubscriptionPart` has made. */
  announced?(entry: RelayEntry, nowMs: number): void;
  /**
   * A client comes or goes, here or on a gateway.
   *
   * @returns whether subscribers are told; false if they have been told already
   */
  announces?(type: "join" | "leave", info: ClientInfo): boolean;
  /** Takes each publication, in the stretch in which its row is written. */
  accepted?(entry: AcceptedEntry, nowMs: number): void;
  /** Calls back once the channel can be read for these calls, or can't be; at once where nothing is to wait for. */
  whenReadable?(
    calls: readonly (ChannelOperation | RelayRequest)[],
    nowMs: number,
    done: (outcome: "ready" | "failed") => void,
  ): void;
}

/** A publication as it was requested, with the client that published it, if one did. */
export interface AcceptedEntry extends Pick<
  Publication,
  "data" | "tags" | "info" | "key" | "removed"
> {
  readonly traceparent?: string;
}

/** The outcome of a feature's operation on a channel. */
export type PartOutcome =
  | PublishOutcome
  | HistoryOutcome
  | { readonly outcome: "done" }
  | { readonly outcome: "unrecoverable"; readonly position: StreamPosition }
  /** Nothing was done. */
  | { readonly outcome: "full" | "misplaced" | "unknown" }
  | FailedReply
  /** The result of a backend, which the feature writes. */
  | { readonly outcome: "result"; readonly fields: (out: FieldWriter) => void }
  /** The reply to a client. */
  | { readonly outcome: "reply"; readonly reply: OperationReply };

/** A channel, as its parts see it. */
export interface PartedChannel {
  readonly name: string;
  readonly options: ChannelOptions;
  readonly relay: Relay;
  readonly keys: ChannelKeys | undefined;
  /** Whether the channel has subscribers, here or on gateways. */
  readonly isHeld: boolean;
  /** The publications that can be read. */
  readonly stored: Pick<
    History,
    | "readable"
    | "isReadable"
    | "find"
    | "kept"
    | "naming"
    | "changesOf"
    | "labels"
    | "timeOf"
    | "oldestRow"
  >;
  /** Writes publications, and gives stored ones other contents, in one transaction. */
  readonly store: Pick<
    PublicationStore,
    | "firstResult"
    | "suppressionOf"
    | "hasRoom"
    | "append"
    | "amend"
    | "erase"
    | "rewrite"
    | "rewritten"
  >;
  /** Collects a publication that was stored. */
  readonly published: KeyedChannel["published"];
  /** The top of the stream, also of one that has ended; undefined without one. Never makes a stream. */
  readonly top: StreamPosition | undefined;
  /** The top of a stream that hasn't ended; undefined without one. Never makes a stream. */
  topAt(nowMs: number): StreamPosition | undefined;
  /** The parts of the channel; there once they are made. */
  readonly parts: readonly ChannelPart[];
  /** Publishes, as a backend's request does if there is no client. */
  publish(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
    apiKey?: string,
  ): PublishOutcome;
}

/** The features, as a channel uses them when it begins. */
export interface FeaturedChannels {
  /** The kind of the streams of such channels; undefined for publications without keys. */
  keyedStreamOf(options: ChannelOptions): KeyedStream | undefined;
  /** Makes the parts of a channel. */
  partsOf(channel: PartedChannel, setup: PartSetup): readonly ChannelPart[];
}

/** The ports of a channel that its parts need. */
export interface PartSetup {
  readonly newEpoch: () => string;
  readonly nowMs: number;
  readonly sql: Sql;
  /** The tables that existed when the instance began. */
  readonly tables: ReadonlySet<StoredTable>;
}
