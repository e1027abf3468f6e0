/**
 * From a request to publish to the publication: the request of a client, the check of its data, and the publication
 * that subscribers receive. The type `PublicationRequest` is in `src/contract/channel-call.ts`, because the edge sends
 * it.
 */
import type { PublicationRequest } from "../contract/channel-call.ts";
import { type Payload, payloadText } from "../protocol/payload.ts";
import type { ChannelOptions } from "../config/config.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";

/** The request for a publication that has data and nothing else, as each of a client. */
export function plainPublication<Data extends Payload>(
  data: Data,
): PublicationRequest & { readonly data: Data } {
  return {
    data,
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };
}

/** A request as it is stored. @param info as {@link livePublication} takes it */
export function entryOf(request: PublicationRequest, info: ClientInfo | undefined) {
  return info === undefined ? request : { ...request, info };
}

/** Whether the namespace's `publication_data_format` accepts this data. Only the format `binary` accepts empty data. */
export function acceptsData(options: ChannelOptions, data: Payload): boolean {
  switch (options.publicationDataFormat) {
    case "":
      return data.length > 0;
    case "json":
      return payloadText(data) !== undefined;
    case "json_object":
      return payloadText(data)?.startsWith("{") === true;
    case "binary":
      return true;
  }
}

/**
 * Makes the publication that subscribers receive. The one at offset 1 carries the epoch (docs/protocol.md 2.6).
 *
 * @param info     of the client that published it; undefined if a backend did
 * @param position undefined if the publication goes without history
 */
export function livePublication(
  { data, tags, delta, except }: PublicationRequest,
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
    ...(except === undefined ? {} : { except }),
    ...((delta || deltaPublish) && position !== undefined ? { mayBePatch: true } : {}),
  };
}

/** The author and the time of a publication. */
export interface Changer {
  /** Undefined for a backend. */
  readonly info: ClientInfo | undefined;
  /** The name of the backend's API key; "" if it isn't known. */
  readonly apiKey: string;
  readonly nowMs: number;
}
