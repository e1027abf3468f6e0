import { marker, type Post } from "../systems/wire.ts";
import type { LoadChannel } from "./subscribers.ts";
import type { Connected } from "./connected.ts";
import { postRequest } from "./post-request.ts";
import { publicationData } from "./publication-data.ts";

/** A prepared request, and the channels that it publishes to. */
export interface PlannedPost {
  readonly request: Buffer;
  readonly channels: readonly LoadChannel[];
}

/**
 * A request for each of so many keys of each channel; the channels are maps. Throws if the system has no maps.
 *
 * @param grow whether the request appends a text to the key's value, in place of setting it
 */
export function plannedChanges(
  { wire, server, subscribers }: Connected,
  channels: readonly string[],
  {
    keys,
    dataBytes,
    grow = false,
  }: { keys: number; dataBytes: number; grow?: boolean | undefined },
): PlannedPost[] {
  const data = grow ? marker.padEnd(dataBytes, "x") : publicationData(0, dataBytes);
  return channels.flatMap((channel) =>
    Array.from({ length: keys }, (_, index) => {
      const key = `key-${String(index).padStart(6, "0")}`;
      const post = grow
        ? wire.appendKey?.(channel, key, data)
        : wire.publishKey?.(channel, key, data);
      if (post === undefined) throw new Error("this system has no maps");
      return {
        request: postRequest(post, server.api),
        channels: [subscribers.channel(channel)],
      };
    }),
  );
}

/** One request for each channel that calls its code, which publishes the data. Throws if channels of the system have none. */
export function plannedCalls(
  { wire, server, subscribers }: Connected,
  channels: readonly string[],
  dataBytes: number,
): PlannedPost[] {
  return channels.map((channel) => {
    const post = wire.call?.(channel, publicationData(0, dataBytes));
    if (post === undefined) throw new Error("channels of this system have no code");
    return { request: postRequest(post, server.api), channels: [subscribers.channel(channel)] };
  });
}

/** One request for every so many consecutive channels. Throws if the system has no request for several channels. */
export function plannedPosts(
  { wire, server, subscribers }: Connected,
  channels: readonly string[],
  batch: number,
  dataBytes: number,
): PlannedPost[] {
  const data = publicationData(0, dataBytes);
  const made = (together: readonly string[]): Post => {
    const [only] = together;
    if (batch === 1 && only !== undefined) return wire.publish(only, data);
    if (wire.publishBatch === undefined)
      throw new Error("this system doesn't publish to several channels at once");
    return wire.publishBatch(together, data);
  };
  return Array.from({ length: Math.ceil(channels.length / batch) }, (_, index) => {
    const together = channels.slice(index * batch, (index + 1) * batch);
    return {
      request: postRequest(made(together), server.api),
      channels: together.map((channel) => subscribers.channel(channel)),
    };
  });
}
