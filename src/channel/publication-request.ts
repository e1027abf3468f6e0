import type { PublicationRequest } from "../contract/channel-call.ts";
import type { Payload } from "../protocol/payload.ts";

/** A client's publication carries data and nothing else. */
export function clientPublication(data: Payload): PublicationRequest {
  return {
    data,
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };
}
