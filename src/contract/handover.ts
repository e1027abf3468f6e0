import type { ConnectionClaims } from "../access/claims.ts";
import type { CodecName } from "../protocol/codec.ts";

/**
 * What the edge decided about a connection and tells the object that will hold it. During a deploy the two may be one
 * release apart (rule V1): fields are only ever added, and an added field has a meaning of absence.
 */
export interface Handover {
  readonly v: 1;
  /** Who sends the pings: the server, or a client that asked for auto-response with `?keepalive=client`. */
  readonly keepalive: "client" | "server";
  /** What the frames are; absent for JSON. */
  readonly codec?: Exclude<CodecName, "json">;
  /**
   * The other end of the socket is the edge, which holds the client's HTTP stream: what the client has to say is posted
   * (docs/protocol.md 4.3), and it is pinged by the edge. Absent: it is the client itself.
   */
  readonly emulated?: true;
  /** Who comes again and again, and stays for one answer: nobody is told of it. Absent: a client like any other. */
  readonly passing?: true;
  /** Of the token at the upgrade; absent when there was none. */
  readonly claims?: ConnectionClaims;
}

/** The header that carries it. The edge builds the object's request from scratch, so no client can set it. */
export const handoverHeader = "Dormouse-Session";

/** The header, with the value 1, by which an object says that it refuses a socket for want of room. Clients don't see it. */
export const fullHeader = "Dormouse-Full";

/** A handover as the value of a header: ASCII, whatever the claims say. */
export function encodeHandover(handover: Handover): string {
  return encodeURIComponent(JSON.stringify(handover));
}

/**
 * The reverse of {@link encodeHandover}. It trusts the text, which only the edge can have written.
 *
 * @throws when the text is something else: then a request came past the edge, or the header is missing
 */
export function parseHandover(text: string): Handover {
  const handover: Handover = JSON.parse(decodeURIComponent(text));
  return handover;
}
