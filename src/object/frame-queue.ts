import { limits } from "../limits.ts";

/**
 * Carries out the frames of one socket one after the other (rule O6). While a frame waits for a token key or a commit,
 * the runtime hands over the next ones.
 */
export class FrameQueue {
  readonly #all: WaitingFrames;
  readonly #waiting: WaitingFrame[] = [];
  #waitingBytes = 0;
  #isBusy = false;

  /** @param all those of the object */
  constructor(all: WaitingFrames) {
    this.#all = all;
  }

  /** Whether no frame is being carried out, and none waits. */
  get idle(): boolean {
    return !this.#isBusy;
  }

  /**
   * Carries out a frame after those before it; at once, if there is none.
   *
   * @param bytes what the frame takes in memory
   * @param carryOut calls back once the frame was carried out, and throws nothing
   * @returns false if too much waits: then the frame is not carried out
   */
  enqueue(bytes: number, carryOut: WaitingFrame["carryOut"]): boolean {
    if (this.#isBusy) {
      if (!this.#hasRoom(bytes)) return false;
      this.#wait(bytes);
      this.#waiting.push({ bytes, carryOut });
      return true;
    }
    this.#isBusy = true;
    this.#carryOut(carryOut);
    return true;
  }

  #hasRoom(bytes: number): boolean {
    const own = this.#waitingBytes + bytes;
    if (own <= limits.framesWaitingBytesMax) return true;
    return own <= limits.framesBurstBytesMax && this.#all.bytes + bytes <= limits.waitingBytesMax;
  }

  /** Carries out a frame, and those behind it until one takes time. It is a loop, because thousands may wait. */
  #carryOut(first: WaitingFrame["carryOut"]): void {
    let carryOut: WaitingFrame["carryOut"] | undefined = first;
    while (carryOut !== undefined) {
      const turn = { isOver: false, takesTime: false };
      carryOut(() => {
        turn.isOver = true;
        if (!turn.takesTime) return;
        const next = this.#next();
        if (next !== undefined) this.#carryOut(next);
      });
      turn.takesTime = !turn.isOver;
      if (turn.takesTime) return;
      carryOut = this.#next();
    }
  }

  #next(): WaitingFrame["carryOut"] | undefined {
    const frame = this.#waiting.shift();
    if (frame === undefined) this.#isBusy = false;
    else this.#wait(-frame.bytes);
    return frame?.carryOut;
  }

  #wait(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#all.bytes += bytes;
  }
}

interface WaitingFrame {
  readonly bytes: number;
  readonly carryOut: (over: () => void) => void;
}

/** The bytes of all frames of an object that wait. */
export interface WaitingFrames {
  bytes: number;
}
