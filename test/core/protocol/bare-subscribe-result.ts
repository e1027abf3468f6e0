import type { SubscribeResult } from "../../../src/protocol/reply.ts";

/** The result of a subscribe of which there is nothing to say. */
export const nothing: SubscribeResult = {
  ttlSeconds: 0,
  recoverable: false,
  positioned: false,
  wasRecovering: false,
  recovered: false,
  publications: [],
};
