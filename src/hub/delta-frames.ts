import { fullForDelta, deltaOrFull } from "../delta/delta-chain.ts";
import { limits } from "../limits.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import type { Subscriber } from "./subscriber.ts";

/**
 * Publications that are sent together, for delta subscribers (docs/protocol.md 3.1). The first publication is a delta
 * of the payload that the subscriber holds, each other one of the publication before it. So subscribers that hold the
 * same payload get the same frame, and the frames of others differ in the first publication alone.
 */
export class DeltaFrames {
  readonly #publications: readonly Publication[];
  readonly #encode: (codec: Codec, publication: Publication) => Message;
  readonly #byCodec = new Map<Codec, CodecFrames>();

  /** @param publications at least one */
  constructor(
    publications: readonly Publication[],
    encode: (codec: Codec, publication: Publication) => Message,
  ) {
    this.#publications = publications;
    this.#encode = encode;
  }

  /** Gives the frame, and tells the subscriber which publication it holds then. */
  frameFor(subscriber: Subscriber): Message {
    const { codec, deltaBase } = subscriber;
    const frames = this.#framesIn(codec);
    const frame = frames.byBase.get(deltaBase) ?? this.#newFrame(codec, frames, deltaBase);
    const last = this.#publications.at(-1);
    if (last !== undefined) subscriber.noteSent(last);
    return frame;
  }

  #newFrame(codec: Codec, frames: CodecFrames, base: Payload | undefined): Message {
    // A subscriber that holds a rare payload is sent the first publication in full, and from then on holds what most
    // hold (rule D5).
    const isRare = frames.byBase.size >= limits.deltaBasesMax;
    const known = isRare ? frames.byBase.get(undefined) : undefined;
    if (known !== undefined) return known;
    const usable = isRare ? undefined : base;
    const [first, ...others] = this.#publications;
    frames.others ??= others.map((publication, index) =>
      this.#message(codec, publication, this.#publications[index]?.data),
    );
    const messages = first === undefined ? [] : [this.#message(codec, first, usable)];
    const frame = codec.joinFrame([...messages, ...frames.others]);
    frames.byBase.set(usable, frame);
    return frame;
  }

  #message(codec: Codec, publication: Publication, base: Payload | undefined): Message {
    const form = codec.deltaForm;
    const sent =
      base === undefined || publication.mayBePatch !== true
        ? fullForDelta(publication, form)
        : deltaOrFull(publication, base, form);
    return this.#encode(codec, withoutEpoch(sent));
  }

  #framesIn(codec: Codec): CodecFrames {
    const known = this.#byCodec.get(codec);
    if (known !== undefined) return known;
    const frames: CodecFrames = { byBase: new Map(), others: undefined };
    this.#byCodec.set(codec, frames);
    return frames;
  }
}

/** A delta subscriber doesn't read the epoch of a publication (docs/protocol.md 2.6). */
function withoutEpoch(publication: Publication): Publication {
  if (publication.epoch === undefined) return publication;
  const { epoch: _, ...rest } = publication;
  return rest;
}

/** The frames in one codec. */
interface CodecFrames {
  /** By the payload that the subscriber holds; undefined for a subscriber that gets the first publication in full. */
  readonly byBase: Map<Payload | undefined, Message>;
  /** The messages after the first, which all frames share; undefined until the first frame is made. */
  others: readonly Message[] | undefined;
}
