import { Centrifuge, type Options, type Subscription, type SubscriptionOptions } from "centrifuge";
import { Arrivals } from "./arrivals.ts";
import type { Network } from "./network.ts";
import { checkCount, checkNumber, numberRules } from "./numbers.ts";
import { DormouseTestError } from "./test-error.ts";

/** A channel to which a client subscribes, and how; the options of the official client are allowed, too. */
export interface TestSubscription extends Partial<SubscriptionOptions> {
  readonly channel: string;
}

/** The parts of a {@link TestClient}. */
export interface TestClientSetup {
  /** The user, as failures name the client. */
  readonly user: string;
  readonly network: Network;
  /** The path of the WebSocket endpoint. */
  readonly path: string;
  readonly options: Partial<Options>;
  /** For how long a wait goes on, unless it says so itself. */
  readonly withinMs: number;
}

/** The official client, with what it received, on a network of its own. */
export class TestClient {
  readonly user: string;
  /** The official client itself. */
  readonly sdk: Centrifuge;
  readonly network: Network;
  readonly #withinMs: number;
  readonly #received = new Map<string, Arrivals<unknown>>();
  readonly #states = new Arrivals<"connected">();
  #ended: string | undefined;

  constructor({ user, network, path, options, withinMs }: TestClientSetup) {
    this.user = user;
    this.network = network;
    this.#withinMs = withinMs;
    // A tenth of the client's own delays at most: tests aren't about them.
    const delays = { minReconnectDelay: 20, maxReconnectDelay: 500 };
    const address = `${network.address.replace("http", "ws")}${path}`;
    this.sdk = new Centrifuge(address, { ...delays, ...options });
    this.sdk.on("connected", () => this.#states.push("connected"));
    this.sdk.on("disconnected", ({ code, reason }) =>
      this.#end(`was disconnected: ${code} ${reason}`),
    );
    this.sdk.on("publication", ({ channel, data }) => this.#of(channel).push(data));
    this.sdk.on("subscribed", ({ channel }) => void this.#of(channel));
  }

  /**
   * Connects, and resolves when the client is connected.
   *
   * @throws {DormouseTestError} when the server refuses it
   */
  async connect(): Promise<void> {
    this.sdk.connect();
    await this.#states.atLeast(1, this.#withinMs, `connections of ${this.user}`, () => this.#ended);
  }

  /**
   * Subscribes, and resolves when that is done.
   *
   * @throws {DormouseTestError} when the server refuses it
   */
  async subscribe(wanted: string | TestSubscription): Promise<Subscription> {
    const { channel, ...options } = typeof wanted === "string" ? { channel: wanted } : wanted;
    const subscription = this.sdk.newSubscription(channel, options);
    const received = this.#of(channel);
    subscription.on("publication", ({ data }) => received.push(data));
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const fail = (why: string) =>
      reject(new DormouseTestError(`${this.user} can't subscribe to "${channel}": ${why}`));
    const timer = setTimeout(() => fail(`no answer in ${this.#withinMs} ms`), this.#withinMs);
    subscription.once("subscribed", () => resolve(undefined));
    subscription.once("unsubscribed", ({ code, reason }) => fail(`${code} ${reason}`));
    subscription.subscribe();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
    return subscription;
  }

  /**
   * Waits until so many publications of a channel have come, and gives the data of all that came, in their order: more than
   * asked for, where more have come, so that one that comes twice isn't overlooked.
   *
   * @throws {DormouseTestError} if the client has no such channel, or if they don't come in time
   */
  async received(
    channel: string,
    count = 0,
    withinMs = this.#withinMs,
  ): Promise<readonly unknown[]> {
    const arrivals = this.#received.get(channel);
    if (arrivals === undefined)
      throw new DormouseTestError(
        `${this.user} isn't subscribed to "${channel}"; its channels: ${[...this.#received.keys()].join(", ") || "none"}`,
      );
    checkCount("received", count);
    checkNumber("received: withinMs", withinMs, numberRules.withinMs);
    const what = `publications of "${channel}" for ${this.user}`;
    return arrivals.atLeast(count, withinMs, what, () => this.#ended);
  }

  /** Disconnects for good. */
  async close(): Promise<void> {
    this.sdk.disconnect();
    await this.network.close();
  }

  #of(channel: string): Arrivals<unknown> {
    const arrivals = this.#received.get(channel) ?? new Arrivals();
    this.#received.set(channel, arrivals);
    return arrivals;
  }

  #end(why: string): void {
    this.#ended = `${this.user} ${why}`;
    for (const waited of [this.#states, ...this.#received.values()]) waited.wake();
  }
}
