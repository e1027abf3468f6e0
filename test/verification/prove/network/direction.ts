import { performance } from "node:perf_hooks";
import { DelayLine, type Parcel } from "./delay-line.ts";
import type { NetworkDelay } from "./network-delay.ts";
import type { SocketEnd } from "./socket-end.ts";

/** The parts of a direction. */
export interface DirectionSetup {
  readonly from: SocketEnd;
  readonly to: SocketEnd;
  readonly delay: NetworkDelay;
  /** Called for arrived bytes before they are carried; if it returns true they are dropped. */
  readonly takes: () => boolean;
}

/** A reason for not reading from the sender. */
type Hold = "receiver is slow" | "too much is late" | "stalled";

/** One of the two directions of a connection: carries the bytes of one end, and how that end closed, to the other. */
export class Direction {
  readonly #setup: DirectionSetup;
  readonly #line: DelayLine;
  readonly #holds = new Set<Hold>();
  #silent = false;
  #stall: NodeJS.Timeout | undefined;
  #stalledUntil = 0;

  constructor(setup: DirectionSetup) {
    this.#setup = setup;
    this.#line = new DelayLine((parcel) => this.#deliverLate(parcel));
    const from = setup.from.socket;
    const to = setup.to.socket;
    from.on("data", (bytes: Buffer) => this.#carry(bytes));
    from.once("end", () => this.#carryEnd("fin"));
    from.once("close", () => {
      // An end that announced its end and then vanished has announced the first only.
      if (!from.readableEnded || from.errored !== null) this.#carryEnd("reset");
    });
    to.on("drain", () => this.#free("receiver is slow"));
    to.once("close", () => this.#free("receiver is slow"));
  }

  get silent(): boolean {
    return this.#silent;
  }

  /** From now on everything is read and nothing is carried; bytes in transit are lost. */
  silence(): void {
    this.#silent = true;
    this.#line.clear();
    clearTimeout(this.#stall);
    this.#holds.clear();
    this.#setup.from.socket.resume();
  }

  /** Doesn't read from the sender for so long; if a stall is in progress, until the later of both ends. */
  stall(ms: number): void {
    const until = performance.now() + ms;
    if (until <= this.#stalledUntil) return;
    this.#stalledUntil = until;
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => this.#free("stalled"), ms);
    this.#hold("stalled");
  }

  #carry(bytes: Buffer): void {
    if (this.#silent || this.#setup.takes()) return;
    if (this.#setup.delay.on || !this.#line.empty) {
      this.#line.push(bytes, this.#setup.delay.next());
      if (this.#line.bytes >= mostLateBytes) this.#hold("too much is late");
    } else if (!this.#setup.to.socket.write(bytes)) {
      this.#hold("receiver is slow");
    }
  }

  #carryEnd(end: "fin" | "reset"): void {
    if (this.#silent) return;
    if (this.#setup.delay.on || !this.#line.empty) this.#line.push(end, this.#setup.delay.next());
    else this.#deliver(end);
  }

  #deliverLate(parcel: Parcel): void {
    this.#deliver(parcel);
    if (this.#line.bytes < mostLateBytes) this.#free("too much is late");
  }

  #deliver(parcel: Parcel): void {
    const { to } = this.#setup;
    if (parcel === "fin") to.finish();
    else if (parcel === "reset") to.reset();
    else if (!to.socket.write(parcel)) this.#hold("receiver is slow");
  }

  #hold(reason: Hold): void {
    // A receiver that is gone never emits `drain`.
    if (reason === "receiver is slow" && this.#setup.to.socket.destroyed) return;
    this.#holds.add(reason);
    this.#setup.from.socket.pause();
  }

  #free(reason: Hold): void {
    if (this.#holds.delete(reason) && this.#holds.size === 0) this.#setup.from.socket.resume();
  }
}

/** More than that isn't read from a sender while it waits for a late delivery. */
const mostLateBytes = 4 * 1024 * 1024;
