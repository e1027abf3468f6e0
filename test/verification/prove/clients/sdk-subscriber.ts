import {
  type Centrifuge,
  type PublicationContext,
  State,
  type SubscribedContext,
  type Subscription,
} from "centrifuge";
import { WebSocket } from "ws";
import type { Random } from "../../../support/random.ts";
import { microseconds } from "../history/clock.ts";
import { longestMs, shortestMs } from "./backoff.ts";
import { type ErrorReply, socketOptions } from "./endpoint.ts";
import { OwnPublishing } from "./own-publishing.ts";
import type { ClientsPlan, SubscriberPlan } from "./plan.ts";
import type { Subscriber } from "./subscriber.ts";
import { RecordedClient } from "./recorded-client.ts";
import { valueIn } from "./value.ts";
import type { ClientRecorder } from "./client-recorder.ts";

/** A subscriber that uses the official client and records its events. */
export class SdkSubscriber implements Subscriber {
  readonly process: string;
  protected readonly recorder: ClientRecorder;
  protected readonly subscriptions: ReadonlyMap<string, SdkSubscription>;
  readonly #publishing: OwnPublishing | undefined;
  readonly #recorded: RecordedClient;

  /** @param sockets the class of the client's sockets */
  constructor(
    plan: ClientsPlan,
    traits: SubscriberPlan,
    random: Random,
    recorder: ClientRecorder,
    sockets = socketClass(plan.hostHeader),
  ) {
    const { process, channels, publishes } = traits;
    this.process = process;
    this.recorder = recorder;
    this.#recorded = new RecordedClient(plan, traits, random, recorder, sockets);
    this.subscriptions = new Map(
      channels.map((channel) => {
        const subscription = this.client.newSubscription(channel, {
          minResubscribeDelay: shortestMs,
          maxResubscribeDelay: longestMs,
        });
        return [channel, new SdkSubscription(subscription, process, this.#recorded, recorder)];
      }),
    );
    if (publishes !== undefined) {
      this.#publishing = new OwnPublishing(publishes, process, random, recorder);
    }
  }

  protected get client(): Centrifuge {
    return this.#recorded.client;
  }

  get subscribed(): number {
    let count = 0;
    for (const { isAttached } of this.subscriptions.values()) if (isAttached) count++;
    return count;
  }

  get wanted(): number {
    return this.subscriptions.size;
  }

  get isPublishing(): boolean {
    return this.#publishing?.isUnderWay === true;
  }

  start(): void {
    for (const { subscription } of this.subscriptions.values()) subscription.subscribe();
    this.client.connect();
  }

  tick(nowMs: number): void {
    const publishing = this.#publishing;
    if (publishing === undefined || !publishing.isDue(nowMs)) return;
    const subscription = this.subscriptions.get(publishing.channel);
    if (subscription?.isAttached !== true || this.client.state !== State.Connected) return;
    void this.#publish(publishing, subscription, nowMs);
  }

  settle(): void {
    this.#publishing?.stop();
  }

  stop(): void {
    this.#recorded.stop();
  }

  async #publish(publishing: OwnPublishing, subscription: SdkSubscription, nowMs: number) {
    const value = publishing.begin(nowMs, microseconds());
    const { generation } = subscription;
    let code: number | undefined;
    try {
      await this.client.publish(publishing.channel, value);
    } catch (error) {
      code = parseError(error).code;
    }
    const time = microseconds();
    const wasSubscribed = subscription.isAttached && subscription.generation === generation;
    // Codes below 100 are the SDK's own: the connection broke, or no answer came in time.
    if (code !== undefined && code < 100) publishing.lose(time);
    else {
      const problem = publishing.answer(code, wasSubscribed, time);
      if (problem !== undefined) this.fail(problem);
    }
  }

  protected fail(what: string): void {
    this.recorder.fail(this.process, what);
  }
}

/** One channel of the subscriber. */
export class SdkSubscription {
  readonly subscription: Subscription;
  isAttached = false;
  /** The position of the last publication that the client's program has got. */
  position = { epoch: "", offset: 0 };
  /** The number of subscriptions so far. */
  generation = 0;
  readonly #process: string;
  readonly #connection: Pick<RecordedClient, "id">;
  readonly #recorder: ClientRecorder;

  constructor(
    subscription: Subscription,
    process: string,
    connection: Pick<RecordedClient, "id">,
    recorder: ClientRecorder,
  ) {
    this.subscription = subscription;
    this.#process = process;
    this.#connection = connection;
    this.#recorder = recorder;
    subscription.on("error", () => undefined);
    subscription.on("subscribed", (context) => this.#attach(context));
    subscription.on("publication", (context) => this.#receive(context));
    subscription.on("subscribing", ({ code }) => this.#detach(code));
    subscription.on("unsubscribed", ({ code, reason }) => {
      this.isAttached = false;
      recorder.fail(process, `was unsubscribed from ${subscription.channel}: ${code} ${reason}`);
    });
  }

  /**
   * The context repeats the reply: its position is the one recovered from, or the top without recovery. The recovered
   * publications follow one by one, before any other event of the channel.
   */
  #attach({ channel, wasRecovering, recovered, streamPosition }: SubscribedContext): void {
    this.isAttached = true;
    this.generation++;
    if (streamPosition !== undefined) this.position = streamPosition;
    this.#recorder.record({
      time: microseconds(),
      process: this.#process,
      type: "ok",
      f: "subscribe",
      channel,
      client: this.#connection.id,
      recovering: wasRecovering,
      recovered,
      ...(streamPosition === undefined
        ? {}
        : { epoch: streamPosition.epoch, offset: streamPosition.offset }),
    });
  }

  #receive({ channel, data, offset }: PublicationContext): void {
    this.#recorder.deliver(this.#process, microseconds(), channel, valueIn(data), offset);
    if (offset !== undefined) this.position = { ...this.position, offset };
  }

  #detach(code: number): void {
    if (!this.isAttached) return;
    this.isAttached = false;
    const { channel } = this.subscription;
    const common = { time: microseconds(), process: this.#process, type: "info", channel } as const;
    this.#recorder.record(
      code >= 2500 ? { ...common, f: "signal", code } : { ...common, f: "detach" },
    );
  }
}

/** The SDK creates sockets from an address alone, so this class adds the options. */
export function socketClass(hostHeader: string | undefined) {
  return class extends WebSocket {
    constructor(address: string, protocols?: string) {
      super(address, protocols, socketOptions(hostHeader));
    }
  };
}

/** The code of an error of the SDK; 0 if it has none. */
export function parseError(error: unknown): ErrorReply {
  const { code = 0 }: { code?: number } = Object(error);
  return { code };
}
