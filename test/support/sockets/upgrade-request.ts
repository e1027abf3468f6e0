import { type ClientRequest, request } from "node:http";

/** A handshake without a WebSocket client behind it. {@link ClientRequest.end} sends it. */
export function upgradeRequest(
  address: string,
  headers: Record<string, string> = {},
): ClientRequest {
  return request(address.replace("ws", "http"), {
    agent: false,
    headers: {
      Upgrade: "websocket",
      Connection: "Upgrade",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      ...headers,
    },
  });
}
