import { limits } from "../limits.ts";
import { DeltaFrames } from "./delta-frames.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { Publication } from "../protocol/publication.ts";
import type { Subscriber } from "./subscriber.ts";
import type { TagsFilter } from "./tags-filter.ts";

/**
 * Publications that go out together, and the frames that bring them. Each publication is encoded once for each codec, however
 * many listen and whatever they filter; for those who get patches, once for each codec and payload that they have (rule F1).
 */
export class BatchFrames implements FrameSource {
  readonly #channel: string;
  readonly #lead: Codec;
  readonly #publications: Publication[] = [];
  /** The publications' messages, by codec; those of the first listener's are made at once, to know how much there is. */
  readonly #messages = new Map<Codec, Message[]>();
  readonly #leadMessages: Message[] = [];
  readonly #whole = new FrameCache((codec) => codec.joinFrame(this.#messagesIn(codec)));
  /** Which publications a filter lets through; undefined while nobody filters. */
  #selections: Map<string, Selection> | undefined;
  /** What their frames take that are kept for the next listener with the same wishes. */
  #selectedBytes = 0;
  /** Undefined while nobody gets patches. */
  #deltas: DeltaFrames | undefined;
  /** What a frame with all of them takes, as the first listener gets it. */
  #bytes = 0;

  /** @param lead what the first of the listeners speaks */
  constructor(channel: string, lead: Codec) {
    this.#channel = channel;
    this.#lead = lead;
    this.#messages.set(lead, this.#leadMessages);
  }

  get count(): number {
    return this.#publications.length;
  }

  /** @returns whether it made the frame larger than allowed, and isn't in it: it then belongs into the next one */
  add(publication: Publication, bytesMax: number): "added" | "full" {
    const message = this.#encode(this.#lead, publication);
    if (this.#bytes > 0 && this.#bytes + message.length > bytesMax) return "full";
    this.#leadMessages.push(message);
    this.#publications.push(publication);
    // With the line break that divides it from the next one.
    this.#bytes += message.length + 1;
    return "added";
  }

  frameFor(subscriber: Subscriber): Message | undefined {
    if (subscriber.delta) return this.#deltaFrame(subscriber);
    if (subscriber.filter !== undefined) return this.#selected(subscriber, subscriber.filter);
    return this.#whole.frameFor(subscriber);
  }

  #selected(subscriber: Subscriber, filter: TagsFilter): Message | undefined {
    this.#selections ??= new Map();
    const selection = this.#selections.get(filter.text) ?? this.#select(this.#selections, filter);
    switch (selection.outcome) {
      case "nothing":
        return undefined;
      case "all":
        return this.#whole.frameFor(subscriber);
      case "some":
        return selection.frames.frameFor(subscriber);
    }
  }

  /** Filters that let the same publications through share their frames. */
  #select(known: Map<string, Selection>, { text, matches }: TagsFilter): Selection {
    // Thousands of listeners may each want something else: kept for all of them it would be more than memory bears.
    if (this.#selectedBytes > limits.selectedBytesMax) {
      known.clear();
      this.#selectedBytes = 0;
    }
    const places: number[] = [];
    for (const [place, { tags }] of this.#publications.entries())
      if (matches(tags)) places.push(place);
    const key = places.join();
    const same = known.get(key);
    const selection = same ?? this.#newSelection(places);
    if (same === undefined) known.set(key, selection);
    known.set(text, selection);
    return selection;
  }

  #newSelection(places: readonly number[]): Selection {
    if (places.length === 0) return { outcome: "nothing" };
    if (places.length === this.#publications.length) return { outcome: "all" };
    const chosen = new Set(places);
    const frames = new FrameCache((codec) => {
      const frame = codec.joinFrame(
        this.#messagesIn(codec).filter((_, place) => chosen.has(place)),
      );
      this.#selectedBytes += frame.length;
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

type Selection =
  | { readonly outcome: "nothing" | "all" }
  | { readonly outcome: "some"; readonly frames: FrameCache };

/** The same thing for everybody: encoded once for each codec that somebody speaks, when the first of them gets it (rule F1). */
export class FrameCache implements FrameSource {
  readonly #encode: (codec: Codec) => Message;
  /** Nearly everybody speaks what the one before spoke. */
  #lastCodec: Codec | undefined;
  #lastFrame: Message = "";
  /** Undefined while there was one codec only. */
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

/** What goes to listeners, each in the format that it speaks. */
export interface FrameSource {
  /** The frame for one of them; undefined when there is nothing for it. */
  frameFor(subscriber: Subscriber): Message | undefined;
}
