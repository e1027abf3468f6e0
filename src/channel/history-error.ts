import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { HistoryOutcome } from "./channel.ts";

/** What a history that can't be read is answered with, to clients and backends alike. */
export function historyError(outcome: Exclude<HistoryOutcome["outcome"], "history">): ErrorCode {
  switch (outcome) {
    case "not-available":
      return errorCodes.notAvailable;
    case "unrecoverable-position":
      return errorCodes.unrecoverablePosition;
    case "too-large":
      return errorCodes.limitExceeded;
  }
}
