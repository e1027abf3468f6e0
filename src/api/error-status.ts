import type { ErrorCode } from "../protocol/codes.ts";

/** The statuses that errors get in transport mode (reference 6.1). */
export type ErrorStatus = 400 | 404 | 409 | 416 | 429 | 500;

/** The HTTP status of an application error when the backend asks for transport mode. */
export function errorStatus({ code }: ErrorCode): ErrorStatus {
  return statuses.get(code) ?? 400;
}

const statuses: ReadonlyMap<number, ErrorStatus> = new Map([
  [100, 500],
  [102, 404],
  [104, 404],
  [106, 400],
  [107, 400],
  [108, 404],
  [111, 429],
  [112, 416],
  [113, 409],
]);
