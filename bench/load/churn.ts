import { setTimeout as pause } from "node:timers/promises";
import type { Server } from "../systems/server.ts";
import type { Wire } from "../systems/wire.ts";
import { wireOf } from "../systems/wires.ts";
import { CpuShare } from "./cpu-share.ts";
import type { FailureSignal } from "./failure-signal.ts";
import type { Order, Report } from "./orders.ts";
import type { StreamPosition } from "./stream-position.ts";
import { Subscriber } from "./subscriber.ts";
import type { LoadChannel, SubscriberOwner } from "./subscribers.ts";

/**
 * Clients that connect, subscribe and leave again, one after the other, until it ends. Where a subscribe reply gives a
 * position, each client recovers from the newest known one, as a client does that was away for a moment. What they
 * receive isn't counted as deliveries.
 */
export class Churn implements SubscriberOwner {
  readonly failure: FailureSignal;
  bytes = 0;
  /** Clients that were subscribed so far. */
  joins = 0;
  /** How often clients were refused for now. */
  #refusals = 0;
  readonly #server: Server;
  readonly #wire: Wire;
  readonly #channel: LoadChannel;
  readonly #pace: ChurnPace;
  readonly #beganAtMs = performance.now();
  readonly #cpu = new CpuShare();
  readonly #visits = new Set<Promise<void>>();
  readonly #latenciesMs: number[] = [];
  #since: StreamPosition | undefined;
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { server, channel, pace }: Extract<Order, { order: "begin-churn" }>,
    failure: FailureSignal,
  ) {
    this.failure = failure;
    this.#server = server;
    this.#wire = wireOf(server);
    this.#channel = { channel, subscribers: 0, published: 0 };
    this.#pace = pace;
    this.#timer = setInterval(() => this.#startDue(), tickMs);
    this.#startDue();
  }

  /** Starts no more clients, and resolves when all have left. */
  async end(): Promise<Extract<Report, { order: "end-churn" }>> {
    this.stop();
    const { joins } = this;
    const seconds = (performance.now() - this.#beganAtMs) / 1000;
    const busy = this.#cpu.share;
    await Promise.all(this.#visits);
    const latenciesMs = this.#latenciesMs.sort((one, other) => one - other);
    return { order: "end-churn", busy, joins, refusals: this.#refusals, seconds, latenciesMs };
  }

  /** Starts no more clients. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  channel(): LoadChannel {
    return this.#channel;
  }

  /** A client that recovers receives as many publications as it missed, which nobody knows beforehand. */
  expect(): void {}

  deliver(): void {}

  #startDue(): void {
    if (this.failure.isRaised) this.stop();
    while (this.#timer !== undefined && this.#isDue()) {
      this.#started++;
      const visit = this.#visit().finally(() => {
        this.#visits.delete(visit);
        if (this.#pace.pace === "as many as possible") this.#startDue();
      });
      this.#visits.add(visit);
    }
  }

  #isDue(): boolean {
    switch (this.#pace.pace) {
      case "per second": {
        const seconds = (performance.now() - this.#beganAtMs) / 1000;
        const isBehind = this.#started < seconds * this.#pace.clients;
        // A system that is slower than this pace isn't flooded: the joins a second show that it was slower.
        return isBehind && this.#visits.size < visitsMax;
      }
      case "as many as possible":
        return this.#visits.size < this.#pace.clients;
    }
  }

  async #visit(): Promise<void> {
    const calledAtMs = performance.now();
    const since = this.#since;
    const caller = {
      channel: this.#channel.channel,
      token: "",
      ...(since === undefined ? {} : { since }),
    };
    const options = { comesBack: true };
    const client = new Subscriber(this.#wire, this.#server.sockets, caller, 0, this, options);
    const outcome = await this.#orFailure(client.there);
    if (outcome !== "there" || this.failure.isRaised) {
      await client.cut();
      if (outcome === "refused") await this.#refused();
      return;
    }
    this.joins++;
    this.#latenciesMs.push(performance.now() - calledAtMs);
    const { position } = client;
    if (position !== undefined && position.offset >= (this.#since?.offset ?? 0))
      this.#since = position;
    await Promise.race([client.leave(), pause(leaveMsMax)]);
    await client.cut();
  }

  /** Resolves also when something failed, because that client may then wait for ever. */
  async #orFailure<Outcome>(work: Promise<Outcome>): Promise<Outcome | undefined> {
    return this.failure.during(work).catch(() => undefined);
  }

  /** Another client comes in its place, but not at once: an SDK makes a pause, too. */
  async #refused(): Promise<void> {
    this.#refusals++;
    if (this.#timer !== undefined) await pause(refusedPauseMs);
  }
}

/** How many clients start in a second, or how many there are at a time, each replaced when it has left. */
export type ChurnPace =
  | { readonly pace: "per second"; readonly clients: number }
  | { readonly pace: "as many as possible"; readonly clients: number };

const tickMs = 5;
const visitsMax = 500;
const refusedPauseMs = 500;
/** A system that doesn't answer a close frame is left without its answer. */
const leaveMsMax = 1_000;
