import type { Subscription } from "../session/subscription.ts";

/**
 * The memory that a gateway's subscriptions take, pending ones included, with the texts that clients and their tokens
 * choose (rule G7). All subscriptions of a connection share the user's ID and the connection's info, so these count
 * once.
 */
export class SubscriptionMemory {
  #count = 0;
  readonly #connections = new Map<string, HeldConnection>();
  #textBytes = 0;

  /** The bytes of all of them, roughly. */
  get bytes(): number {
    return (
      this.#textBytes + this.#count * subscriptionBytes + this.#connections.size * connectionBytes
    );
  }

  /** Counts a subscription, unless it is counted already. */
  reserve(subscription: Subscription): void {
    if (subscription.heldBytes !== undefined) return;
    const { channel, info, filter } = subscription;
    // The session holds the channel's name and the info a second time, as it stores them.
    const filterBytes = (filter?.text.length ?? 0) * filterTextFactor;
    const bytes = textBytes(channel.length + (info.chanInfo?.length ?? 0)) + filterBytes;
    subscription.heldBytes = bytes;
    this.#count++;
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

  /** Ceases to count a subscription. */
  release(subscription: Subscription): void {
    const { heldBytes } = subscription;
    if (heldBytes === undefined) return;
    subscription.heldBytes = undefined;
    this.#count--;
    this.#textBytes -= heldBytes;
    const { client } = subscription.info;
    const connection = this.#connections.get(client);
    if (connection === undefined || --connection.subscriptions > 0) return;
    this.#connections.delete(client);
    this.#textBytes -= connection.bytes;
  }
}

interface HeldConnection {
  readonly bytes: number;
  subscriptions: number;
}

/** The bytes of a text: two for each character, as in text that isn't Latin-1. */
export function textBytes(characters: number): number {
  return characters * 2;
}

/**
 * A filter takes memory three times: its text, the tree that was read from it, and the conditions that are evaluated
 * for each publication.
 */
const filterTextFactor = 8;

/** Measured on Node 26: 290 to 430 bytes for a subscription, with its entries in its session and its channel. */
const subscriptionBytes = 448;
/** The entry of a connection in the map above. */
const connectionBytes = 128;
