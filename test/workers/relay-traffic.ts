import { env } from "cloudflare:workers";
import type { Batch, BatchAnswer } from "../../src/relay/batch.ts";

/** One call of a channel's object to a gateway. */
export interface WatchedDelivery {
  readonly gateway: string;
  readonly batch: Batch;
  /** Makes the call. */
  readonly proceed: () => Promise<BatchAnswer>;
}

/** Stands between the channels and the gateways, and may let the platform fail instead of making a call. */
export type Fault = (delivery: WatchedDelivery) => Promise<BatchAnswer>;

/**
 * The calls between channels' objects and gateways in this file's Worker. The objects are the real ones; the test stands at
 * their stubs, so that it knows when nothing is under way any more, and can make calls fail.
 */
class RelayTraffic {
  #underWay = 0;
  #fault: Fault | undefined;
  /** Every delivery that was made, the newest last. */
  readonly deliveries: WatchedDelivery[] = [];

  constructor() {
    const { CHANNELS, GATEWAYS } = env;
    const channel = CHANNELS.getByName.bind(CHANNELS);
    CHANNELS.getByName = (...named) => this.#watched(channel(...named), ["ask", "present"]);
    const gateway = GATEWAYS.getByName.bind(GATEWAYS);
    GATEWAYS.getByName = (name, options) => {
      const stub = this.#watched(gateway(name, options), ["present"]);
      const make = (batch: Batch): Promise<BatchAnswer> => gateway(name, options).deliver(batch);
      const deliver = (batch: Batch): Promise<BatchAnswer> =>
        this.#track(this.#deliver({ gateway: name, batch, proceed: () => make(batch) }));
      Object.defineProperty(stub, "deliver", { value: deliver });
      return stub;
    };
  }

  /** From now on deliveries go this way; undefined: as they are. */
  set fault(fault: Fault | undefined) {
    this.#fault = fault;
  }

  /** Resolves when no call is under way, and none follows from those that were. */
  async quiet(): Promise<void> {
    // The calls belong to the objects, and whoever waits for what belongs to another object can do nothing afterwards.
    for (let quietMs = 0; quietMs < 2; quietMs = this.#underWay === 0 ? quietMs + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async #deliver(delivery: WatchedDelivery): Promise<BatchAnswer> {
    this.deliveries.push(delivery);
    return this.#fault === undefined ? delivery.proceed() : this.#fault(delivery);
  }

  async #track<Answer extends object>(call: Promise<Answer>): Promise<Answer> {
    this.#underWay++;
    try {
      return await call;
    } finally {
      this.#underWay--;
    }
  }

  #watched<Stub extends object>(stub: Stub, methods: readonly (keyof Stub & string)[]): Stub {
    for (const method of methods) {
      const original = stub[method];
      if (typeof original !== "function") continue;
      const value = (...request: readonly object[]): Promise<object> =>
        this.#track(Reflect.apply(original, stub, request));
      Object.defineProperty(stub, method, { value });
    }
    return stub;
  }
}

export const relayTraffic = new RelayTraffic();
