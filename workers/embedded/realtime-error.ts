/**
 * A command that wasn't carried out. A refusal is thrown and not returned, because most callers publish and look at no
 * result: a value would be ignored without a sign. On the other side of a service binding an error keeps its fields only if
 * both Workers have a new compatibility date, and is never of this class: `realtimeService` makes it anew.
 */
export class RealtimeError extends Error {
  override readonly name = "RealtimeError";
  /** Of the HTTP API (docs/openapi.md), such as 107 for a request that can't be right. */
  readonly code: number;
  /** What is wrong, for a developer; quotes nothing of the request. Absent where the message says all. */
  readonly detail?: string;
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;

  /** Takes what {@link errorValue} gives. */
  constructor({ message, code, detail, isTemporary }: ErrorValue) {
    super(message);
    this.code = code;
    if (detail !== undefined) this.detail = detail;
    this.isTemporary = isTemporary;
  }
}

/** The same as a value, which passes between Workers whole. */
export interface ErrorValue {
  /** The code and all that is known, in a line. */
  readonly message: string;
  readonly code: number;
  readonly detail?: string;
  readonly isTemporary: boolean;
}

export function errorValue({ message, code, detail, isTemporary }: RealtimeError): ErrorValue {
  return { message, code, ...(detail !== undefined && { detail }), isTemporary };
}
