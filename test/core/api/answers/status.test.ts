import { expect, it } from "vitest";
import { errorStatus } from "../../../../src/api/answers.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";

it.each([
  [100, 500],
  [102, 404],
  [104, 404],
  [106, 400],
  [107, 400],
  [108, 400],
  [111, 429],
  [112, 416],
  [113, 409],
  [103, 403],
  [1000, 400],
])("[W1] error %d is status %d in transport mode", (code, status) => {
  expect(errorStatus({ ...errorCodes.badRequest, code })).toBe(status);
});
