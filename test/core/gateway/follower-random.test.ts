import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gateway } from "../../../src/gateway/gateway.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { RelayBatch, RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import type { SubscribeReply } from "../../../src/session/ports.ts";
import { configured } from "../../support/configured.ts";
import { textOf } from "../../support/text-of.ts";
import { ChannelWorld } from "./channel-world.ts";
import { Listener } from "./recording-subscription.ts";

/**
 * Everything at once, in any order: publications, removals, crashes of the channel's object, streams that are lost, calls
 * that are lost, late or repeated, clients that come, recover and go, and sleep. Each live subscriber hears each offset
 * after its position once and in order, or is told that it lost the stream; and in the end nobody is behind who wasn't told.
 */
describe("a gateway on a bad network", () => {
  it("[L1] passes on a stream without a gap, and nothing twice, or says that it can't", () => {
    fc.assert(
      fc.property(anyHistory, (happenings) => {
        const scene = new Scene(true);
        for (const happening of happenings) scene.happen(happening);
        scene.calmDown();
        for (const client of scene.clients) {
          expect(client.complaints).toEqual([]);
          expect(client.offset).toBe(client.live ? scene.world.top : client.offset);
        }
      }),
      { numRuns: 1_000, seed: 20_260_801 },
    );
  });

  it("[L1] passes on what isn't kept, and nothing twice, or says that something is missing", () => {
    fc.assert(
      fc.property(anyHistory, (happenings) => {
        const scene = new Scene(false);
        for (const happening of happenings) scene.happen(happening);
        scene.calmDown();
        for (const client of scene.clients) {
          expect(client.complaints).toEqual([]);
          expect(client.last).toEqual(client.live ? client.shouldHaveHeard : client.last);
        }
      }),
      { numRuns: 1_000, seed: 20_260_802 },
    );
  });
});

type Happening =
  | { readonly type: "publish" | "announce" | "remove" | "restart" | "lose-stream" | "sleep" }
  | { readonly type: "deliver"; readonly heard: boolean; readonly answerHeard: boolean }
  | { readonly type: "delay" | "carry-out" | "pass" }
  | { readonly type: "late"; readonly which: number }
  | { readonly type: "answer"; readonly fails: boolean }
  | { readonly type: "join"; readonly who: number; readonly how: How }
  | { readonly type: "leave"; readonly who: number };

type How = "new" | "again" | "from-the-beginning" | "from-beyond" | "newest";

const clientCount = 4;
const who = fc.nat(clientCount - 1);
const rarely = fc.nat(5).map((roll) => roll === 0);

const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ type: "publish" } as const) },
  { weight: 2, arbitrary: fc.constant({ type: "announce" } as const) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("deliver" as const),
      heard: rarely.map((rare) => !rare),
      answerHeard: rarely.map((rare) => !rare),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ type: "delay" } as const) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("late" as const), which: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.constant({ type: "carry-out" } as const) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("answer" as const), fails: rarely }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("join" as const),
      who,
      how: fc.constantFrom<How>(
        "new",
        "again",
        "again",
        "from-the-beginning",
        "from-beyond",
        "newest",
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("leave" as const), who }) },
  { weight: 2, arbitrary: fc.constant({ type: "sleep" } as const) },
  { weight: 1, arbitrary: fc.constantFrom("restart", "remove", "pass").map((type) => ({ type })) },
  {
    weight: 1,
    arbitrary: rarely.map((rare) => ({ type: rare ? "lose-stream" : "publish" }) as const),
  },
);

const anyHistory = fc.array(anyHappening, { minLength: 20, maxLength: 150, size: "max" });

/** One client, and what it knows. */
class Client {
  readonly #scene: Scene;
  readonly #noRoom: boolean;
  /** Live: it was answered, and neither left nor was told. */
  live = false;
  asking = false;
  /** Complete up to here. */
  offset = 0;
  epoch = "";
  /** Without history: the last that it heard, or that was published when it began. */
  last = { instance: 0, number: 0 };
  /** Since it began. */
  #heardAny = false;
  listener: Listener;
  readonly complaints: string[] = [];

  constructor(scene: Scene, noRoom: boolean) {
    this.#scene = scene;
    this.#noRoom = noRoom;
    this.listener = this.#newListener();
  }

  /** What it has heard last in the end: nothing of a newer instance in which nothing was said. */
  get shouldHaveHeard(): { instance: number; number: number } {
    const { instance, said } = this.#scene.world;
    return said === 0 && this.last.instance < instance ? this.last : { instance, number: said };
  }

  join(how: How): void {
    if (this.live || this.asking) return;
    this.asking = true;
    this.listener = this.#newListener();
    const since = this.#since(how);
    const mode = how === "newest" ? "cache" : "stream";
    const wish = { positioned: true, mode, orFail: false, ...(since && { since }) } as const;
    const { gateway, nowMs } = this.#scene;
    gateway.subscribe(this.listener.subscription, wish, nowMs, (answer) =>
      this.#answered(answer, how, since?.offset ?? 0),
    );
  }

  leave(): void {
    if (!this.live && !this.asking) return;
    this.live = false;
    this.asking = false;
    this.#scene.gateway.unsubscribe(this.listener.subscription);
  }

  #since(how: How): StreamPosition | undefined {
    switch (how) {
      case "new":
        return undefined;
      case "again":
        return { offset: this.offset, epoch: this.epoch };
      case "from-the-beginning":
      case "newest":
        return { offset: 0, epoch: "" };
      case "from-beyond":
        return { offset: this.#scene.world.top, epoch: this.#scene.world.epoch };
    }
  }

  #answered(answer: SubscribeReply, how: How, since: number): void {
    if (!this.asking) this.complaints.push("answered though nobody asked");
    this.asking = false;
    if (answer.outcome === "failed") return;
    this.live = true;
    this.#heardAny = false;
    this.last = { instance: this.#scene.world.instance, number: this.#scene.world.said };
    const { position, recovered, publications } = answer;
    if (position === undefined) return;
    let before = how === "newest" ? position.offset - 1 : since;
    for (const { offset, data } of publications) {
      if (offset !== before + 1) this.complaints.push(`recovered ${offset} after ${before}`);
      if (data !== `"${position.epoch}:${offset}"`)
        this.complaints.push(`${offset} was ${textOf(data)}`);
      before = offset;
    }
    if (publications.length > 0 && before !== position.offset) {
      this.complaints.push(`recovered up to ${before}, joined at ${position.offset}`);
    }
    if (recovered && publications.length === 0 && how === "again" && since !== position.offset) {
      this.complaints.push(`recovered nothing after ${since}, joined at ${position.offset}`);
    }
    ({ offset: this.offset, epoch: this.epoch } = position);
  }

  #newListener(): Listener {
    const listener = new Listener("42", { hearsJoinLeave: true, noRoom: this.#noRoom });
    listener.onHeard = (what) => this.#hear(what);
    listener.onLost = () => {
      this.live = false;
      this.#scene.gateway.unsubscribe(listener.subscription);
    };
    return listener;
  }

  #hear(what: string): void {
    if (what === "lost" || what.startsWith("join")) return;
    if (!this.live) this.complaints.push(`heard ${what} without a subscription`);
    const [first = "", second = ""] = what.slice(1, -1).split(":");
    const number = Number(second);
    if (first.startsWith("e")) {
      if (number !== this.offset + 1) this.complaints.push(`heard ${what} after ${this.offset}`);
      this.offset = number;
      return;
    }
    const instance = Number(first);
    const { last } = this;
    // What a crashed instance hadn't told is gone; within one instance nothing may be missing. But the first one that it
    // hears may be one that was published just before it began.
    const follows = instance === last.instance ? number === last.number + 1 : number === 1;
    const isOld = instance < last.instance || (instance === last.instance && number <= last.number);
    if (this.#heardAny ? isOld || !follows : !isOld && !follows) {
      this.complaints.push(`heard ${what} after ${last.instance}:${last.number}`);
    }
    this.#heardAny = true;
    this.last = { instance, number };
  }
}

class Scene {
  readonly world: ChannelWorld;
  gateway: Gateway;
  nowMs = 1_000_000;
  readonly clients: readonly Client[];

  constructor(hasHistory: boolean) {
    this.world = new ChannelWorld(hasHistory);
    this.gateway = this.#newGateway();
    this.clients = Array.from({ length: clientCount }, (_, index) => new Client(this, index > 1));
  }

  happen(happening: Happening): void {
    const { world } = this;
    const client = "who" in happening ? this.clients[happening.who] : undefined;
    switch (happening.type) {
      case "publish":
        world.publish();
        break;
      case "announce":
        world.announce();
        break;
      case "remove":
        world.removeHistory();
        break;
      case "restart":
        world.restart();
        break;
      case "lose-stream":
        world.loseStream();
        break;
      case "sleep":
        this.#sleep();
        break;
      case "deliver":
        world.deliver(this.#take, happening.heard, happening.answerHeard);
        break;
      case "delay":
        world.delay();
        break;
      case "late":
        world.deliverLate(this.#take, happening.which);
        break;
      case "carry-out":
        world.carryOut();
        break;
      case "answer":
        world.answer(happening.fails);
        break;
      case "join":
        client?.join(happening.how);
        break;
      case "leave":
        client?.leave();
        break;
      case "pass":
        this.nowMs += 11_000;
    }
    this.gateway.settle(this.nowMs);
  }

  /** From here on everything arrives, until nothing is under way. */
  calmDown(): void {
    for (let left = 4; left > 0; left--) this.happen({ type: "late", which: 0 });
    this.world.owe();
    for (let rounds = 0; rounds < 1_000; rounds++) {
      if (!this.world.calling && !this.world.owes) return;
      this.happen({ type: "answer", fails: false });
      this.happen({ type: "deliver", heard: true, answerHeard: true });
    }
    throw new Error("it never gets quiet");
  }

  readonly #take = (batch: RelayBatch): RelayBatchReply => this.gateway.take(batch, this.nowMs);

  /** Only an object of which nobody wants anything sleeps. */
  #sleep(): void {
    if (!this.world.quiet) return;
    this.gateway = this.#newGateway();
    for (const { live, listener } of this.clients) {
      if (!live) continue;
      listener.wake();
      this.gateway.restore(listener.subscription);
    }
  }

  #newGateway(): Gateway {
    const ports = {
      call: this.world.call.bind(this.world),
      presence: () => undefined,
    };
    return new Gateway({ config: configured(), ports });
  }
}
