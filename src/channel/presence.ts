import type { Subscriber } from "../hub/subscriber.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import type { PresenceResult, PresenceStatsResult } from "../protocol/reply.ts";

/** The clients that are present on the gateways of a channel. */
export interface GatheredPresence {
  readonly clients: readonly ClientInfo[];
  /** Whether all gateways have answered. */
  readonly complete: boolean;
}

/**
 * The clients among these subscribers that presence lists. Presence is derived from the open connections each time it
 * is requested, and never stored (rule P1).
 */
export function presentClients(subscribers: readonly Subscriber[]): readonly ClientInfo[] {
  return subscribers.filter((subscriber) => subscriber.present).map(({ info }) => info);
}

/** The clients among these subscribers that a presence map shows, whether or not presence lists them (rule Z35). */
export function shownClients(subscribers: readonly Subscriber[]): readonly ClientInfo[] {
  return subscribers.filter(({ hidden }) => hidden !== true).map(({ info }) => info);
}

/**
 * Lists and counts the clients that are present, a slice at a time, as they were when the listing began (rules P3 and
 * P5). Each client is listed once, although a client that moves may be known in two places for a moment.
 */
export class PresenceListing {
  readonly #clients: readonly ClientInfo[];
  readonly #complete: boolean;
  /** The IDs of those that were listed; undefined where none can come twice. */
  readonly #listed: Set<string> | undefined;
  readonly #users = new Set<string>();
  readonly #parts: (readonly ClientInfo[])[] = [];
  #at = 0;
  #count = 0;

  /**
   * @param here   the clients on the object's own sockets
   * @param others the clients on gateways
   */
  constructor(here: readonly ClientInfo[], others: GatheredPresence) {
    // This object's own view is newer than the answers of gateways, so it comes first.
    this.#clients = [...here, ...others.clients];
    this.#complete = others.complete;
    if (others.clients.length > 0) this.#listed = new Set();
  }

  /** Whether all are listed. */
  get over(): boolean {
    return this.#at >= this.#clients.length;
  }

  /**
   * Lists further clients.
   *
   * @param most how many it looks at; fewer are listed if some were listed before
   * @returns those that were listed, which are a part of the result
   */
  next(most: number): readonly ClientInfo[] {
    const seen = this.#clients.slice(this.#at, this.#at + most);
    this.#at += most;
    const part = seen.filter(({ client }) => this.#isNew(client));
    for (const { user } of part) this.#users.add(user);
    this.#count += part.length;
    this.#parts.push(part);
    return part;
  }

  /** The list, as far as it goes. */
  get result(): PresenceResult {
    return { parts: this.#parts, ...this.#rest };
  }

  /** How many clients and users were listed. */
  get stats(): PresenceStatsResult {
    return { clientCount: this.#count, userCount: this.#users.size, ...this.#rest };
  }

  get #rest(): { readonly incomplete?: true } {
    return this.#complete ? {} : { incomplete: true };
  }

  #isNew(client: string): boolean {
    if (this.#listed === undefined) return true;
    if (this.#listed.has(client)) return false;
    this.#listed.add(client);
    return true;
  }
}
