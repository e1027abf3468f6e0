import type { CodecName } from "../../src/protocol/codec.ts";

/**
 * The header of a handshake's response that agrees on a protocol: browsers fail a connection whose handshake agrees on
 * none that they offered.
 */
export function agreedProtocol(request: Request, codec: CodecName): Record<string, string> {
  const offered = (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",");
  const ours = `centrifuge-${codec}`;
  const agreed = offered.some((protocol) => protocol.trim() === ours);
  return agreed ? { "Sec-WebSocket-Protocol": ours } : {};
}
