import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";

/** The error for a publication, or for a change of a map, that wasn't made, to clients and backends alike. */
export function changeError(failure: "full" | "too-many-keys"): ErrorCode {
  switch (failure) {
    case "full":
      return errorCodes.limitExceeded;
    case "too-many-keys":
      return errorCodes.tooManyRequests;
  }
}

/** The error for a history that can't be read, to clients and backends alike. */
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

/** The outcome of reading a history; `position` is the top. */
export type HistoryOutcome =
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | { readonly outcome: "not-available" }
  | { readonly outcome: "unrecoverable-position" }
  | { readonly outcome: "too-large" };
