import type { PublicationRequest } from "../contract/channel-call.ts";
import type { ChannelOptions } from "../config/config.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";

/** What subscribers get; the position is absent when it goes without history. */
export function livePublication(
  { data, tags, delta }: PublicationRequest,
  info: ClientInfo | undefined,
  position: StreamPosition | undefined,
  { deltaPublish }: ChannelOptions,
): Publication {
  return {
    data,
    offset: position?.offset ?? 0,
    ...(position?.offset === 1 ? { epoch: position.epoch } : {}),
    ...(info === undefined ? {} : { info }),
    ...(tags === undefined ? {} : { tags }),
    ...((delta || deltaPublish) && position !== undefined ? { mayBePatch: true } : {}),
  };
}
