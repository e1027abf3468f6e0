import { limits } from "../limits.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import { pieceAsPush } from "./delta-frames.ts";
import { RunFrames } from "./run-frames.ts";
import { inFull, standingOf } from "./piece-windows.ts";
import { joinedPieces } from "../protocol/piece.ts";
import type { ChannelPush, PiecePush, Subscriber } from "./subscriber.ts";

/**
 * Pushes of one channel that are sent together, and the frames that hold them. Each push is encoded once for each
 * codec, whatever the number of subscribers and their filters; for delta subscribers, once for each codec and each
 * payload that they hold (rule F1).
 *
 * Most subscribers get the whole batch. A subscriber that came, or was caught up, while the batch was being collected
 * gets the rest of it: the pushes from a certain one on (rule F5).
 */
export class BatchFrames {
  readonly #firstCodec: Codec;
  readonly #pushes: ChannelPush[] = [];
  /**
   * The encoded pushes, by codec. In the first subscriber's codec each is encoded at once, to know the frame's size.
   */
  readonly #messages = new Map<Codec, Message[]>();
  readonly #firstMessages: Message[] = [];
  /** How many subscribers were sent something of the batch, and how many of them have a filter. */
  sent = 0;
  filtered = 0;
  /** How many got nothing of it because of their filter, and how many were too far behind. */
  leftOut = 0;
  slow = 0;
  /** How many publications there are, and the first and the last of their offsets; 0 if none has one. */
  publications = 0;
  firstOffset = 0;
  lastOffset = 0;
  /** How many pieces of growing values there are, which subscribers with deltas get. */
  #pieces = 0;
  /** Where the last piece of each key is; undefined while there are none. */
  #pieceAt: Map<string, number> | undefined;
  /** The pushes before this one are what some subscriber has already: they stay as they are. */
  #fixedBefore = 0;
  /** How many pushes a subscriber has already, or must not get; undefined while nobody skips any. */
  #skipped: Map<Subscriber, number> | undefined;
  /** The frames of the whole batch; undefined until a subscriber asks, and after a push was added. */
  #whole: RunFrames | undefined;
  /** The frames of the rests, by the index of their first push; undefined while there are none. */
  #rests: Map<number, RunFrames> | undefined;
  #bytes = 0;
  /** The push with the newest change of each key; undefined where all changes are sent. */
  readonly #newest: Map<string, ChannelPush> | undefined;

  /**
   * @param firstCodec of the first subscriber
   * @param onlyNewest whether a change of a key takes the place of an earlier one that is still in the batch: of an
   *                   ephemeral map only the newest values count (rule Z14)
   */
  constructor(firstCodec: Codec, onlyNewest = false) {
    this.#firstCodec = firstCodec;
    this.#newest = onlyNewest ? new Map() : undefined;
    this.#messages.set(firstCodec, this.#firstMessages);
  }

  /** The size of a frame with all pushes, in the first subscriber's codec. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a push, unless the frame would hold too many or become too large; a first push may have any size (rule F3).
   *
   * @returns full: the push wasn't added, and belongs into the next frame
   */
  append(pushed: ChannelPush): "added" | "full" {
    if (pushed.type === "piece" && this.#lengthen(pushed)) return "added";
    const push = this.#newest === undefined ? pushed : this.#replace(this.#newest, pushed);
    if (this.#pushes.length >= limits.batchPushesMax) return "full";
    const message = encoded(push, this.#firstCodec);
    if (this.#bytes > 0 && this.#bytes + message.length > limits.batchBytesMax) return "full";
    this.#firstMessages.push(message);
    this.#pushes.push(push);
    // One more, for the line break before the next message.
    this.#bytes += message.length + 1;
    if (push.type === "publication") this.#addPublication(push.publication.offset);
    if (push.type === "piece") {
      this.#pieces++;
      this.#pieceAt ??= new Map();
      this.#pieceAt.set(push.piece.key, this.#pushes.length - 1);
    }
    this.#whole = undefined;
    this.#rests = undefined;
    return "added";
  }

  /** The subscriber gets nothing of what the batch holds so far: it has that already, or came after it. */
  skipSoFar(subscriber: Subscriber): void {
    this.#skipped ??= new Map();
    this.#skipped.set(subscriber, this.#pushes.length);
    this.#fixedBefore = this.#pushes.length;
  }

  /** Whether the batch may hold something for the subscriber. */
  concerns(subscriber: Subscriber): boolean {
    const isHeard = this.publications > 0 || subscriber.hearsJoinLeave;
    if (!isHeard && (this.#pieces === 0 || !subscriber.delta)) return false;
    return (this.#skipped?.get(subscriber) ?? 0) < this.#pushes.length;
  }

  /**
   * The frame for one subscriber; undefined if nothing is for it. The call notes which publication a delta subscriber
   * holds then, so the frame must be sent.
   */
  frameFor(subscriber: Subscriber): Message | undefined {
    const skipped = this.#skipped?.get(subscriber) ?? 0;
    if (skipped > 0) return this.#restFrom(skipped)?.frameFor(subscriber);
    this.#whole ??= this.#run(0, limits.selectedBytesMax);
    return this.#whole.frameFor(subscriber);
  }

  /** How many publications the subscriber's frame has. */
  publicationsFor(subscriber: Subscriber): number {
    const { filter } = subscriber;
    const skipped = this.#skipped?.get(subscriber) ?? 0;
    if (filter === undefined && skipped === 0 && this.#pieces === 0) return this.publications;
    let count = 0;
    for (const push of this.#pushes.slice(skipped)) {
      if (push.type === "piece" && subscriber.delta && standingOf(subscriber, push) === "on time")
        count++;
      if (push.type !== "publication") continue;
      if (filter === undefined || filter.matches(push.publication.tags)) count++;
    }
    return count;
  }

  /** Adds a piece to the one before it of the same key, so that both are one publication (rule Z39). @returns whether it did */
  #lengthen(push: PiecePush): boolean {
    const index = this.#pieceAt?.get(push.piece.key) ?? -1;
    const before = this.#pushes[index];
    if (index < this.#fixedBefore || before?.type !== "piece" || before.late !== push.late)
      return false;
    const piece = joinedPieces(before.piece, push.piece);
    if (piece === undefined || piece.splice.text.length > limits.joinedPieceCharactersMax)
      return false;
    const joined = { ...push, piece };
    const message = encoded(joined, this.#firstCodec);
    const bytes = this.#bytes + message.length - (this.#firstMessages[index]?.length ?? 0);
    if (bytes > limits.batchBytesMax) return false;
    this.#bytes = bytes;
    this.#pushes[index] = joined;
    for (const [codec, messages] of this.#messages)
      if (messages.length > index) messages[index] = encoded(joined, codec);
    this.#whole = undefined;
    this.#rests = undefined;
    return true;
  }

  /** Takes out the change that a push replaces. @returns the push, in full if subscribers may not hold its base */
  #replace(newest: Map<string, ChannelPush>, push: ChannelPush): ChannelPush {
    const key = push.type === "publication" ? push.publication.key : undefined;
    if (push.type !== "publication" || key === undefined) return push;
    const replaced = newest.get(key);
    const added =
      replaced === undefined ? push : { ...push, publication: inFull(push.publication) };
    if (replaced !== undefined) this.#takeOut(this.#pushes.indexOf(replaced));
    newest.set(key, added);
    return added;
  }

  #takeOut(index: number): void {
    if (index === -1) return;
    this.#bytes -= (this.#firstMessages[index]?.length ?? 0) + 1;
    this.#pushes.splice(index, 1);
    for (const messages of this.#messages.values()) messages.splice(index, 1);
    for (const [subscriber, count] of this.#skipped ?? [])
      if (count > index) this.#skipped?.set(subscriber, count - 1);
    this.publications--;
    this.#whole = undefined;
    this.#rests = undefined;
  }

  #addPublication(offset: number): void {
    this.publications++;
    if (offset === 0) return;
    this.lastOffset = offset;
    if (this.firstOffset === 0) this.firstOffset = offset;
  }

  #restFrom(index: number): RunFrames | undefined {
    if (index >= this.#pushes.length) return undefined;
    const known = this.#rests?.get(index);
    if (known !== undefined) return known;
    // Each rest may take as much memory as the whole batch, so only a few are kept.
    if (this.#rests?.size === limits.batchRestsMax) this.#rests = undefined;
    this.#rests ??= new Map();
    const rest = this.#run(index, limits.selectedBytesMax / limits.batchRestsMax);
    this.#rests.set(index, rest);
    return rest;
  }

  #run(from: number, selectedBytesMax: number): RunFrames {
    const pushes = from === 0 ? this.#pushes : this.#pushes.slice(from);
    return new RunFrames(
      pushes,
      (codec) => {
        const messages = this.#messagesIn(codec);
        return from === 0 ? messages : messages.slice(from);
      },
      selectedBytesMax,
    );
  }

  /** Encodes what isn't encoded yet. */
  #messagesIn(codec: Codec): readonly Message[] {
    let messages = this.#messages.get(codec);
    if (messages === undefined) {
      messages = [];
      this.#messages.set(codec, messages);
    }
    for (const push of this.#pushes.slice(messages.length)) messages.push(encoded(push, codec));
    return messages;
  }
}

/** A push as everybody gets it; a piece, which only some get, as those get it. */
function encoded(push: ChannelPush, codec: Codec): Message {
  return codec.encodePush(push.type === "piece" ? pieceAsPush(push, codec.deltaForm) : push);
}
