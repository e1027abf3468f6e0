import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import {
  type DisconnectCode,
  disconnectCodes,
  type ErrorCode,
  errorCodes,
} from "../protocol/codes.ts";

/** The part of the configuration that says whether clients receive reasons. */
interface ToldClients {
  readonly tellsReasons?: true;
}

/**
 * An error as its client receives it: under `npm start` the reason follows the message (rule W13).
 *
 * @param reason as the log has it
 */
export function toldError(error: ErrorCode, reason: string, client: ToldClients): ErrorCode {
  if (client.tellsReasons !== true) return error;
  // An error that a backend has made stays as it is.
  const own: readonly ErrorCode[] = Object.values(errorCodes);
  const isOwn = own.some(({ code, message }) => code === error.code && message === error.message);
  return isOwn ? { ...error, message: closeReason(`${error.message}: ${reason}`) } : error;
}

/** A close likewise. */
export function toldClose(
  code: DisconnectCode,
  reason: string,
  client: ToldClients,
): DisconnectCode {
  if (client.tellsReasons !== true) return code;
  const own: readonly DisconnectCode[] = Object.values(disconnectCodes);
  const isOwn = own.some((one) => one.code === code.code && one.reason === code.reason);
  return isOwn ? { ...code, reason: closeReason(`${code.reason}: ${reason}`) } : code;
}

/** A text cut to what a close frame holds. */
function closeReason(text: string): string {
  let cut = text.slice(0, limits.disconnectReasonBytesMax);
  while (!utf8Fits(cut, limits.disconnectReasonBytesMax)) cut = cut.slice(0, -1);
  // Half of a character isn't one.
  return cut.replace(/[\uD800-\uDBFF]$/, "");
}
