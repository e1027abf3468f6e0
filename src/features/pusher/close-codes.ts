import { type DisconnectCode, disconnectCodes } from "../../protocol/codes.ts";

/**
 * The code of the Pusher protocol with which a connection is closed. A client acts by its range: 4000 to 4099, it doesn't
 * come back; 4100 to 4199, it comes back after a while; 4200 to 4299, at once.
 */
export function closeCodeOf({ code, reason }: DisconnectCode): DisconnectCode {
  const known = codes.get(code);
  if (known !== undefined) return { code: known, reason };
  if (code >= 4000) return { code, reason };
  // Clients of the server's own protocol don't come back after these.
  return { code: code >= 3500 ? 4009 : 4200, reason };
}

const codes: ReadonlyMap<number, number> = new Map([
  [disconnectCodes.connectionLimit.code, 4004],
  [disconnectCodes.tooManyRequests.code, 4100],
  [disconnectCodes.messageSizeLimit.code, 4100],
  [disconnectCodes.internalServerError.code, 4100],
  [disconnectCodes.noPong.code, 4201],
  [disconnectCodes.stale.code, 4202],
]);
