import { describe, expect, it } from "vitest";
import type { UserOrder } from "../../../src/contract/user-order.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { Timeline } from "./timeline.ts";
import { type GivenOrder, type UserConnection, UserRules } from "./user-rules.ts";

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

const position = { epoch: "e", offset: 3 };
const unsubscribe: UserOrder = { method: "unsubscribe", channel: "news" };
const block: UserOrder = { method: "block_user", expireAtSeconds: 0 };
const unblock: UserOrder = { method: "unblock_user" };

function disconnect(code: number): UserOrder & { readonly method: "disconnect" } {
  return { method: "disconnect", code: { code, reason: "" } };
}

function subscribe(offset?: number): UserOrder {
  const since = offset === undefined ? {} : { recoverSince: { ...position, offset } };
  return {
    method: "subscribe",
    subscription: { channel: "news", override: {} },
    expireAtSeconds: 0,
    ...since,
  };
}

/** Rules, and a user with one connection, whose clock goes on by one ms with each event. */
class Scene {
  readonly complaints: string[] = [];
  readonly #timeline = new Timeline(1_000_000);
  readonly rules = new UserRules(this.#timeline, (what) => this.complaints.push(what));
  #opened = 0;

  open() {
    this.pass();
    const socket: Mutable<UserConnection["socket"]> = {
      client: `client-${++this.#opened}`,
      begunAtMs: undefined,
      isOpen: true,
      onBegun: undefined,
      afterSent: (work) => work(),
    };
    const isSubscribed = { current: false };
    const watched = this.rules.open({
      user: "ada",
      who: "c1",
      place: "g/1",
      socket,
      isSubscribed: () => isSubscribed.current,
    });
    return {
      watched,
      isSubscribed,
      begin: () => {
        this.pass();
        socket.begunAtMs = this.#timeline.nowMs;
        socket.onBegun?.();
      },
      close: (code: number) => {
        this.pass();
        socket.isOpen = false;
        watched.closed(code);
      },
    };
  }

  connect() {
    const connection = this.open();
    connection.begin();
    return connection;
  }

  take(order: UserOrder): GivenOrder {
    this.pass();
    const given = this.rules.give("ada", order);
    this.rules.take(given);
    this.pass();
    return given;
  }

  acknowledge(given: GivenOrder): void {
    this.pass();
    this.rules.acknowledge(given);
    this.pass();
  }

  order(order: UserOrder): void {
    this.acknowledge(this.take(order));
  }

  pass(): void {
    this.#timeline.pass(1);
  }
}

describe("the rules of a world for orders", () => {
  it("[U1] complain of a connection that an acknowledged order left open", () => {
    const scene = new Scene();
    const connection = scene.connect();
    const given = scene.take(disconnect(4_000));
    expect(scene.complaints).toEqual([]);
    scene.acknowledge(given);
    expect(scene.complaints).toEqual([
      "c1 is still connected after disconnect, when it was acknowledged",
    ]);
    connection.close(4_000);
    expect(scene.complaints).toHaveLength(1);
  });

  it("[U1] don't complain of connections that began after the order, or that it doesn't name", () => {
    const scene = new Scene();
    const beginning = scene.open();
    const { watched: _, ...spared } = scene.connect();
    const given = scene.take({ ...disconnect(4_000), whitelist: ["client-2"] });
    beginning.begin();
    scene.acknowledge(given);
    spared.close(1_006);
    expect(scene.complaints).toEqual([]);
  });

  it("[U38] complain of an order that closes a connection which came after it was carried out", () => {
    const scene = new Scene();
    scene.connect().close(4_000);
    expect(scene.complaints).toEqual(["c1 was closed with 4000, which no order says"]);
    const order = disconnect(4_001);
    const given = scene.take(order);
    scene.connect().close(4_001);
    scene.rules.carriedOut("g/1", "ada", [{ number: 1, order }]);
    scene.connect().close(4_001);
    scene.acknowledge(given);
    scene.connect().close(4_001);
    expect(scene.complaints).toHaveLength(3);
  });

  it("[U2] complain of an unsubscribe that wasn't told, was told twice, or that nobody gave", () => {
    const scene = new Scene();
    const { watched } = scene.connect();
    scene.order(unsubscribe);
    expect(scene.complaints).toEqual([
      "c1 wasn't unsubscribed from news, when it was acknowledged",
    ]);
    watched.unsubscribed("news");
    expect(scene.complaints).toHaveLength(1);
    watched.unsubscribed("news");
    expect(scene.complaints[1]).toBe("c1 was unsubscribed from news, which no order says");
  });

  it("[U3] complain of orders that are carried out in another order", () => {
    const scene = new Scene();
    const { watched } = scene.connect();
    scene.take(unsubscribe);
    scene.take(subscribe());
    watched.subscribed("news", position);
    expect(scene.complaints).toEqual([]);
    watched.unsubscribed("news");
    expect(scene.complaints).toEqual(["c1 was unsubscribed from news, which no order says"]);
  });

  it("[U7] complain of a client that an acknowledged order didn't subscribe", () => {
    const scene = new Scene();
    const { isSubscribed } = scene.connect();
    scene.order(subscribe());
    expect(scene.complaints).toEqual(["c1 wasn't subscribed to news, when it was acknowledged"]);
    isSubscribed.current = true;
    scene.order(subscribe());
    expect(scene.complaints).toHaveLength(1);
  });

  it("[U35] find the position from which an order subscribes, among those that may be meant", () => {
    const scene = new Scene();
    const { watched } = scene.connect();
    scene.take(subscribe(1));
    expect(watched.subscribed("news", position)?.offset).toBe(1);
    scene.take(subscribe(2));
    scene.take(subscribe(3));
    expect(watched.subscribed("news", position)?.offset).toBe(3);
    expect(scene.complaints).toEqual([]);
  });

  it("[U35] assume no recovery where the order that is meant may ask for none", () => {
    const scene = new Scene();
    const { watched } = scene.connect();
    scene.take(subscribe(2));
    scene.take(subscribe());
    expect(watched.subscribed("news", position)).toBeUndefined();
    expect(scene.complaints).toEqual([]);
  });

  it("[U9] complain of a blocked user who gets in, until the block ends", () => {
    const scene = new Scene();
    scene.order(block);
    const turnedAway = scene.open();
    turnedAway.close(disconnectCodes.permissionDenied.code);
    expect(scene.complaints).toEqual([]);
    scene.connect();
    expect(scene.complaints).toEqual(["c1 was let in although it is blocked"]);
    scene.order(unblock);
    scene.connect().close(disconnectCodes.permissionDenied.code);
    expect(scene.complaints[1]).toBe("c1 was closed with 3507, which no order says");
  });

  it("[U3] complain at rest of an order that was taken and never carried out", () => {
    const scene = new Scene();
    scene.connect();
    scene.take(disconnect(4_000));
    scene.rules.checkAll();
    expect(scene.complaints).toEqual(["c1 is still connected after disconnect, at rest"]);
  });
});
