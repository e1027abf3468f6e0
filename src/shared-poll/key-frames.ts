import type { KeyChange } from "../contract/poll-batch.ts";
import { limits } from "../limits.ts";
import type { Codec, CodecName, Message } from "../protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";

/**
 * Sends changes of keys to the connections that track them. What a poll brings for a connection shares a frame, and the
 * connections are served in slices, with a turn of the event loop after each (rule F2). A connection whose turn comes late
 * gets the newest change of each key only.
 */
export class KeyFrames<Receiver extends KeyReceiver> {
  readonly #channel: string;
  readonly #queueMaxBytes: number;
  readonly #waiting = new Map<Receiver, Map<string, KeyChange>>();
  /** The changes that connections wait for, or did until just now: each is encoded once for each codec. */
  readonly #encoded = new Map<KeyChange, Map<CodecName, Message>>();
  /** The characters of their data. */
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

  /** Has a change sent to a connection. */
  collect(receiver: Receiver, change: KeyChange): void {
    if (!this.#encoded.has(change)) {
      this.#encoded.set(change, new Map());
      this.#length += change.data.length;
    }
    const changes = this.#waiting.get(receiver);
    if (changes === undefined) this.#waiting.set(receiver, new Map([[change.key, change]]));
    else changes.set(change.key, change);
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

  #release(): void {
    if (this.#waiting.size > 0) return;
    this.#encoded.clear();
    this.#length = 0;
  }

  /** @returns the bytes that were sent */
  #send(receiver: Receiver, changes: ReadonlyMap<string, KeyChange>): number {
    let messages: Message[] = [];
    let [frameBytes, bytes] = [0, 0];
    const flush = (): void => {
      if (messages.length > 0) receiver.send(receiver.codec.joinFrame(messages));
      messages = [];
      frameBytes = 0;
    };
    for (const change of changes.values()) {
      const message = this.#encode(change, receiver.codec);
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

  #encode(publication: KeyChange, codec: Codec): Message {
    const known = this.#encoded.get(publication)?.get(codec.name);
    if (known !== undefined) return known;
    const message = codec.encodePush({ type: "publication", channel: this.#channel, publication });
    this.#encoded.get(publication)?.set(codec.name, message);
    return message;
  }
}

/** A connection that tracks keys. */
export interface KeyReceiver {
  readonly codec: Codec;
  send(frame: Message): void;
  /** The bytes handed to its socket that the client has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
}
