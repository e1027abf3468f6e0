import { fullForDelta, patchOrFull } from "../delta/delta-chain.ts";
import { limits } from "../limits.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Payload } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import type { Subscriber } from "./subscriber.ts";

/**
 * Publications that go out together, for those who get patches (docs/protocol.md 3.1). The first is made from what the subscriber has,
 * the others from the one before: so listeners who have the same differ in nothing, and those who don't in the first alone.
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

  /** Also notes what the recipient has now. */
  frameFor(subscriber: Subscriber): Message {
    const { codec, deltaBase } = subscriber;
    const frames = this.#framesIn(codec);
    const frame = frames.byBase.get(deltaBase) ?? this.#newFrame(codec, frames, deltaBase);
    const last = this.#publications.at(-1);
    if (last !== undefined) subscriber.taking(last);
    return frame;
  }

  #newFrame(codec: Codec, frames: CodecFrames, base: Payload | undefined): Message {
    // Whoever has something else than most is sent it in full, and has the same as they from then on (rule D5).
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
        : patchOrFull(publication, base, form);
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

/** Who gets patches doesn't take the epoch from a publication (docs/protocol.md 2.6). */
function withoutEpoch(publication: Publication): Publication {
  if (publication.epoch === undefined) return publication;
  const { epoch: _, ...rest } = publication;
  return rest;
}

interface CodecFrames {
  readonly byBase: Map<Payload | undefined, Message>;
  /** The messages after the first; undefined until somebody needs them. */
  others: readonly Message[] | undefined;
}
