import { type Handover, encodeHandover, handoverHeader } from "../platform/handover.ts";

/**
 * The request that the object sees, built from scratch: the handshake's headers and our own one. So a client can't
 * forge what the edge decided, and neither its token nor its cookies travel further (rule A3). It has no body, so that it
 * may be made more than once.
 */
export function handoverRequest(request: Request, handover: Handover): Request {
  const headers = new Headers({ [handoverHeader]: encodeHandover(handover) });
  for (const [name, value] of request.headers) {
    if (isHandshakeHeader(name.toLowerCase())) headers.set(name, value);
  }
  return new Request("https://object/websocket", { headers });
}

function isHandshakeHeader(name: string): boolean {
  return name === "upgrade" || name === "connection" || name.startsWith("sec-websocket-");
}
