import { limits } from "../limits.ts";
import { elapsed } from "../moment.ts";

/**
 * Lets arrivals into an object (rule F12). Arrivals are sockets that the edge hands over, and frames of connections
 * that haven't finished connecting and subscribing. While a frame is on its way to subscribers, slices of it and
 * arrivals take turns, each for a bounded time. Otherwise a thousand clients that come at once would delay publications
 * to the existing subscribers. While no frame is on its way, arrivals have all of the time. No arrival waits for longer
 * than `limits.arrivalWaitMs` (rule F13).
 *
 * ```text
 * slices ── deliveriesTurnMs ──► arrivals ── arrivalsTurnMs ──► slices ──► …      the frame is sent ──► all arrivals
 * ```
 */
export class Arrivals {
  readonly #port: ArrivalsPort;
  /**
   * Arrivals that have begun come before those that haven't: a client that is let in already costs less if it finishes
   * soon.
   */
  readonly #frames: WaitingArrival[] = [];
  readonly #sockets: WaitingArrival[] = [];
  #bytes = 0;
  #isTheirTurn = false;
  /** When the turn began, of slices or of arrivals, ms since 1970. */
  #turnSinceMs = 0;
  /** Whether those that wait are being let in, because nothing is sent. */
  #isOpening = false;

  constructor(port: ArrivalsPort) {
    this.#port = port;
  }

  /** Lets an arrival in, at once or when it has its turn. */
  arrive(arrival: Arrival): void {
    if (!this.#port.isSending() && !this.#areWaiting) {
      arrival.enter();
      return;
    }
    if (this.#bytes + arrival.bytes > limits.arrivalsWaitingBytesMax) {
      arrival.refuse();
      return;
    }
    this.#bytes += arrival.bytes;
    const waiting = arrival.isInside ? this.#frames : this.#sockets;
    waiting.push({ ...arrival, sinceMs: this.#port.nowMs() });
  }

  /**
   * To be called before each slice. Lets some arrivals in if it is their turn.
   *
   * @returns whether the slice has to wait for another turn of the event loop
   */
  goBefore(): boolean {
    const nowMs = this.#port.nowMs();
    this.#refuseLate(nowMs);
    if (!this.#areWaiting) {
      this.#isTheirTurn = false;
      this.#turnSinceMs = nowMs;
      return false;
    }
    const turnMs = this.#isTheirTurn ? limits.arrivalsTurnMs : limits.deliveriesTurnMs;
    if (elapsed(this.#turnSinceMs, turnMs, nowMs)) {
      this.#isTheirTurn = !this.#isTheirTurn;
      this.#turnSinceMs = nowMs;
    }
    if (!this.#isTheirTurn) return false;
    for (let count = 0; count < limits.arrivalsPerTurn; count++) this.#next()?.enter();
    return true;
  }

  /** To be called when nothing is sent: those that wait come in, some in each turn of the event loop. */
  open(): void {
    if (!this.#areWaiting || this.#isOpening) return;
    this.#isOpening = true;
    this.#port.later(0, () => {
      this.#isOpening = false;
      this.#refuseLate(this.#port.nowMs());
      for (let count = 0; count < limits.arrivalsSlice && !this.#port.isSending(); count++)
        this.#next()?.enter();
    });
  }

  get #areWaiting(): boolean {
    return this.#frames.length + this.#sockets.length > 0;
  }

  #next(): Arrival | undefined {
    const next = this.#frames.shift() ?? this.#sockets.shift();
    this.#bytes -= next?.bytes ?? 0;
    return next;
  }

  #refuseLate(nowMs: number): void {
    for (const waiting of [this.#frames, this.#sockets]) {
      for (
        let first = waiting[0];
        first !== undefined && elapsed(first.sinceMs, limits.arrivalWaitMs, nowMs);
        first = waiting[0]
      ) {
        waiting.shift();
        this.#bytes -= first.bytes;
        first.refuse();
      }
    }
  }
}

/** A socket, or a frame, that arrives. Either `enter` or `refuse` is called, once. */
export interface Arrival {
  /** The memory that the arrival takes while it waits. */
  readonly bytes: number;
  /** Whether it is a frame of a socket that is inside already. */
  readonly isInside: boolean;
  enter(): void;
  /** It has waited for too long, or too much waits. */
  refuse(): void;
}

/** The object at which they arrive. */
interface ArrivalsPort {
  nowMs(): number;
  /** Whether a frame is on its way. */
  isSending(): boolean;
  /** Does work after so many ms, in an event of its own. */
  later(waitMs: number, work: () => void): void;
}

type WaitingArrival = Arrival & { readonly sinceMs: number };
