import type { Recovery } from "../plan.ts";
import type { ReceivedPublication, SubscribeReply } from "./raw-reply.ts";
import { valueIn } from "../value.ts";
import type { ClientRecorder } from "../client-recorder.ts";

/** One channel of a raw subscriber: its position, and its events in the history. */
export class RawSubscription {
  readonly channel: string;
  /** Whether the client subscribes by itself; otherwise only orders subscribe it. */
  readonly isWanted: boolean;
  /**
   * leaving: the unsubscribe isn't answered yet, and pushes before the answer belong to the subscription that ended.
   * returning: the same, and the next subscribe was already sent.
   */
  state: "away" | "asking" | "attached" | "leaving" | "returning" = "away";
  /** When to subscribe, in the state `away`. */
  askAtMs = 0;
  /** The number of subscriptions so far. */
  generation = 0;
  readonly #process: string;
  readonly #recovers: boolean;
  readonly #asks: boolean;
  readonly #recorder: ClientRecorder;
  #position: { readonly epoch: string; offset: number } | undefined;

  /** @param asks whether the server asks a backend about each subscribe */
  constructor(
    channel: string,
    process: string,
    recovery: Recovery,
    recorder: ClientRecorder,
    isWanted = true,
    asks = false,
  ) {
    this.channel = channel;
    this.isWanted = isWanted;
    this.#process = process;
    this.#asks = asks;
    this.#recovers = recovery !== "none";
    this.#recorder = recorder;
  }

  /** Whether the next subscribe asks to recover, which it does whenever there is a position. */
  get isRecovering(): boolean {
    return this.#position !== undefined;
  }

  /** The subscribe request. */
  get request(): object {
    const { channel } = this;
    return this.#position === undefined
      ? { channel }
      : { channel, recover: true, ...this.#position };
  }

  /**
   * A subscribe was answered.
   *
   * @param asked whether the subscribe asked to recover
   */
  attach(reply: SubscribeReply, asked: boolean, client: string, time: number): void {
    const { recovered = false, epoch = "", offset = 0, publications } = reply;
    const hasPosition = reply.positioned === true || reply.recoverable === true;
    const stands = hasPosition ? { epoch, offset } : {};
    this.state = "attached";
    this.generation++;
    this.#position = hasPosition && this.#recovers ? { epoch, offset } : undefined;
    this.#recorder.record({
      time,
      process: this.#process,
      type: "ok",
      f: "subscribe",
      channel: this.channel,
      client,
      recovering: asked,
      recovered,
      ...stands,
      ...(this.#asks ? { asks: true } : {}),
    });
    if (publications === undefined) return;
    for (const publication of publications) this.hear(publication, time);
  }

  /** A publication arrived. One that arrives without a subscription is recorded too, and changes nothing. */
  hear({ data, offset }: ReceivedPublication, time: number): void {
    if (this.state === "leaving" || this.state === "returning") return;
    this.#recorder.deliver(this.#process, time, this.channel, valueIn(data), offset);
    if (this.state !== "attached" || this.#position === undefined || offset === undefined) return;
    this.#position.offset = offset;
  }

  /** The server ended the subscription because of insufficient state. */
  lose(code: number, time: number): void {
    if (this.state !== "attached") return;
    const { channel } = this;
    this.#recorder.record({
      time,
      process: this.#process,
      type: "info",
      f: "signal",
      channel,
      code,
    });
    this.state = "away";
  }

  /** The connection broke. */
  break(time: number): void {
    // The next connection doesn't have a subscription that an order made.
    if (this.state === "attached" && !this.isWanted) this.revoke(time);
    else if (this.state === "attached") this.#detach(time, false);
    this.state = "away";
  }

  /** An order has ended the subscription. The client forgets it, as it would the one of a former member. */
  revoke(time: number): void {
    this.#detach(time, true);
    this.#position = undefined;
    this.state = "away";
  }

  /** The client unsubscribes. */
  leave(time: number, forgets: boolean): void {
    this.#detach(time, forgets);
    if (forgets) this.#position = undefined;
    this.state = "leaving";
  }

  /** The unsubscribe was answered. */
  left(): void {
    if (this.state === "leaving") this.state = "away";
    if (this.state === "returning") this.state = "asking";
  }

  #detach(time: number, forgets: boolean): void {
    this.#recorder.record({
      time,
      process: this.#process,
      type: "info",
      f: "detach",
      channel: this.channel,
      ...(forgets ? { forgets } : {}),
    });
  }
}
