import { DormouseTestError } from "./test-error.ts";

/** The oldest Node.js that the kit runs on: it uses the global WebSocket, and wrangler's runtime. */
const kitsNode = 22;

/**
 * @param version of Node.js, such as 20.11.0
 * @throws {DormouseTestError} if it is too old for the kit
 */
export function checkNodeVersion(version: string): void {
  if (Number(version.split(".")[0]) >= kitsNode) return;
  throw new DormouseTestError(
    `the test kit needs Node.js ${kitsNode} or newer; this is ${version}`,
  );
}
