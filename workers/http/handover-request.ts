import { type Handover, encodeHandover, handoverHeader } from "../../src/contract/handover.ts";

/**
 * The request that the object sees, built from scratch: the handshake's headers and our own one. So a client can't
 * forge what the edge decided, and neither its token nor its cookies travel further (rule A3). It has no body, so that it
 * may be made more than once.
 *
 * @param request the client's, or the edge's own where the client has no WebSocket
 */
export function handoverRequest(request: Handshake, handover: Handover): Request {
  const headers = new Headers({ [handoverHeader]: encodeHandover(handover) });
  for (const name of handshakeHeaders) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request("https://object/websocket", { headers });
}

interface Handshake {
  readonly headers: Headers;
}

/** All of RFC 6455 that a client sends, section 11.3. */
const handshakeHeaders = [
  "Upgrade",
  "Connection",
  "Sec-WebSocket-Key",
  "Sec-WebSocket-Version",
  "Sec-WebSocket-Protocol",
  "Sec-WebSocket-Extensions",
];
