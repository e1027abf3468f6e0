import type { KeyChange } from "./poll-batch.ts";
import { deltaOrFull, fullForDelta } from "../../delta/delta-chain.ts";
import { limits } from "../../limits.ts";
import type { Codec, CodecName, Message } from "../../protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../protocol/codes.ts";
import type { Payload } from "../../protocol/payload.ts";
import type { Publication } from "../../protocol/publication.ts";

/**
 * Sends changes of keys to the connections that track them. What a poll brings for a connection shares a frame, and the
 * connections are served in slices, with a turn of the event loop after each (rule F2). A connection whose turn comes late
 * gets the newest change of each key only. To a connection with deltas a change is sent as the difference from what it was
 * sent before, where that is shorter (rule SP13).
 */
export class KeyFrames<Receiver extends KeyReceiver> {
  readonly #channel: string;
  readonly #queueMaxBytes: number;
  readonly #waiting = new Map<Receiver, Map<string, WaitingChange>>();
  /** The changes that connections wait for, or did until just now. */
  readonly #encoded = new Map<KeyChange, EncodedChange>();
  /** The characters of their data, and of the bases. */
  #length = 0;

  constructor(channel: string, queueMaxBytes: number) {
    this.#channel = channel;
    this.#queueMaxBytes = queueMaxBytes;
  }

  /** Whether connections wait: {@link sendSlice} has to be called. */
  get sending(): boolean {
    return this.#waiting.size > 0;
  }

  /** The characters of the data that is held for connections. */
  get length(): number {
    return this.#length;
  }

  /**
   * Collects a change that is to be sent to a connection.
   *
   * @param base the value of the key that the connection was sent last; undefined if the change has to be sent in full
   */
  collect(receiver: Receiver, change: KeyChange, base?: Payload): void {
    const changes = this.#waiting.get(receiver) ?? new Map<string, WaitingChange>();
    this.#waiting.set(receiver, changes);
    // A change that still waits was never sent: the connection has what it had before.
    const before = changes.get(change.key);
    const held = before === undefined ? base : before.base;
    changes.set(change.key, { change, base: held });
    const encoded = this.#encoded.get(change) ?? this.#newEncoded(change);
    if (held === undefined || encoded.bases.has(held)) return;
    encoded.bases.add(held);
    this.#length += held.length;
  }

  /** A connection is sent nothing more of a key. */
  drop(receiver: Receiver, key: string): void {
    const changes = this.#waiting.get(receiver);
    if (changes?.delete(key) === true && changes.size === 0) this.leave(receiver);
  }

  /** A connection is sent nothing more. */
  leave(receiver: Receiver): void {
    this.#waiting.delete(receiver);
    this.#release();
  }

  /** Sends to the next connections; disconnects those that don't take what they are sent (rule F4). */
  sendSlice(): void {
    let [receivers, bytes] = [0, 0];
    for (const [receiver, changes] of this.#waiting) {
      if (receivers >= limits.sliceSubscribersMax || bytes >= limits.sliceBytesMax) break;
      this.#waiting.delete(receiver);
      receivers++;
      if (receiver.backlogBytes() > this.#queueMaxBytes) receiver.disconnect(disconnectCodes.slow);
      else bytes += this.#send(receiver, changes);
    }
    this.#release();
  }

  #newEncoded(change: KeyChange): EncodedChange {
    const encoded: EncodedChange = { bases: new Set(), plain: new Map(), forDeltas: new Map() };
    this.#encoded.set(change, encoded);
    this.#length += change.data.length;
    return encoded;
  }

  #release(): void {
    if (this.#waiting.size > 0) return;
    this.#encoded.clear();
    this.#length = 0;
  }

  /** @returns the bytes that were sent */
  #send(receiver: Receiver, changes: ReadonlyMap<string, WaitingChange>): number {
    let messages: Message[] = [];
    let [frameBytes, bytes] = [0, 0];
    const flush = (): void => {
      if (messages.length > 0) receiver.send(receiver.codec.joinFrame(messages));
      messages = [];
      frameBytes = 0;
    };
    for (const waiting of changes.values()) {
      const message = this.#encode(waiting, receiver);
      if (
        messages.length >= limits.batchPushesMax ||
        frameBytes + message.length > limits.batchBytesMax
      )
        flush();
      messages.push(message);
      frameBytes += message.length;
      bytes += message.length;
    }
    flush();
    return bytes;
  }

  /** Encodes a change once for each codec, and for connections with deltas once for each base (rules F1 and D5). */
  #encode({ change, base }: WaitingChange, { codec, delta }: Receiver): Message {
    const encoded = this.#encoded.get(change) ?? this.#newEncoded(change);
    if (!delta || change.removed === true) {
      const known = encoded.plain.get(codec.name) ?? this.#message(codec, change);
      encoded.plain.set(codec.name, known);
      return known;
    }
    const byBase = encoded.forDeltas.get(codec.name) ?? new Map<Payload | undefined, Message>();
    encoded.forDeltas.set(codec.name, byBase);
    const usable = byBase.has(base) || byBase.size < limits.deltaBasesMax ? base : undefined;
    const sent =
      byBase.get(usable) ??
      this.#message(
        codec,
        usable === undefined
          ? fullForDelta(change, codec.deltaForm)
          : deltaOrFull(change, usable, codec.deltaForm),
      );
    byBase.set(usable, sent);
    return sent;
  }

  #message(codec: Codec, publication: Publication): Message {
    return codec.encodePush({ type: "publication", channel: this.#channel, publication });
  }
}

/** A change that a connection waits for. */
interface WaitingChange {
  readonly change: KeyChange;
  /** The value that the connection was sent before, of which the change may be a delta; undefined for none. */
  readonly base: Payload | undefined;
}

/** A change as it is sent. */
interface EncodedChange {
  /** The bases with which connections wait for it. */
  readonly bases: Set<Payload>;
  readonly plain: Map<CodecName, Message>;
  /** For connections with deltas, by the base; undefined for those that get it in full. */
  readonly forDeltas: Map<CodecName, Map<Payload | undefined, Message>>;
}

/** A connection that tracks keys. */
export interface KeyReceiver {
  readonly codec: Codec;
  /** Whether it gets deltas where they are shorter. */
  readonly delta: boolean;
  send(frame: Message): void;
  /** The bytes handed to its socket that the client has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
}
