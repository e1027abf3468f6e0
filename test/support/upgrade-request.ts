import { type ClientRequest, request } from "node:http";

/** Asks a server for a WebSocket, without anything that would speak WebSocket afterwards. {@link ClientRequest.end} sends it. */
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
