import { describe, expect, it } from "vitest";
import type { WorldClient } from "./client.ts";
import { complaintsOf } from "./complaints.ts";
import type { CallName, CallOutcome } from "./network.ts";
import { World } from "./world.ts";

const quick: CallOutcome = { requestMs: 5, answerMs: 5 };

/** Two gateways; the test sets the outcome of the calls to and from the first. */
class FurtherClients {
  readonly world: World;
  /** The outcome of deliveries to the first gateway, and of its requests. */
  told: CallOutcome = quick;
  asked: CallOutcome = quick;
  asks = 0;
  readonly #channel: string;
  readonly #places = new Map<string, "g/1" | "g/2">();

  constructor(channel: string) {
    this.#channel = channel;
    this.world = new World({
      channels: [channel],
      gateways: 2,
      chooseOutcome: (call) => this.#outcome(call),
    });
  }

  subscriber(name: string, place: "g/1" | "g/2"): WorldClient {
    this.#places.set(name, place);
    const choosePlace = () => this.world.gateway(this.#places.get(name) ?? place);
    const client = this.world.client({ name, choosePlace });
    client.connect();
    client.subscribe(this.#channel);
    return client;
  }

  /** The client loses its connection and reconnects to the first gateway. */
  move(client: WorldClient): void {
    this.#places.set(client.name, "g/1");
    client.breakLine();
  }

  publish(count: number): void {
    for (let left = count; left > 0; left--) this.world.backend.publish(this.#channel, false);
    this.world.pass(100);
  }

  #outcome({ kind, from, to }: CallName): CallOutcome {
    if (kind === "deliver" && to === "g/1") return this.told;
    if (kind !== "ask" || from !== "g/1") return quick;
    this.asks++;
    return this.asked;
  }
}

describe.each(["keep:a", "last:a"])("a client of %s that is ahead of its gateway", (name) => {
  it("[O3] isn't answered with a reply that was requested before the client's position was reached", () => {
    const test = new FurtherClients(name);
    const { world } = test;
    test.subscriber("a", "g/1");
    const [first, second] = [test.subscriber("b", "g/2"), test.subscriber("c", "g/2")];
    world.pass(500);
    test.publish(1);
    test.told = { requestMs: 6_000, answerMs: 5 };
    test.publish(2);
    test.asked = { requestMs: 5, answerMs: 3_000 };
    test.move(first);
    world.pass(300);
    test.publish(2);
    test.move(second);
    world.pass(20_000);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe("a client that recovers the newest publication", () => {
  it("[R2] gets it although another instance of the channel appears during the read", () => {
    const test = new FurtherClients("last:a");
    const { world } = test;
    test.subscriber("a", "g/1");
    const away = test.subscriber("b", "g/2");
    world.pass(500);
    test.publish(1);
    away.disconnect();
    test.publish(2);
    world.pass(20_000);
    test.asked = { requestMs: 5, answerMs: 4_000 };
    test.move(away);
    away.connect();
    world.pass(300);
    test.publish(1);
    world.channel("last:a").crash();
    world.pass(500);
    test.publish(1);
    world.pass(20_000);
    expect(complaintsOf(world)).toEqual([]);
    expect(away.subscription("last:a").failedRecoveries).toBe(0);
  });
});

describe("a gateway that no delivery reaches", () => {
  it("[L3] begins anew for a client that is ahead, when the missed publications are gone", () => {
    const test = new FurtherClients("few:b");
    const { world } = test;
    const behind = test.subscriber("a", "g/1");
    const further = test.subscriber("c", "g/2");
    world.pass(500);
    test.told = { errorMs: 5 };
    test.publish(6);
    test.move(further);
    test.asks = 0;
    world.pass(10_000);
    expect(further.subscription("few:b").state).toBe("on");
    expect(behind.subscription("few:b").losses).toBe(1);
    expect(test.asks).toBeLessThan(10);
  });
});
