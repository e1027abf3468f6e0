import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { RelayReply, RelayRequest } from "../../../../src/contract/relay-request.ts";
import { GatewayTracking } from "../../../../src/features/shared-polls/gateway-tracking.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import type { StoredTracks } from "../../../../src/features/shared-polls/local-tracks.ts";
import type { Subscription } from "../../../../src/session/subscription.ts";
import { type PollRequest, SharedPoll } from "../../../../src/features/shared-polls/shared-poll.ts";
import { SdkDecoder } from "../../delta/sdk-decoder.ts";
import { textOf } from "../../../support/text-of.ts";
import { json } from "../../api/channel-config.ts";
import { longValue } from "../../../support/long-value.ts";
import { pollOptions } from "./poll-fixture.ts";
import { trackingSubscription } from "../../gateway/tracking-subscription.ts";

const channel = "prices:eu";
const keys = ["a", "b", "c"];
const gateways = ["g", "h"];

/** A channel's object, two gateways with a client each, and a backend, between which a test loses what it likes. */
class World {
  readonly values = new Map(keys.map((key) => [key, 0]));
  readonly clients = gateways.map((name) => new Client(name, this));
  nowMs = 0;
  poll: SharedPoll;
  #instance = 0;
  #asked: PollRequest[] = [];

  constructor() {
    this.poll = this.#newPoll();
  }

  /** The channel's object crashes: a new instance begins. */
  crash(): void {
    this.#asked = [];
    this.poll = this.#newPoll();
  }

  ask(): void {
    for (let next = this.poll.ask(this.nowMs); next !== undefined; next = this.poll.ask(this.nowMs))
      this.#asked.push(next);
  }

  /** The backend answers the oldest question, or fails. */
  answer(fails = false): void {
    const request = this.#asked.shift();
    if (request === undefined) return;
    const items = request.items.map(({ key }) => ({
      key,
      data: json(longValue(this.values.get(key) ?? 0)),
      version: undefined,
    }));
    this.poll.answered(request, fails ? undefined : { items, epoch: "" }, this.nowMs);
  }

  /** Calls the gateways; the call, or its reply, may be lost. */
  call(lost: "nothing" | "call" | "reply" = "nothing"): void {
    for (const delivery of this.poll.deliveries(this.nowMs)) {
      const client = this.clients.find(({ name }) => name === delivery.gateway);
      const reply = lost === "call" ? undefined : client?.take(delivery.batch, this.nowMs);
      const isLost = lost !== "nothing" || reply === undefined;
      this.poll.delivered(delivery, isLost ? "failed" : reply, this.nowMs);
    }
  }

  /** Goes on without losses until nothing happens any more. */
  quiesce(): void {
    for (let round = 0; round < 20; round++) {
      for (const client of this.clients) client.settle();
      this.nowMs += 10_000;
      this.ask();
      for (let count = 0; count < 10; count++) this.answer();
      this.call();
    }
  }

  #newPoll(): SharedPoll {
    const relay = { instance: ++this.#instance, gateways };
    const epoch = `epoch${this.#instance}`;
    return SharedPoll.begin(channel, pollOptions(), relay, () => epoch, this.nowMs);
  }
}

/** A gateway with one client, which tracks its keys again when it is told that they are lost. */
class Client {
  readonly name: string;
  readonly #world: World;
  readonly #rows = new Map<string, StoredTracks>();
  readonly #wanted = new Set<string>();
  readonly #refused = new Set<string>();
  /** The values that the client shows. */
  readonly shown = new Map<string, number>();
  /** The last version of each key in this subscription. */
  readonly #versions = new Map<string, number>();
  /** What the SDK keeps of each key in this subscription, to apply the next delta. */
  readonly #decoders = new Map<string, SdkDecoder>();
  /** How many deltas it got. */
  deltas = 0;
  #requests: (readonly [RelayRequest, (reply: RelayReply) => void])[] = [];
  #tracking = this.#newTracking();
  #subscription: Subscription | undefined;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
  }

  get wanted(): ReadonlySet<string> {
    return this.#wanted;
  }

  want(key: string): void {
    this.#wanted.add(key);
    this.#track([key]);
  }

  unwant(key: string): void {
    this.#wanted.delete(key);
    this.#versions.delete(key);
    if (this.#subscription !== undefined) this.#tracking.untrack(this.#subscription, [key]);
  }

  take(batch: Parameters<GatewayTracking["receive"]>[0], nowMs: number) {
    const reply = this.#tracking.receive(batch, nowMs);
    while (this.#tracking.sending) this.#tracking.sendSlice();
    this.#tracking.settle();
    return reply;
  }

  /** Carries out the oldest request to the channel's object, or fails it. */
  request(fails = false): void {
    const [request, done] = this.#requests.shift() ?? [];
    if (request === undefined || done === undefined) return;
    const failed = { outcome: "failed", error: errorCodes.internal } as const;
    done(fails && request.method === "track" ? failed : this.#reply(request));
    while (this.#tracking.sending) this.#tracking.sendSlice();
    this.#tracking.settle();
  }

  settle(): void {
    while (this.#requests.length > 0) this.request();
    // The client tracks again what was refused, and everything if it was told that it is lost.
    const again = this.#subscription === undefined ? this.#wanted : this.#refused;
    const wanted = [...again].filter((key) => this.#wanted.has(key));
    this.#refused.clear();
    if (wanted.length > 0) this.#track(wanted);
    while (this.#requests.length > 0) this.request();
  }

  /** The gateway hibernates, which it does only if nothing is under way. */
  hibernate(): void {
    if (this.#requests.length > 0) return;
    const granted = this.#subscription?.granted;
    this.#tracking = this.#newTracking();
    if (granted === undefined) return;
    this.#subscription = this.#newSubscription(granted);
    this.#tracking.restore(this.#subscription);
  }

  #reply(request: RelayRequest): RelayReply {
    const { poll, nowMs } = this.#world;
    if (request.method === "untrack") poll.untrack(this.name, request.keys);
    if (request.method !== "track") return { outcome: "untracked" };
    const tracking = poll.track(this.name, request.known, nowMs);
    if (tracking.outcome === "failed") throw new Error("there is room for all");
    return tracking;
  }

  #track(wanted: readonly string[]): void {
    // A new subscription tracks all keys, as SDKs do.
    const all = this.#subscription === undefined ? [...this.#wanted] : wanted;
    const subscription = (this.#subscription ??= this.#subscribe());
    const items = all.map((key) => ({
      key,
      version: BigInt(this.#versions.get(key) ?? 0),
      endsAtMs: Infinity,
    }));
    this.#tracking.track(subscription, items, this.#world.nowMs, (reply) => {
      if (this.#subscription !== subscription) return;
      if (reply.outcome === "failed") {
        for (const key of all) this.#refused.add(key);
        return;
      }
      for (const { key, data, version = 0n } of reply.newer)
        this.#show({ key, data: JSON.parse(textOf(data)), version: Number(version) });
    });
  }

  #subscribe(): Subscription {
    this.#versions.clear();
    this.#decoders.clear();
    return this.#newSubscription({
      channel,
      expireAtSeconds: 0,
      present: false,
      announced: false,
      hearsJoinLeave: false,
      ...(this.#getsDeltas ? { delta: true } : {}),
      pollEpoch: this.#world.poll.epoch,
    });
  }

  #newSubscription(granted: Subscription["granted"]): Subscription {
    return trackingSubscription(
      this.name,
      granted,
      (frame) => this.#receive(frame),
      (subscription) => {
        this.#tracking.leave(subscription);
        this.#subscription = undefined;
      },
    );
  }

  #receive(frame: string): void {
    for (const line of frame.split("\n")) {
      const { push }: { push: { pub: Received } } = JSON.parse(line);
      this.#show(push.pub);
    }
  }

  /** As SDKs do: what isn't newer is ignored, and so is a key that isn't tracked, after the delta is applied. */
  #show({ key, data, version, delta = false }: Received): void {
    if (version <= (this.#versions.get(key) ?? 0)) return;
    if (delta) this.deltas++;
    const value = this.#getsDeltas ? this.#decoded(key, String(data), delta) : data;
    if (!this.#wanted.has(key)) return;
    this.#versions.set(key, version);
    const { value: shown }: { value: number } = JSON.parse(JSON.stringify(value));
    this.shown.set(key, shown);
  }

  #decoded(key: string, data: string, delta: boolean): unknown {
    const decoder = this.#decoders.get(key) ?? new SdkDecoder("text");
    this.#decoders.set(key, decoder);
    return decoder.receive({ data, delta });
  }

  get #getsDeltas(): boolean {
    return this.name === "g";
  }

  #newTracking(): GatewayTracking {
    return new GatewayTracking({
      request: (_, request, done) => this.#requests.push([request, done]),
      queueMaxBytes: 1_000_000,
      keysMax: () => 10,
      rows: {
        keepOnly: () => undefined,
        tracksOf: (client) => this.#rows.get(client),
        store: (client, _, tracks) => {
          if (tracks === undefined) this.#rows.delete(client);
          else this.#rows.set(client, structuredClone(tracks));
        },
      },
    });
  }
}

/** A publication as a client received it. */
interface Received {
  readonly key: string;
  readonly data: unknown;
  readonly version: number;
  readonly delta?: boolean;
}

const anyClient = fc.nat(gateways.length - 1);
const anyKey = fc.constantFrom(...keys);
const anyLoss = fc.constantFrom<"nothing" | "call" | "reply">("nothing", "call", "reply");
type Step = (world: World) => void;

/** The usual events: a value changes, the backend is polled, and the gateways are called. */
const anyUsual: fc.Arbitrary<Step> = fc.oneof(
  anyKey.map((key) => (world: World) => {
    world.values.set(key, (world.values.get(key) ?? 0) + 1);
  }),
  fc.nat(20_000).map((ms) => (world: World) => {
    world.nowMs += ms;
    world.ask();
  }),
  fc.boolean().map((fails) => (world: World) => world.answer(fails)),
  anyLoss.map((lost) => (world: World) => world.call(lost)),
  fc.tuple(anyClient, fc.boolean()).map(
    ([at, fails]) =>
      (world: World) =>
        world.clients[at]?.request(fails),
  ),
);

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: anyUsual },
  {
    weight: 4,
    arbitrary: fc.tuple(anyClient, anyKey).map(
      ([at, key]) =>
        (world: World) =>
          world.clients[at]?.want(key),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(anyClient, anyKey).map(
      ([at, key]) =>
        (world: World) =>
          world.clients[at]?.unwant(key),
    ),
  },
  {
    weight: 2,
    arbitrary: anyClient.map((at) => (world: World) => world.clients[at]?.hibernate()),
  },
  { weight: 1, arbitrary: fc.constant((world: World) => world.crash()) },
);

it("[SP2][SP7][SP8][SP13] whatever is lost, clients end with the newest value of each key that they track", () => {
  let [shown, deltas] = [0, 0];
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60, size: "max" }), (steps) => {
      const world = new World();
      for (const step of steps) step(world);
      world.quiesce();
      // Whoever has a value by now gets the next one as a delta of it.
      for (const key of keys) world.values.set(key, (world.values.get(key) ?? 0) + 1);
      world.quiesce();
      for (const client of world.clients) {
        deltas += client.deltas;
        for (const key of client.wanted) {
          shown++;
          expect(client.shown.get(key)).toBe(world.values.get(key));
        }
      }
    }),
    { seed: 20_261_122, numRuns: 1_000 },
  );
  expect(shown).toBeGreaterThan(500);
  expect(deltas).toBeGreaterThan(500);
});
