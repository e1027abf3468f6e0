import type { Payload } from "../protocol/payload.ts";

/**
 * A command of a backend for a shared poll (docs/protocol.md 6.2), which the edge sends to the channel's object. During
 * a deploy the two sides may be one release apart (rule V1).
 */
export interface PollCommand {
  readonly method: "shared_poll_publish";
  readonly request: PollPublishRequest;
  /** The name of the backend's API key, for those who ask (rule Y1). Absent: it isn't known. */
  readonly key?: string;
}

/** The newest value of a key, which the backend doesn't wait to be asked for. */
export interface PollPublishRequest {
  /** Not empty. */
  readonly key: string;
  readonly data: Payload;
  /** From 1 on. The full range of a uint64. */
  readonly version: bigint;
  /** The backend's numbering of versions; "" for none. */
  readonly epoch: string;
}

/** The bytes that a command takes in memory, estimated, beside a constant. */
export function pollCommandBytes({ request }: PollCommand): number {
  return request.key.length + request.data.length + request.epoch.length;
}
