import type { Subscription } from "../session/subscription.ts";

/**
 * What a gateway's subscriptions take in memory, those under way included, with the texts that clients and their tokens
 * choose (rule G7). What others are shown of a connection all its subscriptions share, so it counts once.
 */
export class SubscriptionMemory {
  #count = 0;
  readonly #connections = new Map<string, HeldConnection>();
  #textBytes = 0;

  /** Roughly. */
  get bytes(): number {
    return (
      this.#textBytes + this.#count * subscriptionBytes + this.#connections.size * connectionBytes
    );
  }

  /** Counts a subscription, unless it is counted already. */
  add(subscription: Subscription): void {
    if (subscription.heldBytes !== undefined) return;
    const { channel, info, filter } = subscription;
    // Its session has names and infos again, as they are written down.
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

  /** Counts it no more. */
  remove(subscription: Subscription): void {
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

/** Two bytes a character, as for text that isn't Latin-1. */
export function textBytes(characters: number): number {
  return characters * 2;
}

/** A filter's text is there three times: itself, the tree that it was read from, and what is asked for each publication. */
const filterTextFactor = 8;

/** Measured on Node 26: 290 to 430 bytes for a subscription, with its place among its session's and its channel's. */
const subscriptionBytes = 448;
/** The entry above. */
const connectionBytes = 128;
