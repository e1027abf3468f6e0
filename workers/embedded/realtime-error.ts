/**
 * A command that wasn't carried out. A refusal is thrown and not returned, because most callers publish and look at no
 * result: a value would be ignored without a sign. The message names the code, so that it is readable on the other side of a
 * service binding, too, where an error keeps only its name and message.
 */
export class RealtimeError extends Error {
  override readonly name = "RealtimeError";
  /** Of the HTTP API (docs/openapi.md), such as 107 for a request that can't be right. */
  readonly code: number;
  /** What is wrong, for a developer; quotes nothing of the request. Absent where the message says all. */
  readonly detail?: string;
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;

  constructor(code: number, text: string, detail: string | undefined, isTemporary: boolean) {
    super(`${code}: ${text}${detail === undefined ? "" : `: ${detail}`}`);
    this.code = code;
    if (detail !== undefined) this.detail = detail;
    this.isTemporary = isTemporary;
  }
}
