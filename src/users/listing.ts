import { limits } from "../limits.ts";
import { dueMoment } from "../moment.ts";

/**
 * Has the directory list one object that holds connections (rule U22). That it is listed is stored with the object's
 * sessions: they last as long as a connection does, and without one the object may be forgotten.
 */
export class Listing {
  readonly #port: ListingPort;
  /** Undefined until it is needed in a fresh instance. */
  #listed: boolean | undefined;
  /** The call under way. */
  #call: object | undefined;
  #retryAtMs = 0;

  constructor(port: ListingPort) {
    this.#port = port;
  }

  /** Whether the directory lists the object for as long as it has a connection that is open now. */
  get listed(): boolean {
    return (this.#listed ??= this.#port.wasListed());
  }

  /** Calls the directory if it has to list the object. To be called at the end of every event. */
  check(nowMs: number): void {
    if (
      this.#call !== undefined ||
      this.listed ||
      dueMoment(this.#retryAtMs, limits.listRetryMs, nowMs) > nowMs
    )
      return;
    if (!this.#port.hasConnections()) return;
    const call = {};
    this.#call = call;
    this.#port.list((isListed) => {
      // Without connections the object may have been forgotten since, whether the call came before that or after it.
      if (this.#call !== call) return;
      this.#call = undefined;
      this.#listed = isListed;
      if (!isListed) this.#retryAtMs = nowMs + limits.listRetryMs;
    });
  }

  /** The object has reported to the directory that it has no open connection, and is about to be forgotten. */
  forgotten(): void {
    this.#listed = false;
    this.#call = undefined;
  }
}

interface ListingPort {
  /** Whether an open connection's session says that the object is listed. */
  wasListed(): boolean;
  /** Whether a client has connected. */
  hasConnections(): boolean;
  /**
   * Calls the directory.
   *
   * @param done takes whether it has listed the object, which is then to be stored with the sessions
   */
  list(done: (isListed: boolean) => void): void;
}
