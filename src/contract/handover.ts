import type { ConnectionClaims } from "../access/claims.ts";
import type { CodecName } from "../protocol/codec.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { HookHeader } from "./session-snapshot.ts";

/**
 * The edge's decisions on a connection, sent to the object that will hold the connection. During a deploy the two sides
 * may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface Handover {
  readonly v: 1;
  /** Which side sends pings: the server, or a client that asked for it with `?keepalive=client`. */
  readonly keepalive: "client" | "server";
  /** The codec of the client's frames; absent for JSON. */
  readonly codec?: Exclude<CodecName, "json">;
  /**
   * The client speaks another protocol, that of the object's name, and this is its kind among the clients that do. Absent: it
   * speaks the server's own.
   */
  readonly dialect?: string;
  /**
   * The other end of the WebSocket is the edge, which holds the client's HTTP stream and pings the client (rule T2).
   * The client posts its commands (docs/protocol.md 4.3). Absent: the other end is the client itself.
   */
  readonly emulated?: true;
  /** With `emulated`: the edge checks the client's pongs (rule K7). Absent: it doesn't, and the client isn't asked for any. */
  readonly pongs?: true;
  /** The client reads server-sent events; absent: it doesn't. */
  readonly events?: true;
  /**
   * The client is transient, because it polls: it isn't present and isn't announced (rule T9). Absent: it isn't
   * transient.
   */
  readonly passing?: true;
  /** The headers of the client's request that hooks get (rule Q8); absent: none. */
  readonly headers?: readonly HookHeader[];
  /** The trace that the client's request belongs to (rule X1); absent without one. */
  readonly traceparent?: string;
  /**
   * The claims of the token at the upgrade, verified (rule A3), or with `asked` those that a backend gave; absent if there
   * are none.
   */
  readonly claims?: ConnectionClaims;
  /**
   * The claims of a client that looks on in the name of their user (rule N26). They aren't in `claims`: a release that
   * doesn't know this field must not connect anybody in the user's name. Absent: it is the user's own.
   */
  readonly onlooker?: ConnectionClaims;
  /** A backend was asked at the upgrade (rule Q10), so the object doesn't ask about the connect. Absent: none was. */
  readonly asked?: AskedAtUpgrade;
  /**
   * The first frame of a client on its own WebSocket, which came with the upgrade (rule T8). Absent: the client sends it.
   */
  readonly first?: string;
  /**
   * The address of a client without a token at the upgrade, or its network (rules B8 and B13); absent if it isn't
   * known.
   */
  readonly address?: string;
}

/** What the edge's question to a backend leaves for the object. */
export interface AskedAtUpgrade {
  /** The connection's ID, which the backend knows: a UUID. */
  readonly client: string;
  /** For the connect reply; absent if the backend gave none. */
  readonly data?: JsonText;
}

/**
 * The header that carries the handover. The edge makes the object's request from scratch, so no client can set it (rule
 * A3).
 */
export const handoverHeader = "Dormouse-Session";

/**
 * The header, with the value 1, of an object's response that refuses a connection because the object is full (rule G3).
 * Clients don't see it.
 */
export const fullHeader = "Dormouse-Full";

/** Encodes a handover as the value of a header, which is ASCII whatever the claims hold. */
export function encodeHandover(handover: Handover): string {
  return encodeURIComponent(JSON.stringify(handover));
}

/**
 * The reverse of {@link encodeHandover}. Only the edge can have written the text, so its fields aren't checked.
 *
 * @throws if the text isn't a handover: the request didn't come through the edge, or the header is missing
 */
export function parseHandover(text: string): Handover {
  const handover: Handover = JSON.parse(decodeURIComponent(text));
  return handover;
}
