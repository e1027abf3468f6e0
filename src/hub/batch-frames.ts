import { limits } from "../limits.ts";
import { DeltaFrames } from "./delta-frames.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Publication } from "../protocol/publication.ts";
import type { Subscriber } from "./subscriber.ts";
import type { TagsFilter } from "./tags-filter.ts";

/**
 * Publications that are sent together, and the frames that hold them. Each publication is encoded once for each codec,
 * whatever the number of subscribers and their filters; for delta subscribers, once for each codec and each payload
 * that they hold (rule F1).
 */
export class BatchFrames implements Frames {
  readonly #channel: string;
  readonly #firstCodec: Codec;
  readonly #publications: Publication[] = [];
  /**
   * The encoded publications, by codec. In the first subscriber's codec each is encoded at once, to know the frame's
   * size.
   */
  readonly #messages = new Map<Codec, Message[]>();
  readonly #firstMessages: Message[] = [];
  /** The frames with all publications. */
  readonly #whole = new FrameCache((codec) => codec.joinFrame(this.#messagesIn(codec)));
  /**
   * The filtered frames, under a filter's text, and under the indexes of the publications in them. Undefined until a
   * subscriber with a filter asks.
   */
  #filtered: Map<string, FilteredFrames> | undefined;
  /** The size of the frames in {@link #filtered}. */
  #filteredBytes = 0;
  /** Undefined until a delta subscriber asks. */
  #deltas: DeltaFrames | undefined;
  /** The size of a frame with all publications, in the first subscriber's codec. */
  #bytes = 0;

  /** @param firstCodec of the first subscriber */
  constructor(channel: string, firstCodec: Codec) {
    this.#channel = channel;
    this.#firstCodec = firstCodec;
    this.#messages.set(firstCodec, this.#firstMessages);
  }

  /** How many publications there are. */
  get count(): number {
    return this.#publications.length;
  }

  /**
   * Adds a publication, unless the frame would exceed `bytesMax`; a first publication may have any size (rule F3).
   *
   * @returns full: the publication wasn't added, and belongs into the next frame
   */
  add(publication: Publication, bytesMax: number): "added" | "full" {
    const message = this.#encode(this.#firstCodec, publication);
    if (this.#bytes > 0 && this.#bytes + message.length > bytesMax) return "full";
    this.#firstMessages.push(message);
    this.#publications.push(publication);
    // One more, for the line break before the next message.
    this.#bytes += message.length + 1;
    return "added";
  }

  frameFor(subscriber: Subscriber): Message | undefined {
    if (subscriber.delta) return this.#deltaFrame(subscriber);
    if (subscriber.filter !== undefined) return this.#filteredFrame(subscriber, subscriber.filter);
    return this.#whole.frameFor(subscriber);
  }

  #filteredFrame(subscriber: Subscriber, filter: TagsFilter): Message | undefined {
    this.#filtered ??= new Map();
    const filtered = this.#filtered.get(filter.text) ?? this.#filter(this.#filtered, filter);
    switch (filtered.outcome) {
      case "nothing":
        return undefined;
      case "all":
        return this.#whole.frameFor(subscriber);
      case "some":
        return filtered.frames.frameFor(subscriber);
    }
  }

  /** Filters that let the same publications through share their frames. */
  #filter(known: Map<string, FilteredFrames>, { text, matches }: TagsFilter): FilteredFrames {
    // Thousands of subscribers may have as many filters, whose frames together would take too much memory.
    if (this.#filteredBytes > limits.selectedBytesMax) {
      known.clear();
      this.#filteredBytes = 0;
    }
    const indexes: number[] = [];
    for (const [index, { tags }] of this.#publications.entries())
      if (matches(tags)) indexes.push(index);
    const key = indexes.join();
    const same = known.get(key);
    const filtered = same ?? this.#newFiltered(indexes);
    if (same === undefined) known.set(key, filtered);
    known.set(text, filtered);
    return filtered;
  }

  #newFiltered(indexes: readonly number[]): FilteredFrames {
    if (indexes.length === 0) return { outcome: "nothing" };
    if (indexes.length === this.#publications.length) return { outcome: "all" };
    const chosen = new Set(indexes);
    const frames = new FrameCache((codec) => {
      const frame = codec.joinFrame(
        this.#messagesIn(codec).filter((_, index) => chosen.has(index)),
      );
      this.#filteredBytes += frame.length;
      return frame;
    });
    return { outcome: "some", frames };
  }

  #deltaFrame(subscriber: Subscriber): Message {
    this.#deltas ??= new DeltaFrames(this.#publications, (codec, publication) =>
      this.#encode(codec, publication),
    );
    return this.#deltas.frameFor(subscriber);
  }

  #messagesIn(codec: Codec): readonly Message[] {
    const known = this.#messages.get(codec);
    if (known !== undefined) return known;
    const messages = this.#publications.map((publication) => this.#encode(codec, publication));
    this.#messages.set(codec, messages);
    return messages;
  }

  #encode(codec: Codec, publication: Publication): Message {
    return codec.encodePush({ type: "publication", channel: this.#channel, publication });
  }
}

/** The frames with the publications that a filter lets through. */
type FilteredFrames =
  | { readonly outcome: "nothing" | "all" }
  | { readonly outcome: "some"; readonly frames: FrameCache };

/** One message or batch, encoded once for each codec: when the first subscriber with that codec asks (rule F1). */
export class FrameCache implements Frames {
  readonly #encode: (codec: Codec) => Message;
  /** Nearly all subscribers have the codec of the one before. */
  #lastCodec: Codec | undefined;
  #lastFrame: Message = "";
  /** The frames of earlier codecs; undefined while there is only one codec. */
  #others: Map<Codec, Message> | undefined;

  constructor(encode: (codec: Codec) => Message) {
    this.#encode = encode;
  }

  frameFor({ codec }: Subscriber): Message {
    return codec === this.#lastCodec ? this.#lastFrame : this.#in(codec);
  }

  #in(codec: Codec): Message {
    if (this.#lastCodec !== undefined) {
      this.#others ??= new Map();
      this.#others.set(this.#lastCodec, this.#lastFrame);
    }
    this.#lastFrame = this.#others?.get(codec) ?? this.#encode(codec);
    this.#lastCodec = codec;
    return this.#lastFrame;
  }
}

/** The frames for a hub's subscribers, each in the subscriber's codec. */
export interface Frames {
  /** The frame for one subscriber; undefined when there is nothing for it. */
  frameFor(subscriber: Subscriber): Message | undefined;
}
