import { limits } from "../../src/limits.ts";
import type { Message } from "../../src/protocol/codec.ts";
import { utf8Fits } from "../../src/protocol/bytes.ts";

/**
 * Lets the frames of one socket be carried out one after the other (rule O6): while one waits for a key or a commit, the
 * runtime hands over the next.
 */
export class FrameQueue {
  #last: Promise<void> | undefined;
  #waitingBytes = 0;

  /** Whether no frame is carried out, and none waits. */
  get idle(): boolean {
    return this.#last === undefined;
  }

  /**
   * Carries out a frame in its turn: at once, if none is before it.
   *
   * @param bytes what the frame holds in memory
   * @param carryOut must not reject
   * @returns undefined when so much waits already that this frame can't; then it isn't carried out
   */
  take(bytes: number, carryOut: () => Promise<void>): Promise<void> | undefined {
    const before = this.#last;
    if (before !== undefined && this.#waitingBytes + bytes > limits.framesWaitingBytesMax) {
      return undefined;
    }
    const turn = this.#carryOut(before, bytes, carryOut);
    this.#last = turn;
    void this.#forget(turn);
    return turn;
  }

  async #carryOut(
    before: Promise<void> | undefined,
    bytes: number,
    carryOut: () => Promise<void>,
  ): Promise<void> {
    if (before !== undefined) {
      this.#waitingBytes += bytes;
      await before;
      this.#waitingBytes -= bytes;
    }
    await carryOut();
  }

  /** When no other frame has come meanwhile, the next one needn't wait. */
  async #forget(turn: Promise<void>): Promise<void> {
    await turn;
    if (this.#last === turn) this.#last = undefined;
  }
}

/** A WebSocket message as a codec wants it. */
type ReadFrame =
  | { readonly outcome: "frame"; readonly frame: Message }
  | { readonly outcome: "too-large" };

/** Takes a message of at most `limits.frameBytesMax` bytes. */
export function readFrame(message: string | ArrayBuffer | Uint8Array): ReadFrame {
  if (typeof message === "string") {
    return utf8Fits(message, limits.frameBytesMax)
      ? { outcome: "frame", frame: message }
      : { outcome: "too-large" };
  }
  return message.byteLength > limits.frameBytesMax
    ? { outcome: "too-large" }
    : {
        outcome: "frame",
        frame: message instanceof Uint8Array ? message : new Uint8Array(message),
      };
}
