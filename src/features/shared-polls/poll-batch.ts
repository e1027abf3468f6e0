import type { Changing } from "../../contract/channel-call.ts";
import type { Payload } from "../../protocol/payload.ts";
import type { Publication } from "../../protocol/publication.ts";

declare module "../../contract/channel-call.ts" {
  interface ChannelOperations {
    readonly shared_poll_publish: PollPublish;
  }
}

/**
 * The newest value of a key of a shared poll, as clients are sent it (docs/protocol.md 3.5). With `removed`, the key is
 * gone, and there is neither data nor a version.
 */
export interface KeyChange extends Publication {
  readonly key: string;
}

/** A key, and the version of it that somebody has; 0n for none. */
export interface KnownVersion {
  readonly key: string;
  readonly version: bigint;
}

/**
 * A call of a channel's object to a gateway whose clients track keys of the channel. During a deploy the two sides may
 * be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning. Taking a
 * batch twice does nothing more, because each change has its version.
 */
export interface PollBatch {
  readonly v: 1;
  readonly channel: string;
  /** When the channel's instance began, ms since 1970: a later instance knows nothing of the keys that are tracked. */
  readonly instance: number;
  /** Of the versions; "" if the backend names none. */
  readonly epoch: string;
  /** The newest value of each key that changed. Without any, the gateway only says what it tracks. */
  readonly changes: readonly KeyChange[];
  /**
   * What the gateway's last reply had as `since`: the batch was sent after that reply. Absent: there was none, or the
   * sender doesn't know the field. Then the batch may have been sent before the gateway hibernated.
   */
  readonly since?: number;
}

/** A gateway's reply to a batch. */
export type PollBatchReply =
  /**
   * `untracked`: keys of the batch that nobody tracks here. Absent: none. `since`: when the gateway took its first batch of
   * the channel since it last woke, ms since 1970, which tells its instances apart. Absent: the gateway doesn't say it.
   */
  | { readonly outcome: "taken"; readonly untracked?: readonly string[]; readonly since?: number }
  /** Nobody tracks a key of the channel here. */
  | { readonly outcome: "left" }
  /** The gateway is overloaded and took nothing: the batch is to be sent again later (rule B3). */
  | { readonly outcome: "busy" };

/** The bytes that a change takes in memory and in a call, estimated. */
export function changeBytes({ key, data }: KeyChange): number {
  return overheadBytes + key.length + data.length;
}

const overheadBytes = 128;

type PollPublish = Changing<PollPublishRequest>;

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
