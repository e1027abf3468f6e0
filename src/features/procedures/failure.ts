import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";

/**
 * Ends a step without effect, with an error for its caller. It passes through the code, which may catch it; the step has failed
 * in any case.
 */
export class StepFailure extends Error {
  readonly kind: "rejected" | "over-limit" | "refused";
  readonly error: ErrorCode;

  /** @param kind rejected: by the code itself. over-limit: a bound was passed. refused: anything else that callers cause */
  constructor(kind: StepFailure["kind"], error: ErrorCode) {
    super(error.message);
    this.kind = kind;
    this.error = error;
  }
}

/** The smallest code of a rejection, which the code of a channel chooses: smaller ones are the server's own. */
export const rejectionCodeMin = 1_000;

/** A bound was passed: error 106, with the bound in the message. */
export function overLimit(sentence: string): StepFailure {
  const error = { ...errorCodes.limitExceeded, message: `limit exceeded: ${sentence}` };
  return new StepFailure("over-limit", error);
}

/** The error of code that publishes data, or sets a key to data, that the namespace refuses. */
export function unacceptedData(): TypeError {
  return new TypeError("the namespace takes no such data: see its publication_data_format");
}
