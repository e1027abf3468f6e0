import { env } from "cloudflare:workers";
import type { RelayBatch, RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import type { RelayReplies, RelayRequest } from "../../../src/contract/relay-request.ts";
import type { CarriedOut, NumberedOrder } from "../../../src/contract/user-order.ts";

/** One call of a channel's object to a gateway. */
export interface WatchedDelivery {
  readonly gateway: string;
  readonly batch: RelayBatch;
  /** Makes the call. */
  readonly proceed: () => Promise<RelayBatchReply>;
}

/** One call of a gateway to a channel's object. */
interface WatchedRequests {
  readonly channel: string;
  readonly requests: readonly RelayRequest[];
  /** Makes the call. */
  readonly proceed: () => Promise<RelayReplies>;
}

/** Stands between a channel and its gateways, and may let the platform fail instead of making a call. */
export type DeliveryFault = (delivery: WatchedDelivery) => Promise<RelayBatchReply>;

/** The same the other way round. */
type RequestFault = (requests: WatchedRequests) => Promise<RelayReplies>;

/** Stands between a user's home and the objects that hold connections of the user. */
type OrderFault = (proceed: () => Promise<CarriedOut>) => Promise<CarriedOut>;

/**
 * The calls between channel objects, gateways and users' homes in this file's Worker. The objects are the real ones; this class
 * replaces the methods of their stubs, so that a test knows when no call is in flight, and can make calls fail.
 */
class WatchedRelay {
  #underWay = 0;
  /** How deliveries go from now on; undefined: as they are. */
  deliveryFault: DeliveryFault | undefined;
  /** How questions go from now on; undefined: as they are. */
  requestFault: RequestFault | undefined;
  /** How orders of users' homes go from now on; undefined: as they are. */
  orderFault: OrderFault | undefined;
  /** Every delivery that was to be made, the newest last. */
  readonly deliveries: WatchedDelivery[] = [];
  /** Every question that was to be asked, the newest last. */
  readonly requests: RelayRequest[] = [];

  constructor() {
    const { CHANNELS, GATEWAYS, USERS } = env;
    const homeStub = USERS.getByName.bind(USERS);
    USERS.getByName = (home, options) =>
      this.#watched(homeStub(home, options), ["register", "admit", "list"]);
    const channelStub = CHANNELS.getByName.bind(CHANNELS);
    CHANNELS.getByName = (channel, options) => {
      const stub = this.#watched(channelStub(channel, options), ["present", "clientsOf"]);
      const ask = (
        gateway: string,
        requests: readonly RelayRequest[],
        carries?: boolean,
      ): Promise<RelayReplies> => {
        const proceed = (): Promise<RelayReplies> =>
          channelStub(channel, options).ask(gateway, requests, carries);
        return this.#track(this.#ask({ channel, requests, proceed }));
      };
      Object.defineProperty(stub, "ask", { value: ask });
      this.#watchOrders(stub, () => channelStub(channel, options));
      return stub;
    };
    const gatewayStub = GATEWAYS.getByName.bind(GATEWAYS);
    GATEWAYS.getByName = (gateway, options) => {
      const stub = this.#watched(gatewayStub(gateway, options), ["present", "clientsOf"]);
      const deliver = (batch: RelayBatch): Promise<RelayBatchReply> => {
        const proceed = (): Promise<RelayBatchReply> =>
          gatewayStub(gateway, options).deliver(batch);
        return this.#track(this.#deliver({ gateway, batch, proceed }));
      };
      Object.defineProperty(stub, "deliver", { value: deliver });
      this.#watchOrders(stub, () => gatewayStub(gateway, options));
      return stub;
    };
  }

  /** Resolves when no call is under way, and none follows from those that were. */
  async settled(): Promise<void> {
    // The calls belong to the objects, and waiting for another object's promise would block the test.
    for (let quietMs = 0; quietMs < 2; quietMs = this.#underWay === 0 ? quietMs + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #watchOrders(stub: object, holder: () => OrderHolder): void {
    const carryOut = (user: string, orders: readonly NumberedOrder[]): Promise<CarriedOut> => {
      const proceed = (): Promise<CarriedOut> => holder().carryOut(user, orders);
      return this.#track(this.orderFault === undefined ? proceed() : this.orderFault(proceed));
    };
    Object.defineProperty(stub, "carryOut", { value: carryOut });
  }

  async #deliver(delivery: WatchedDelivery): Promise<RelayBatchReply> {
    this.deliveries.push(delivery);
    return this.deliveryFault === undefined ? delivery.proceed() : this.deliveryFault(delivery);
  }

  async #ask(requests: WatchedRequests): Promise<RelayReplies> {
    this.requests.push(...requests.requests);
    return this.requestFault === undefined ? requests.proceed() : this.requestFault(requests);
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

interface OrderHolder {
  carryOut(user: string, orders: readonly NumberedOrder[]): Promise<CarriedOut>;
}

export const watchedRelay = new WatchedRelay();
