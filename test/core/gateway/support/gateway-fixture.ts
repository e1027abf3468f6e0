import { plainPublication } from "../../../../src/channel/publication-request.ts";
import type { GatheredPresence } from "../../../../src/channel/presence.ts";
import { keyedStreamOf } from "../../../../src/features/index.ts";
import { keyEnds } from "../../../../src/features/maps/map-commands.ts";
import { PageReads } from "../../../../src/features/maps/page-reads.ts";
import { shownSubscriptions } from "../../../../src/features/presence/feature.ts";
import type { ObjectPart } from "../../../../src/object/part.ts";
import { Gateway } from "../../../../src/gateway/gateway.ts";
import type { ErrorCode } from "../../../../src/protocol/codes.ts";
import type { RelayBatchReply, RelayEntry } from "../../../../src/contract/relay-batch.ts";
import { configured } from "../../../support/configured.ts";
import { json } from "../../api/channel-config.ts";
import { type at, following } from "./followed-channel.ts";
import { RecordingSubscription } from "./recording-subscription.ts";
import { ScriptedPort } from "./scripted-port.ts";

/** A gateway with its clients, and channel objects that answer when and as a test says. */
export class GatewayFixture {
  readonly port = new ScriptedPort();
  nowMs = 1_000_000;
  gathered: GatheredPresence | { readonly error: ErrorCode } = { clients: [], complete: true };
  onPresence: (
    channel: string,
    answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
  ) => void = (_, answered) => answered(this.gathered);
  /** The work that waits for the next turn of the event loop. */
  turns: (() => void)[] = [];
  gateway: Gateway;
  #users = 0;
  #parts: readonly ObjectPart[] = [];
  readonly #config: object;

  /** @param config as an operator writes it */
  constructor(only?: string, config: object = {}) {
    this.#config = config;
    this.gateway = this.#newGateway(only);
  }

  subscribe(
    channel: string,
    traits: ConstructorParameters<typeof RecordingSubscription>[1] = {},
    since?: ReturnType<typeof at>,
  ): RecordingSubscription {
    const subscriber = new RecordingSubscription(`user${++this.#users}`, traits, channel);
    const options = {
      positioned: true,
      mode: "stream",
      orFail: false,
      ...(since && { since }),
    } as const;
    this.gateway.subscribe(subscriber.subscription, options, this.nowMs, subscriber.answered);
    return subscriber;
  }

  /** A subscription that has been answered. */
  subscribed(
    channel: string,
    traits: ConstructorParameters<typeof RecordingSubscription>[1] = {},
    position?: ReturnType<typeof at>,
  ): RecordingSubscription {
    const subscriber = this.subscribe(channel, traits);
    if (this.port.open > 0) this.port.answer(following(position));
    return subscriber;
  }

  publish(
    channel: string,
    by: RecordingSubscription | undefined,
    answered: (outcome: string) => void,
  ): void {
    const info = { user: "42", client: "c" };
    const { subscription } = by ?? {};
    const operation = { method: "publish", request: plainPublication(json("1")), info } as const;
    this.gateway.request(channel, operation, subscription, this.nowMs, ({ outcome }) =>
      answered(outcome),
    );
  }

  take(
    channel: string,
    entries: readonly RelayEntry[],
    top?: ReturnType<typeof at>,
    instance = 1,
  ): RelayBatchReply {
    const sent = { ...batch(channel, entries, 1), ...(top && { top }), instance };
    const answer = this.gateway.receive(sent, this.nowMs);
    this.settle();
    return answer;
  }

  settle(): number | undefined {
    for (const part of this.#parts) part.settle?.(this.nowMs);
    return this.gateway.settle(this.nowMs);
  }

  /** Gives the event loop a turn: does what waited for it. */
  turn(): void {
    const turns = this.turns;
    this.turns = [];
    for (const work of turns) work();
  }

  hibernate(...subscribers: readonly RecordingSubscription[]): void {
    this.gateway = this.#newGateway(undefined);
    for (const subscriber of subscribers) {
      subscriber.wake();
      this.gateway.restore(subscriber.subscription);
    }
  }

  #newGateway(only: string | undefined): Gateway {
    const ports = {
      call: this.port.call.bind(this.port),
      presence: (
        channel: string,
        answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
      ) => this.onPresence(channel, answered),
      later: (waitMs: number, work: () => void) => {
        if (waitMs === 0) this.turns.push(work);
      },
    };
    this.#parts = [
      new PageReads((...request) => this.gateway.ask(...request)),
      keyEnds,
      shownSubscriptions,
    ];
    const config = configured(this.#config);
    const setup = { config, ports, parts: this.#parts, keyedStreamOf };
    return new Gateway(only === undefined ? setup : { ...setup, only });
  }
}

/** A certain batch of a channel object. */
export function batch(
  channel: string,
  entries: readonly RelayEntry[],
  first: number,
): Parameters<Gateway["receive"]>[0] {
  return { v: 1, channel, instance: 1, first, entries, certain: true };
}
