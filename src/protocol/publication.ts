import type { JsonText } from "./json/text.ts";
import type { Payload } from "./payload.ts";
import type { Grown } from "./piece.ts";

/**
 * One message on a channel, as subscribers receive it. Gateways get it in relay batches, so two releases agree on its
 * fields.
 */
export interface Publication {
  /** Empty, and not sent, if a key was removed. */
  readonly data: Payload;
  /** From 1 on; 0 on a channel without history. */
  readonly offset: number;
  /**
   * The channel's epoch; only on the live publication at offset 1, from which a client may adopt it (docs/protocol.md
   * 2.6).
   */
  readonly epoch?: string;
  /** Present if a client published it, absent if a backend did. */
  readonly info?: ClientInfo;
  readonly tags?: Tags;
  /**
   * The UUID of a connection that doesn't get the publication, because its client knows of it. It goes to gateways, and
   * never to a client; the history doesn't keep it.
   */
  readonly except?: string;
  /**
   * Whether its publisher, or its namespace, lets delta subscribers get this publication as a delta. The name is
   * transmitted.
   */
  readonly mayBePatch?: boolean;
  /** Whether `data` is a delta from the payload that the same subscriber got before (docs/protocol.md 3.1). */
  readonly delta?: boolean;
  /**
   * The key of the map or of the shared poll that this publication changes; absent on a stream (docs/protocol.md 3.4).
   */
  readonly key?: string;
  /** The key was removed. */
  readonly removed?: true;
  /** By which the keys of a map can be ordered: a safe integer, also below 0. */
  readonly score?: number;
  /** The version of a shared poll's key (docs/protocol.md 3.5), a uint64. */
  readonly version?: bigint;
  /** The data of the key before. It is sent if it is present, whereas a delta's base is not. */
  readonly prevData?: Payload;
  /**
   * The data of the key before this publication, where delta subscribers may get a delta from it; absent if the key was
   * new. It goes to gateways, and never to a client.
   */
  readonly before?: Payload;
  /**
   * The value of the key has grown by what was appended since the publication before (rule Z39). It goes to gateways, and
   * never to a client.
   */
  readonly grown?: Grown;
}

/** The client that published, joined or is present, as other clients see it (docs/protocol.md 1.3, ClientInfo). */
export interface ClientInfo {
  /** The `sub` of the connection token; "" for an anonymous connection. */
  readonly user: string;
  /** The ID of the connection, a UUID. */
  readonly client: string;
  /** The `info` of the connection token. */
  readonly connInfo?: JsonText;
  /** The `info` of the subscription token. */
  readonly chanInfo?: JsonText;
}

/** A place in the order of a channel's publications. Offset 0 is the place before the first one. */
export interface StreamPosition {
  readonly offset: number;
  readonly epoch: string;
}

/** The tags of a publication: texts by name, which tags filters see. */
export type Tags = Readonly<Record<string, string>>;

/** Whether the values of an object are those of tags. */
export function areTags(values: object): values is Tags {
  return Object.values(values).every((value) => typeof value === "string");
}
