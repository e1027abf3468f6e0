import type { PublicationRequest } from "../api/channel-command.ts";
import type { JsonText } from "../protocol/json-text.ts";

/** A client's publication carries data and nothing else. */
export function clientPublication(data: JsonText): PublicationRequest {
  return {
    data,
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };
}
