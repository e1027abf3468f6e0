import { setTimeout as pause } from "node:timers/promises";
import type { Caller, Wire } from "../systems/wire.ts";
import type { Server } from "../systems/server.ts";
import { wireOf } from "../systems/wires.ts";
import { backoffMs } from "./backoff.ts";
import { CpuShare } from "./cpu-share.ts";
import type { FailureSignal } from "./failure-signal.ts";
import type { Order, Report } from "./orders.ts";
import type { StreamPosition } from "./stream-position.ts";
import { Subscriber } from "./subscriber.ts";
import type { LoadChannel, SubscriberOwner } from "./subscribers.ts";

/**
 * Clients that are cut at once and come back, each after the pause that the SDKs make, and with what they missed. Who is
 * refused for now comes again after a longer pause. What they receive isn't counted as deliveries.
 */
export class Storm implements SubscriberOwner {
  readonly failure: FailureSignal;
  bytes = 0;
  /** Clients that are subscribed now. */
  there = 0;
  readonly #server: Server;
  readonly #wire: Wire;
  readonly #callers: readonly Caller[];
  readonly #channels = new Map<string, LoadChannel>();
  #clients: Subscriber[] = [];
  #since: StreamPosition | undefined;

  constructor(
    { server, callers }: Extract<Order, { order: "gather-storm" }>,
    failure: FailureSignal,
  ) {
    this.failure = failure;
    this.#server = server;
    this.#wire = wireOf(server);
    this.#callers = callers;
  }

  /** Connects all clients, some at a time. */
  async gather(): Promise<Extract<Report, { order: "gather-storm" }>> {
    const waiting = this.#callers.values();
    const oneAfterTheOther = async (): Promise<void> => {
      for (const caller of waiting) {
        if (this.failure.isRaised) return;
        await this.#connect(caller);
      }
    };
    await Promise.all(Array.from({ length: gatheredAtOnce }, oneAfterTheOther));
    return { order: "gather-storm" };
  }

  /** Cuts all clients, and resolves when the last one is back. */
  async release(): Promise<Extract<Report, { order: "release-storm" }>> {
    const cpu = new CpuShare();
    const clients = this.#clients;
    this.#clients = [];
    this.there = 0;
    await Promise.all(clients.map((client) => client.cut()));
    const beganAtMs = performance.now();
    const since = this.#since;
    const refusals = await Promise.all(
      this.#callers.map(async (caller) => {
        await pause(backoffMs(0));
        return this.#connect(since === undefined ? caller : { ...caller, since });
      }),
    );
    return {
      order: "release-storm",
      busy: cpu.share,
      seconds: (performance.now() - beganAtMs) / 1_000,
      refusals: refusals.reduce((sum, count) => sum + count, 0),
      refusalsOfOneMost: Math.max(...refusals),
    };
  }

  /** Cuts all clients for good. */
  async cut(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.cut()));
    this.#clients = [];
  }

  channel(name: string): LoadChannel {
    const known = this.#channels.get(name) ?? { channel: name, subscribers: 0, published: 0 };
    this.#channels.set(name, known);
    return known;
  }

  /** A client that recovers receives as many publications as it missed, which nobody knows beforehand. */
  expect(): void {}

  deliver(): void {}

  /** Connects a client, however often it is refused for now. @returns how often it was */
  async #connect(caller: Caller): Promise<number> {
    for (let refusals = 0; ; refusals++) {
      const client = new Subscriber(this.#wire, this.#server.sockets, caller, 0, this, {
        comesBack: true,
      });
      if ((await this.failure.during(client.there)) === "there") {
        this.#clients.push(client);
        this.there++;
        this.#since ??= client.position;
        return refusals;
      }
      await pause(backoffMs(refusals + 1));
    }
  }
}

const gatheredAtOnce = 64;
