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

/** A bound was passed: error 106, with the bound in the message. */
export function overLimit(sentence: string): StepFailure {
  const error = { ...errorCodes.limitExceeded, message: `limit exceeded: ${sentence}` };
  return new StepFailure("over-limit", error);
}
