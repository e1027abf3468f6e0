import type { Codec, Message } from "../protocol/codec.ts";
import type { Subscriber } from "./subscriber.ts";

/** What goes to listeners, each in the format that it speaks. */
export interface FrameSource {
  /** The frame for one of them; undefined when there is nothing for it. */
  frameFor(subscriber: Subscriber): Message | undefined;
}

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
