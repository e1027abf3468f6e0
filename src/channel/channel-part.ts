import type { ChannelOptions } from "../config/config.ts";
import type { ChannelOperation } from "../contract/channel-call.ts";
import type { RelayReply, RelayRequest } from "../contract/relay-request.ts";
import type { Relay } from "./relay.ts";

/** A feature's state of one channel. Each member gives undefined for a request that isn't the feature's. */
export interface ChannelPart {
  /**
   * Carries out a request of a gateway.
   *
   * @param roomBytes how large the reply may be
   */
  reply?(
    gateway: string,
    request: RelayRequest,
    roomBytes: number,
    nowMs: number,
  ): RelayReply | undefined;
  /** Carries out an operation of a backend or a client. */
  carryOut?(operation: ChannelOperation): "done" | undefined;
}

/** A channel, as its parts see it. */
interface PartedChannel {
  readonly name: string;
  readonly options: ChannelOptions;
  readonly relay: Relay;
}

/** Makes the parts of a channel. */
export type ChannelParts = (
  channel: PartedChannel,
  setup: { readonly newEpoch: () => string; readonly nowMs: number },
) => readonly ChannelPart[];
