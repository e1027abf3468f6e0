import { request } from "node:http";

/**
 * Asks a server for a WebSocket with a token at the upgrade, where the token is verified before anything else. The
 * socket is closed at once.
 *
 * @param socketAddress `ws://…`
 * @returns false also if the server doesn't answer
 */
export function takesToken(socketAddress: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(socketAddress.replace("ws", "http"), {
      agent: false,
      headers: {
        Upgrade: "websocket",
        Connection: "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        Authorization: `Bearer ${token}`,
      },
    });
    asked.once("upgrade", (_response, socket) => {
      socket.on("error", () => socket.destroy());
      socket.resume();
      socket.end(closeFrame);
      resolve(true);
    });
    asked.once("response", (response) => {
      response.destroy();
      resolve(false);
    });
    asked.once("error", () => resolve(false));
    asked.end();
  });
}

/** A masked close frame of a client, without a code (RFC 6455 section 5.5.1). */
const closeFrame = Uint8Array.of(0x88, 0x80, 0, 0, 0, 0);
