import { limits } from "../limits.ts";
import type { Follower } from "./follower.ts";

/** What a gateway holds for clients that recover together, of all its channels: bounded, and let go of in time. */
export class Windows {
  /** The oldest first. */
  readonly #bytes = new Map<Follower, number>();
  #totalBytes = 0;
  #lookAtMs = 0;

  /** Something happened to a follower: its window may hold more now, or less. */
  note(follower: Follower): void {
    this.#count(follower);
    for (const oldest of this.#bytes.keys()) {
      if (this.#totalBytes <= limits.windowsBytesMax) return;
      oldest.dropWindow();
      this.#count(oldest);
    }
  }

  /** A follower is there no more. */
  forget(follower: Follower): void {
    this.#totalBytes -= this.#bytes.get(follower) ?? 0;
    this.#bytes.delete(follower);
  }

  /** Lets go of what is old, also where nothing happens any more. Looks at most once in the time that a window lives. */
  expire(nowMs: number): void {
    if (nowMs < this.#lookAtMs && nowMs >= this.#lookAtMs - limits.windowMs) return;
    this.#lookAtMs = nowMs + limits.windowMs;
    for (const follower of this.#bytes.keys()) {
      follower.expireWindow(nowMs);
      this.#count(follower);
    }
  }

  #count(follower: Follower): void {
    const bytes = follower.windowBytes;
    this.#totalBytes += bytes - (this.#bytes.get(follower) ?? 0);
    if (bytes === 0) this.#bytes.delete(follower);
    else this.#bytes.set(follower, bytes);
  }
}
