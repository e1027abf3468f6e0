import { type DeltaForm, fullForDelta, deltaOrFull } from "../delta/delta-chain.ts";
import { limits } from "../limits.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import { noPayload, type Payload } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";
import { inFull, type Standing } from "./piece-windows.ts";
import type { ChannelPush, PublicationPush, Subscriber } from "./subscriber.ts";
import { trustedJsonText } from "../protocol/json/text.ts";
import { utf8Length } from "../protocol/bytes.ts";
import type { Splice } from "../protocol/piece.ts";
import { numberText } from "../delta/fossil.ts";

/**
 * Pushes that are sent together, for delta subscribers (docs/protocol.md 3.1). The first publication is a delta of the
 * payload that the subscriber holds, each other one of the publication before it. So subscribers that hold the same
 * payload get the same frame, and the frames of others differ in the first publication alone. Joins and leaves between
 * the publications are for those that hear them.
 */
export class DeltaFrames {
  readonly #pushes: readonly DeltaPush[];
  readonly #publications: readonly Publication[];
  readonly #byCodec = new Map<Codec, CodecFrames>();

  /** @param pushes at least one publication among them */
  constructor(pushes: readonly DeltaPush[]) {
    this.#pushes = pushes;
    this.#publications = pushes.flatMap((push) =>
      push.type === "publication" ? [push.publication] : [],
    );
  }

  /** Gives the frame, and tells the subscriber which publication it holds then. */
  frameFor(subscriber: Subscriber): Message {
    const { codec, deltaBase, hearsJoinLeave } = subscriber;
    const frames = this.#framesIn(codec);
    const based = frames.byBase.get(deltaBase) ?? this.#newBase(codec, frames, deltaBase);
    const frame = hearsJoinLeave
      ? (based.hearing ??= this.#join(codec, frames, based.first, true))
      : (based.deaf ??= this.#join(codec, frames, based.first, false));
    const last = this.#publications.at(-1);
    if (last !== undefined) subscriber.noteSent(last);
    return frame;
  }

  #newBase(codec: Codec, frames: CodecFrames, base: Payload | undefined): BaseFrames {
    // A subscriber that holds a rare payload is sent the first publication in full, and from then on holds what most
    // hold (rule D5).
    const isRare = frames.byBase.size >= limits.deltaBasesMax;
    const usable = isRare ? undefined : base;
    const known = isRare ? frames.byBase.get(undefined) : undefined;
    if (known !== undefined) return known;
    const first = this.#pushes.find(({ type }) => type === "publication");
    const based: BaseFrames = {
      first: first === undefined ? "" : this.#message(codec, first, usable),
      hearing: undefined,
      deaf: undefined,
    };
    frames.byBase.set(usable, based);
    return based;
  }

  #join(codec: Codec, frames: CodecFrames, first: Message, hearsJoinLeave: boolean): Message {
    frames.later ??= this.#laterMessages(codec);
    const messages: Message[] = [];
    let isFirst = true;
    for (const [index, { type }] of this.#pushes.entries()) {
      const later = frames.later[index];
      if (type === "publication" && isFirst) {
        messages.push(first);
        isFirst = false;
      } else if (later !== undefined && (type === "publication" || hearsJoinLeave)) {
        messages.push(later);
      }
    }
    return codec.joinFrame(messages);
  }

  /** All pushes but the first publication, each at its index. */
  #laterMessages(codec: Codec): readonly (Message | undefined)[] {
    let before: Publication | undefined;
    return this.#pushes.map((push) => {
      if (push.type !== "publication") return codec.encodePush(push);
      const base = before;
      before = push.publication;
      return base === undefined ? undefined : this.#message(codec, push, base.data);
    });
  }

  /** @param held what the subscriber holds, unless the publication changes a key: then it holds what the key had before */
  #message(codec: Codec, push: DeltaPush, held: Payload | undefined): Message {
    if (push.type !== "publication") return codec.encodePush(push);
    const { publication } = push;
    const splice = publication.grown?.splice;
    if (splice !== undefined) {
      const spliced = splicedPublication(publication, splice, codec.deltaForm);
      return codec.encodePush({ ...push, publication: withoutEpoch(spliced) });
    }
    const base = publication.key === undefined ? held : publication.before;
    const form = codec.deltaForm;
    const sent =
      base === undefined || publication.mayBePatch !== true
        ? fullForDelta(publication, form)
        : deltaOrFull(publication, base, form);
    return codec.encodePush({ ...push, publication: withoutEpoch(sent) });
  }

  #framesIn(codec: Codec): CodecFrames {
    const known = this.#byCodec.get(codec);
    if (known !== undefined) return known;
    const frames: CodecFrames = { byBase: new Map(), later: undefined };
    this.#byCodec.set(codec, frames);
    return frames;
  }
}

/** What a delta subscriber is sent: a piece of a growing value is a publication without an offset. */
export type DeltaPush = Exclude<ChannelPush, { readonly type: "piece" }>;

/**
 * A push as a delta subscriber is sent it.
 *
 * @param standing what the subscriber has of the window that the push belongs to
 * @returns undefined if it gets nothing
 */
export function deltaPush(push: ChannelPush, standing: Standing): DeltaPush | undefined {
  if (push.type === "piece") return standing === "on time" ? pieceAsPublication(push) : undefined;
  if (push.type !== "publication" || push.late === undefined || standing === "late") return push;
  if (standing === "unknown") return { ...push, publication: inFull(push.publication) };
  const { grown, ...publication } = push.publication;
  // The subscriber has most of it already, and is told the offset.
  const own = grown?.rest === undefined ? {} : { grown: { pieces: 0, splice: grown.rest } };
  return { ...push, publication: { ...publication, ...own } };
}

/** A piece as those with deltas get it. */
export function pieceAsPush(
  push: Extract<ChannelPush, { readonly type: "piece" }>,
  form: DeltaForm,
): PublicationPush {
  const told = pieceAsPublication(push);
  return { ...told, publication: splicedPublication(told.publication, push.piece.splice, form) };
}

function pieceAsPublication({
  channel,
  piece: { key, splice },
}: Extract<ChannelPush, { readonly type: "piece" }>): PublicationPush {
  const grown = { pieces: 0, splice };
  return {
    type: "publication",
    channel,
    publication: { key, data: noPayload(), offset: 0, grown },
  };
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
  readonly byBase: Map<Payload | undefined, BaseFrames>;
  /** The messages that all frames share; undefined until the first frame is made. */
  later: readonly (Message | undefined)[] | undefined;
}

/** The frames for subscribers that hold the same payload. */
interface BaseFrames {
  /** The first publication. */
  readonly first: Message;
  /** With the joins and leaves. */
  hearing: Message | undefined;
  /** Without them. */
  deaf: Message | undefined;
}

/**
 * A publication whose data is the delta of a splice (docs/protocol.md 3.1): what is before the text, the text, and what is
 * after it. Time and memory are proportional to the text.
 */
function splicedPublication(
  publication: Publication,
  splice: Splice,
  form: DeltaForm,
): Publication {
  const delta = spliceDelta(splice);
  const data =
    form === "bytes" ? new TextEncoder().encode(delta) : trustedJsonText(JSON.stringify(delta));
  return { ...publication, data, delta: true };
}

/** The delta of a splice, which is text because the splice's text is. */
function spliceDelta({ text, at, baseBytes, sum }: Splice): string {
  const bytes = utf8Length(text);
  const after = baseBytes - at;
  const insert = bytes === 0 ? "" : `${numberText(bytes)}:${text}`;
  const parts = [
    at === 0 ? "" : `${numberText(at)}@0,`,
    insert,
    after === 0 ? "" : `${numberText(after)}@${numberText(at)},`,
  ];
  return `${numberText(baseBytes + bytes)}\n${parts.join("")}${numberText(sum)};`;
}
