import { type DisconnectCode, disconnectCodes } from "../../protocol/codes.ts";

/**
 * The code of the Pusher protocol with which a connection is closed. A client acts by its range: 4000 to 4099, it doesn't
 * come back; 4100 to 4199, it comes back after a while; 4200 to 4299, at once.
 */
export function closeCodeOf({ code, reason }: DisconnectCode): DisconnectCode {
  return { code: code >= 4000 ? code : ownCode(code), reason };
}

function ownCode(code: number): number {
  switch (code) {
    case disconnectCodes.connectionLimit.code:
      return 4004;
    case disconnectCodes.tooManyRequests.code:
    case disconnectCodes.messageSizeLimit.code:
    case disconnectCodes.internalServerError.code:
      return 4100;
    case disconnectCodes.noPong.code:
      return 4201;
    case disconnectCodes.stale.code:
      return 4202;
    default:
      // Clients of the server's own protocol don't come back after these.
      return code >= 3500 ? 4009 : 4200;
  }
}
