import type { Codec, Message } from "../protocol/codec.ts";
import { DeltaFrames, type DeltaPush, deltaPush } from "./delta-frames.ts";
import { type Standing, standingOf } from "./piece-windows.ts";
import { uuidOfClient } from "../contract/object-names.ts";
import type { ChannelPush, Subscriber } from "./subscriber.ts";
import type { TagsFilter } from "../protocol/tags-filter.ts";

/** The frames of a fixed run of pushes: each subscriber gets the pushes that are for it, in its codec. */
export class RunFrames {
  readonly #pushes: readonly ChannelPush[];
  readonly #messagesIn: (codec: Codec) => readonly Message[];
  readonly #selectedBytesMax: number;
  readonly #hasJoinLeave: boolean;
  readonly #hasPublications: boolean;
  /** Whether some are pieces of growing values, which only delta subscribers get. */
  readonly #hasPieces: boolean;
  /** The indexes of the pushes of whose values a later push has more: only delta subscribers get them (rule Z39). */
  readonly #outgrown: ReadonlySet<number>;
  /** The connections that don't get some of the pushes, by their UUIDs; undefined if all of them get all. */
  readonly #excepted: ReadonlySet<string> | undefined;
  /** The indexes of the pushes that belong to windows of pieces. */
  readonly #windowed: readonly number[];
  /** The frames with all pushes. */
  readonly #whole: FrameCache;
  /**
   * The frames with some of the pushes, under what selects them, and under their indexes. Undefined until a subscriber
   * with a filter asks, or one that gets no joins and leaves among publications.
   */
  #selected: Map<string, SelectedFrames> | undefined;
  /** The size of the frames in {@link #selected}. */
  #selectedBytes = 0;
  /**
   * For delta subscribers, by the pushes in whose windows they weren't on time. Undefined until one asks, and in it where none of the
   * publications is for them.
   */
  #deltas: Map<string, DeltaFrames | undefined> | undefined;

  /**
   * @param pushes           at least one
   * @param messagesIn       the pushes, encoded by a codec
   * @param selectedBytesMax how large the frames with some of the pushes may be together; beyond it all of them are
   *                         dropped and made again
   */
  constructor(
    pushes: readonly ChannelPush[],
    messagesIn: (codec: Codec) => readonly Message[],
    selectedBytesMax: number,
  ) {
    this.#pushes = pushes;
    this.#messagesIn = messagesIn;
    this.#selectedBytesMax = selectedBytesMax;
    let [hasPieces, hasPublications, hasJoinLeave, hasGrown] = [false, false, false, false];
    let excepted: Set<string> | undefined;
    const windowed: number[] = [];
    for (const [index, push] of pushes.entries()) {
      if (push.type === "publication") {
        const { grown, except } = push.publication;
        hasPublications = true;
        hasGrown ||= grown !== undefined;
        if (except !== undefined) (excepted ??= new Set()).add(except);
      } else if (push.type === "piece") hasPieces = true;
      else hasJoinLeave = true;
      if ("late" in push) windowed.push(index);
    }
    this.#hasPieces = hasPieces;
    this.#hasPublications = hasPieces || hasPublications;
    this.#hasJoinLeave = hasJoinLeave;
    this.#outgrown = hasGrown ? outgrownIn(pushes) : noIndexes;
    this.#excepted = excepted;
    this.#windowed = windowed;
    this.#whole = new FrameCache((codec) => codec.joinFrame(messagesIn(codec)));
  }

  /** The frame for one subscriber; undefined when there is nothing for it. */
  frameFor(subscriber: Subscriber): Message | undefined {
    if (this.#excepted !== undefined) {
      const uuid = uuidOfClient(subscriber.info.client);
      if (this.#excepted.has(uuid)) return this.#runWithout(uuid)?.frameFor(subscriber);
    }
    const deltas = subscriber.delta && this.#hasPublications && this.#deltasFor(subscriber);
    if (deltas instanceof DeltaFrames) return deltas.frameFor(subscriber);
    const hearsAll = !this.#hasJoinLeave || subscriber.hearsJoinLeave;
    const isForAll = hearsAll && !this.#hasPieces && this.#outgrown.size === 0;
    if (subscriber.filter === undefined && isForAll) return this.#whole.frameFor(subscriber);
    return this.#selectedFrame(subscriber, subscriber.filter, hearsAll);
  }

  #selectedFrame(
    subscriber: Subscriber,
    filter: TagsFilter | undefined,
    hearsAll: boolean,
  ): Message | undefined {
    const key = `${hearsAll ? "all" : "publications"} ${filter?.text ?? ""}`;
    this.#selected ??= new Map();
    const selected = this.#selected.get(key) ?? this.#select(this.#selected, key, filter, hearsAll);
    switch (selected.outcome) {
      case "nothing":
        return undefined;
      case "all":
        return this.#whole.frameFor(subscriber);
      case "some":
        return selected.frames.frameFor(subscriber);
    }
  }

  /** Subscribers that get the same pushes share their frames, whatever selects these. */
  #select(
    known: Map<string, SelectedFrames>,
    key: string,
    filter: TagsFilter | undefined,
    hearsAll: boolean,
  ): SelectedFrames {
    // Thousands of subscribers may have as many filters, whose frames together would take too much memory.
    if (this.#selectedBytes > this.#selectedBytesMax) {
      known.clear();
      this.#selectedBytes = 0;
    }
    const indexes: number[] = [];
    for (const [index, push] of this.#pushes.entries()) {
      if (push.type === "piece" || this.#outgrown.has(index)) continue;
      const isHeard =
        push.type === "publication" ? (filter?.matches(push.publication.tags) ?? true) : hearsAll;
      if (isHeard) indexes.push(index);
    }
    const sameKey = indexes.join();
    const same = known.get(sameKey);
    const selected = same ?? this.#newSelected(indexes);
    if (same === undefined) known.set(sameKey, selected);
    known.set(key, selected);
    return selected;
  }

  #newSelected(indexes: readonly number[]): SelectedFrames {
    if (indexes.length === 0) return { outcome: "nothing" };
    if (indexes.length === this.#pushes.length) return { outcome: "all" };
    const chosen = new Set(indexes);
    const frames = new FrameCache((codec) => {
      const frame = codec.joinFrame(
        this.#messagesIn(codec).filter((_, index) => chosen.has(index)),
      );
      this.#selectedBytes += frame.length;
      return frame;
    });
    return { outcome: "some", frames };
  }

  /** The pushes that the connection of this UUID gets, a run for it alone; undefined if it gets none. */
  #runWithout(uuid: string): RunFrames | undefined {
    const isKept = this.#pushes.map(
      (push) => push.type !== "publication" || push.publication.except !== uuid,
    );
    const pushes = this.#pushes.filter((_, index) => isKept[index]);
    if (pushes.length === 0) return undefined;
    const messagesIn = (codec: Codec): readonly Message[] =>
      this.#messagesIn(codec).filter((_, index) => isKept[index]);
    return new RunFrames(pushes, messagesIn, this.#selectedBytesMax);
  }

  /** Undefined where none of the publications is for the subscriber. */
  #deltasFor(subscriber: Subscriber): DeltaFrames | undefined {
    const standings = new Map<number, Standing>();
    let key = "";
    for (const index of this.#windowed) {
      const standing = standingOf(subscriber, this.#pushes[index]);
      if (standing === "on time") continue;
      standings.set(index, standing);
      key += `${standing} ${index},`;
    }
    this.#deltas ??= new Map();
    if (!this.#deltas.has(key)) this.#deltas.set(key, this.#newDeltas(standings));
    return this.#deltas.get(key);
  }

  /** @param standings of the pushes in whose windows the subscriber wasn't on time */
  #newDeltas(standings: ReadonlyMap<number, Standing>): DeltaFrames | undefined {
    const told: DeltaPush[] = [];
    for (const [index, push] of this.#pushes.entries()) {
      const own = deltaPush(push, standings.get(index) ?? "on time");
      if (own !== undefined) told.push(own);
    }
    return told.some(({ type }) => type === "publication") ? new DeltaFrames(told) : undefined;
  }
}

/**
 * The indexes of publications by which a value has grown, where a later one of the same key has its whole value. The
 * first publication of a stream isn't among them: it alone carries the epoch to clients (docs/protocol.md 2.6).
 */
function outgrownIn(pushes: readonly ChannelPush[]): ReadonlySet<number> {
  const later = new Set<string>();
  const outgrown = new Set<number>();
  for (const [index, push] of [...pushes.entries()].toReversed()) {
    if (push.type !== "publication") continue;
    const { key, grown, tags, epoch } = push.publication;
    // A filter may let one through and not another one that has other tags.
    const same = JSON.stringify([key, tags]);
    if (grown !== undefined && epoch === undefined && later.has(same)) outgrown.add(index);
    later.add(same);
  }
  return outgrown;
}

const noIndexes: ReadonlySet<number> = new Set();

/** The frames with the pushes that are selected for a subscriber. */
type SelectedFrames =
  | { readonly outcome: "nothing" | "all" }
  | { readonly outcome: "some"; readonly frames: FrameCache };

/** One message or batch, encoded once for each codec: when the first subscriber with that codec asks (rule F1). */
class FrameCache {
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
