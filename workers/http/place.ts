import type { ConnectionClaims } from "../../src/access/claims.ts";
import type { CodecName } from "../../src/protocol/codec.ts";
import { findRoom, type Pool } from "./find-room.ts";
import { handoverRequest } from "./handover-request.ts";

/** A socket between the edge and an object, or the response to the client when nobody takes it. */
export type OpenedSocket =
  | { readonly outcome: "opened"; readonly socket: WebSocket }
  | { readonly outcome: "refused"; readonly response: Response };

/**
 * Opens a socket to an object for a client that has none of its own (rule T1). The object lets it sleep like any other: what
 * keeps awake for the client is this request. Its messages wait until `accept`.
 */
export async function openSocket(
  pool: Pool,
  codec: CodecName,
  claims: ConnectionClaims | undefined,
  stay: "lasting" | "passing" = "lasting",
): Promise<OpenedSocket> {
  const handover = handoverRequest(
    { headers: new Headers({ Upgrade: "websocket" }) },
    {
      v: 1,
      keepalive: "client",
      emulated: true,
      ...(codec !== "json" && { codec }),
      ...(stay === "passing" && { passing: true }),
      ...(claims !== undefined && { claims }),
    },
  );
  const response = await findRoom(pool, handover);
  const { webSocket } = response;
  if (webSocket === null) return { outcome: "refused", response };
  webSocket.binaryType = "arraybuffer";
  return { outcome: "opened", socket: webSocket };
}
