import { Hub } from "../../../src/hub/hub.ts";
import { type TagsFilter, tagsFilter } from "../../../src/protocol/tags-filter.ts";
import type { Codec } from "../../../src/protocol/codec.ts";
import { jsonCodec, unidirectionalCodec } from "../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../src/protocol/messagepack/codec.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import { protobufCodec } from "../../../src/protocol/protobuf/codec.ts";
import { json } from "../api/channel-config.ts";
import { asReceived, ClientDecoder, wirePublications } from "./client-decoder.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

/** How far behind a listener may be. */
export const queueMaxBytes = 1_048_576;

export const codecs: readonly Codec[] = [
  jsonCodec,
  protobufCodec,
  messagePackCodec,
  unidirectionalCodec,
];

/** A hub, and counts of its codecs' work. */
export function mixedHub() {
  const hub = new Hub("room", queueMaxBytes);
  const counts = {
    json: { pushes: 0, frames: 0 },
    protobuf: { pushes: 0, frames: 0 },
    msgpack: { pushes: 0, frames: 0 },
    one_way: { pushes: 0, frames: 0 },
  };
  const counted = new Map(
    codecs.map((codec): [string, Codec] => [
      codec.name,
      {
        ...codec,
        encodePush: (push) => {
          counts[codec.name].pushes++;
          return codec.encodePush(push);
        },
        joinFrame: (messages) => {
          counts[codec.name].frames++;
          return codec.joinFrame(messages);
        },
      },
    ]),
  );
  const join = (codec: Codec, { had, ...traits }: SubscriberOptions = {}) => {
    const subscriber = new RecordingSubscriber("42", {
      ...traits,
      codec: counted.get(codec.name) ?? codec,
    });
    subscriber.deltaBase = had;
    hub.add(subscriber);
    const decoder = new ClientDecoder(codec, traits.delta === true, had);
    const received = (): string[] => decoder.decode(subscriber.frames);
    /** The newest of these, as many as it got. */
    const expected = (all: readonly Payload[]): string[] =>
      all
        .slice(-subscriber.frames.flatMap((frame) => wirePublications(codec, frame)).length)
        .map((data) => asReceived(data, codec));
    return { codec, subscriber, decoder, received, expected };
  };
  return { hub, counts, join };
}

/** The properties in which a subscriber differs from one that gets all publications in full. */
export interface SubscriberOptions {
  readonly hearsJoinLeave?: boolean;
  readonly filter?: TagsFilter;
  readonly delta?: boolean;
  /** The last recovered payload. */
  readonly had?: Payload | undefined;
}

/** Payloads that all differ a little, with their parts at different places: a delta fits only its own base. */
export function document(number: number): Payload {
  const shift = "z".repeat(number % 40);
  return json(
    `{"shift":"${shift}","title":"The quick brown fox jumps over the lazy dog","n":${number}}`,
  );
}

/** A filter for publications with one of these tags. */
export function tagged(...tags: readonly string[]): TagsFilter {
  const leaf = { op: "", key: "t", cmp: "in", val: "", vals: tags, nodes: [] };
  const filter = tagsFilter(leaf);
  if (filter === undefined) throw new Error("the filter makes no sense");
  return filter;
}
