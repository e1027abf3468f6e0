import type { Centrifuge, MapSubscription, SubscriptionTokenContext } from "centrifuge";

/** How a page subscribes to a chat's channel. */
export interface ChatSubscriptionOptions {
  /** Gets a subscription token, as the SDK's `getToken` does. */
  readonly getToken?: (context: SubscriptionTokenContext) => Promise<string>;
}

/** A chat's channel in a page: what is on it, as it changes, over lost connections. */
export class ChatChannel {
  readonly values = new Map<string, unknown>();
  readonly #client: Centrifuge;
  readonly #subscription: MapSubscription;
  readonly #listeners = new Set<() => void>();
  readonly #ended: () => void;
  #isSynced = false;
  #problem: Error | undefined;
  #changedMs = 0;
  /** Ends it when nobody has listened for a while. */
  #rest: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  /** @param ended is called once, when it ends: nobody has listened for a while, or the transport is closed */
  constructor(
    client: Centrifuge,
    channel: string,
    { getToken }: ChatSubscriptionOptions,
    ended: () => void,
  ) {
    this.#client = client;
    this.#ended = ended;
    const options = { delta: "fossil", ...(getToken !== undefined && { getToken }) } as const;
    this.#subscription = client.newMapSubscription(channel, options);
    this.#subscription.on("sync", ({ entries }) => {
      this.values.clear();
      for (const { key, data } of entries) this.values.set(key, data);
      this.#isSynced = true;
      this.#changed();
    });
    this.#subscription.on("update", ({ key, data, removed }) => {
      if (removed === true) this.values.delete(key);
      else this.values.set(key, data);
      this.#changed();
    });
    this.#subscription.on("unsubscribed", ({ code, reason }) => {
      this.#problem = new Error(`the channel ${channel} can't be read: ${reason} (${code})`);
      this.#changed();
    });
    this.#subscription.subscribe();
    client.connect();
  }

  /** Whether all values are known. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Why it can't be read: the server has refused or ended the subscription. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** For how long nothing has changed while it could be heard, in ms. */
  get quietMs(): number {
    const state: string = this.#subscription.state;
    if (state !== "subscribed") this.#changedMs = Date.now();
    return Date.now() - this.#changedMs;
  }

  /** Calls a function after each change. @returns what ends that */
  listen(changed: () => void): () => void {
    clearTimeout(this.#rest);
    this.#listeners.add(changed);
    return () => {
      this.#listeners.delete(changed);
      if (this.#listeners.size > 0 || this.#hasEnded) return;
      clearTimeout(this.#rest);
      this.#rest = setTimeout(() => this.end(), restMs);
    };
  }

  /** Resolves when all values are known. Rejects if they can't be. */
  async synced(): Promise<void> {
    if (this.#problem !== undefined) throw this.#problem;
    if (this.#isSynced) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const end = this.listen(() => {
      if (this.#problem !== undefined) reject(this.#problem);
      else if (this.#isSynced) resolve(undefined);
    });
    await promise.finally(end);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#rest);
    this.#subscription.removeAllListeners();
    this.#client.removeMapSubscription(this.#subscription);
    this.#problem ??= new Error("the transport is closed");
    for (const changed of this.#listeners) changed();
    this.#ended();
  }

  #changed(): void {
    this.#changedMs = Date.now();
    for (const changed of this.#listeners) changed();
  }
}

/** A subscription that nobody uses stays for so long: another component of the page may be about to use it. */
const restMs = 5_000;
