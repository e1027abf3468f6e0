import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gateway } from "../../../src/gateway/gateway.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { RelayBatch, RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import type { SubscribeReply } from "../../../src/session/channels.ts";
import { configured } from "../../support/configured.ts";
import { textOf } from "../../support/text-of.ts";
import { ModelChannel } from "./support/model-channel.ts";
import { RecordingSubscription } from "./support/recording-subscription.ts";

/**
 * Everything at once, in any order: publications, removals, crashes of the channel object, lost streams, lost, late and
 * repeated calls, clients that subscribe, recover and leave, and hibernation. Each live subscriber receives each offset
 * after its position once and in order, or gets a signal of insufficient state; in the end no subscriber without a
 * signal is behind.
 */
describe("a gateway on a bad network", () => {
  it("[L1] passes on a stream without a gap, and nothing twice, or says that it can't", () => {
    fc.assert(
      fc.property(anyHistory, (events) => {
        const fixture = new RandomRun(true);
        for (const event of events) fixture.apply(event);
        fixture.settle();
        for (const client of fixture.clients) {
          expect(client.complaints).toEqual([]);
          expect(client.offset).toBe(client.live ? fixture.channel.top : client.offset);
        }
      }),
      { numRuns: 1_000, seed: 20_260_801 },
    );
  });

  it("[L1] passes on publications without history, none twice, or signals that some are missing", () => {
    fc.assert(
      fc.property(anyHistory, (events) => {
        const fixture = new RandomRun(false);
        for (const event of events) fixture.apply(event);
        fixture.settle();
        for (const client of fixture.clients) {
          expect(client.complaints).toEqual([]);
          expect(client.last).toEqual(client.live ? client.expectedLast : client.last);
        }
      }),
      { numRuns: 1_000, seed: 20_260_802 },
    );
  });
});

type RandomEvent =
  | { readonly type: "publish" | "announce" | "remove" | "restart" | "lose-stream" | "sleep" }
  | { readonly type: "deliver"; readonly arrives: boolean; readonly replyArrives: boolean }
  | { readonly type: "delay" | "carry-out" | "pass" }
  | { readonly type: "late"; readonly which: number }
  | { readonly type: "answer"; readonly fails: boolean }
  | { readonly type: "join"; readonly who: number; readonly how: How }
  | { readonly type: "leave"; readonly who: number };

type How = "new" | "again" | "from-the-beginning" | "from-beyond" | "newest";

const clientCount = 4;
const who = fc.nat(clientCount - 1);
const rarely = fc.nat(5).map((roll) => roll === 0);

const anyEvent: fc.Arbitrary<RandomEvent> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ type: "publish" } as const) },
  { weight: 2, arbitrary: fc.constant({ type: "announce" } as const) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("deliver" as const),
      arrives: rarely.map((rare) => !rare),
      replyArrives: rarely.map((rare) => !rare),
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

const anyHistory = fc.array(anyEvent, { minLength: 20, maxLength: 150, size: "max" });

/** One client, and its view of the channel. */
class Client {
  readonly #run: RandomRun;
  readonly #attachmentFull: boolean;
  /** Live: the subscribe was answered, and the client neither left nor got a signal. */
  live = false;
  asking = false;
  /** Complete up to here. */
  offset = 0;
  epoch = "";
  /** Without history: the last received publication, or the last one published when the subscription began. */
  last = { instance: 0, number: 0 };
  /** Since it began. */
  #receivedAny = false;
  subscriber: RecordingSubscription;
  readonly complaints: string[] = [];

  constructor(fixture: RandomRun, attachmentFull: boolean) {
    this.#run = fixture;
    this.#attachmentFull = attachmentFull;
    this.subscriber = this.#newSubscriber();
  }

  /** The expected last publication in the end: none of a newer instance in which nothing was published. */
  get expectedLast(): { instance: number; number: number } {
    const { instance, said } = this.#run.channel;
    return said === 0 && this.last.instance < instance ? this.last : { instance, number: said };
  }

  subscribe(how: How): void {
    if (this.live || this.asking) return;
    this.asking = true;
    this.subscriber = this.#newSubscriber();
    const since = this.#since(how);
    const mode = how === "newest" ? "cache" : "stream";
    const options = { positioned: true, mode, orFail: false, ...(since && { since }) } as const;
    const { gateway, nowMs } = this.#run;
    gateway.subscribe(this.subscriber.subscription, options, nowMs, (answer) =>
      this.#answered(answer, how, since?.offset ?? 0),
    );
  }

  unsubscribe(): void {
    if (!this.live && !this.asking) return;
    this.live = false;
    this.asking = false;
    this.#run.gateway.unsubscribe(this.subscriber.subscription);
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
        return { offset: this.#run.channel.top, epoch: this.#run.channel.epoch };
    }
  }

  #answered(answer: SubscribeReply, how: How, since: number): void {
    if (!this.asking) this.complaints.push("answered though nobody asked");
    this.asking = false;
    if (answer.outcome === "failed") return;
    this.live = true;
    this.#receivedAny = false;
    this.last = { instance: this.#run.channel.instance, number: this.#run.channel.said };
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

  #newSubscriber(): RecordingSubscription {
    const subscriber = new RecordingSubscription("42", {
      hearsJoinLeave: true,
      attachmentFull: this.#attachmentFull,
    });
    subscriber.onReceived = (what) => this.#receive(what);
    subscriber.onInsufficientState = () => {
      this.live = false;
      this.#run.gateway.unsubscribe(subscriber.subscription);
    };
    return subscriber;
  }

  #receive(what: string): void {
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
    // Entries that a crashed instance hadn't delivered are lost; within one instance none may be missing. But the first
    // received publication may be one that was published just before the subscription began.
    const follows = instance === last.instance ? number === last.number + 1 : number === 1;
    const isOld = instance < last.instance || (instance === last.instance && number <= last.number);
    if (this.#receivedAny ? isOld || !follows : !isOld && !follows) {
      this.complaints.push(`heard ${what} after ${last.instance}:${last.number}`);
    }
    this.#receivedAny = true;
    this.last = { instance, number };
  }
}

class RandomRun {
  readonly channel: ModelChannel;
  gateway: Gateway;
  nowMs = 1_000_000;
  readonly clients: readonly Client[];

  constructor(hasHistory: boolean) {
    this.channel = new ModelChannel(hasHistory);
    this.gateway = this.#newGateway();
    this.clients = Array.from({ length: clientCount }, (_, index) => new Client(this, index > 1));
  }

  apply(event: RandomEvent): void {
    const { channel } = this;
    const client = "who" in event ? this.clients[event.who] : undefined;
    switch (event.type) {
      case "publish":
        channel.publish();
        break;
      case "announce":
        channel.announce();
        break;
      case "remove":
        channel.removeHistory();
        break;
      case "restart":
        channel.restart();
        break;
      case "lose-stream":
        channel.loseStream();
        break;
      case "sleep":
        this.#hibernate();
        break;
      case "deliver":
        channel.deliver(this.#take, event.arrives, event.replyArrives);
        break;
      case "delay":
        channel.delay();
        break;
      case "late":
        channel.deliverLate(this.#take, event.which);
        break;
      case "carry-out":
        channel.carryOut();
        break;
      case "answer":
        channel.answer(event.fails);
        break;
      case "join":
        client?.subscribe(event.how);
        break;
      case "leave":
        client?.unsubscribe();
        break;
      case "pass":
        this.nowMs += 11_000;
    }
    this.gateway.settle(this.nowMs);
  }

  /** From here on everything arrives, until nothing is under way. */
  settle(): void {
    for (let left = 4; left > 0; left--) this.apply({ type: "late", which: 0 });
    this.channel.owe();
    for (let rounds = 0; rounds < 1_000; rounds++) {
      if (!this.channel.calling && !this.channel.owes) return;
      this.apply({ type: "answer", fails: false });
      this.apply({ type: "deliver", arrives: true, replyArrives: true });
    }
    throw new Error("it never gets quiet");
  }

  readonly #take = (batch: RelayBatch): RelayBatchReply => this.gateway.receive(batch, this.nowMs);

  /** Only an idle gateway hibernates. */
  #hibernate(): void {
    if (!this.channel.quiet) return;
    this.gateway = this.#newGateway();
    for (const { live, subscriber } of this.clients) {
      if (!live) continue;
      subscriber.wake();
      this.gateway.restore(subscriber.subscription);
    }
  }

  #newGateway(): Gateway {
    const ports = {
      call: this.channel.call.bind(this.channel),
      presence: () => undefined,
      later: () => undefined,
    };
    return new Gateway({ config: configured(), ports });
  }
}
