import type { Subscription } from "../session/subscription.ts";

/**
 * What a gateway's subscriptions take in memory, those under way included, with the texts that clients and their tokens
 * choose (rule G7). What others are shown of a connection all its subscriptions share, so it counts once.
 */
export class HeldSubscriptions {
  /** What each of them counts for: its texts may be others when it goes. */
  readonly #held = new Map<Subscription, number>();
  readonly #connections = new Map<string, Connection>();
  #textBytes = 0;

  /** Roughly. */
  get bytes(): number {
    return (
      this.#textBytes +
      this.#held.size * subscriptionBytes +
      this.#connections.size * connectionBytes
    );
  }

  /** Counts a subscription, unless it is counted already. */
  add(subscription: Subscription): void {
    if (this.#held.has(subscription)) return;
    const { channel, info } = subscription;
    // Its session has names and infos again, as they are written down.
    const bytes = textBytes(channel.length + (info.chanInfo?.length ?? 0));
    this.#held.set(subscription, bytes);
    this.#textBytes += bytes;
    const connection = this.#connections.get(info.client);
    if (connection !== undefined) {
      connection.subscriptions++;
      return;
    }
    const ownBytes = textBytes(info.user.length + (info.connInfo?.length ?? 0));
    this.#connections.set(info.client, { bytes: ownBytes, subscriptions: 1 });
    this.#textBytes += ownBytes;
  }

  /** Counts it no more. */
  remove(subscription: Subscription): void {
    const bytes = this.#held.get(subscription);
    if (bytes === undefined) return;
    this.#held.delete(subscription);
    this.#textBytes -= bytes;
    const { client } = subscription.info;
    const connection = this.#connections.get(client);
    if (connection === undefined || --connection.subscriptions > 0) return;
    this.#connections.delete(client);
    this.#textBytes -= connection.bytes;
  }
}

interface Connection {
  readonly bytes: number;
  subscriptions: number;
}

/** Two bytes a character, as for text that isn't Latin-1. */
export function textBytes(characters: number): number {
  return characters * 2;
}

/** Measured on Node 26: 420 to 620 bytes for a subscription, with its maps and sets, and 60 to be counted. */
const subscriptionBytes = 704;
/** The entry above. */
const connectionBytes = 128;
