import { disconnectCodes, errorCodes, unsubscribeCodes } from "../../../src/protocol/codes.ts";

/** Whether a subscribe is answered so because an order ended it, or made the subscription first (rules U2 and U7). */
export function isOrdersError(code: number | undefined): boolean {
  return code === errorCodes.permissionDenied.code || code === errorCodes.alreadySubscribed.code;
}

/** Whether neither a failure nor an order may close a connection with this code. */
export function isInexplicable(code: number): boolean {
  const { insufficientState, internalServerError, permissionDenied, connectionExpired } =
    disconnectCodes;
  const { invalidToken } = disconnectCodes;
  const known = [
    insufficientState,
    internalServerError,
    permissionDenied,
    connectionExpired,
    invalidToken,
  ];
  return code !== 1006 && code < 4_000 && known.every((one) => one.code !== code);
}

/** Whether SDKs don't reconnect after this close code (docs/protocol.md 1.8). */
export function isTerminal(code: number): boolean {
  return (code >= 3_500 && code < 4_000) || (code >= 4_500 && code < 5_000);
}

/** The code of an unsubscribe push by which an order is carried out. */
export const unsubscribedByOrder = unsubscribeCodes.server.code;
