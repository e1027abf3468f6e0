import type { HistoryQuery } from "./channel-call.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import { type RelayEntry, entryBytes } from "./relay-batch.ts";

/**
 * What a gateway asks a channel's object on behalf of its clients; the answers come in the same order. During a deploy the
 * two sides may be one release apart (rule V1): fields are only ever added, and an added field has a meaning of absence.
 */
export type RelayRequest =
  /** Registers the gateway: from the answer's number on it is sent everything. */
  | { readonly method: "follow" }
  /**
   * What came after a position, if all of it is still there, and no more than a client may recover. `whole`: the gateway
   * itself has missed it, and needs it however much it is. It gets the oldest of it, at least one publication, and asks for
   * the rest from there on, until it is where the answer says that the stream stands.
   */
  | { readonly method: "recover"; readonly since: StreamPosition; readonly whole?: boolean }
  /** The newest publication, if it is still there: all that matters on a channel with cache recovery. */
  | { readonly method: "newest" }
  /** A client's publication. Its right to publish, and the data, were checked by the gateway. */
  | { readonly method: "publish"; readonly data: Payload; readonly info: ClientInfo }
  /** `bytesMax`: how large an answer the client can take. */
  | { readonly method: "history"; readonly query: HistoryQuery; readonly bytesMax: number }
  /** Joins, leaves and sole connections of the gateway's clients, for everybody. */
  | { readonly method: "announce"; readonly entries: readonly RelayEntry[] };

export type RelayReply =
  | {
      readonly outcome: "following";
      /** Where the stream stands; absent on a channel without history. */
      readonly position?: StreamPosition;
      /** Everything up to here was before: see {@link RelayBatch}. */
      readonly instance: number;
      readonly sequence: number;
    }
  /** Publications after the position asked for (or the newest one), oldest first; the stream stands at `position`. */
  | {
      readonly outcome: "recovered";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | { readonly outcome: "unrecoverable"; readonly position: StreamPosition }
  /** The publication is entry `sequence` of `instance`, if the gateway is registered. */
  | { readonly outcome: "published"; readonly instance: number; readonly sequence: number }
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | { readonly outcome: "announced" }
  | { readonly outcome: "error"; readonly error: ErrorCode };

/** The answer to one call. Overloaded: nothing of it was done. */
export type RelayReplies =
  | { readonly outcome: "answers"; readonly answers: readonly RelayReply[] }
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/** Who of a gateway's sockets is present on a channel. */
export interface GatewayPresence {
  readonly clients: readonly ClientInfo[];
}

/** Who is present on a channel, on all its sockets. */
export type ChannelPresenceReply =
  | {
      readonly outcome: "present";
      readonly clients: readonly ClientInfo[];
      /** Whether every gateway answered in time. */
      readonly complete: boolean;
    }
  | { readonly outcome: "error"; readonly error: ErrorCode };

/** What a question holds in memory, roughly. */
export function relayRequestBytes(request: RelayRequest): number {
  switch (request.method) {
    case "publish":
      return entryBytes({
        type: "publication",
        publication: { data: request.data, offset: 0, info: request.info },
      });
    case "announce":
      return request.entries.reduce((sum, entry) => sum + entryBytes(entry), plainBytes);
    case "follow":
    case "recover":
    case "newest":
    case "history":
      return plainBytes;
  }
}

const plainBytes = 256;
