import { wires } from "../systems/wires.ts";
import type { SystemName } from "../systems/wire.ts";
import { Subscribers } from "./subscribers.ts";
import { CpuShare } from "./cpu-share.ts";
import { closedLoop } from "./closed-loop.ts";
import { connectCallers } from "./connect-callers.ts";
import type { Connected } from "./connected.ts";
import { fillHistory } from "./fill-history.ts";
import { openLoop } from "./open-loop.ts";
import type { Order, Report } from "./orders.ts";
import { watchProgress } from "./watch-progress.ts";
import { singlePublication } from "./single-publication.ts";
import { FailureSignal } from "./failure-signal.ts";

/** Carries out orders, one after the other, against one system at a time. */
export class Generator {
  readonly #failure = new FailureSignal();
  #subscribers = new Subscribers(this.#failure);
  /** The system of the open sockets, if there are any. */
  #connected: Connected | undefined;

  /** A failure closes all sockets, because later deliveries would belong to no order. */
  async carryOut(order: Order): Promise<Report> {
    const subscribers = this.#subscribers;
    // Pings don't count as progress, because they come even when nothing else works.
    const progress = (): number =>
      subscribers.frames + subscribers.all.length + this.#failure.answers;
    const unwatch = watchProgress(progress, () => {
      const { missing } = subscribers.deliveries;
      this.#failure.raise(`nothing has come for 30 s; ${missing} deliveries are missing`);
    });
    try {
      if (order.order === "cut") return await this.#cut();
      return await this.#failure.during(this.#begin(order));
    } catch (error) {
      await this.#cut();
      return { order: "failed", problem: error instanceof Error ? error.message : String(error) };
    } finally {
      unwatch();
    }
  }

  #begin(order: Exclude<Order, { order: "cut" }>): Promise<Report> {
    switch (order.order) {
      case "connect":
        return connectCallers(order, this.#connect(order.system, order.port));
      case "closed-loop":
        return closedLoop(order, this.#system());
      case "open-loop":
        return openLoop(order, this.#system());
      case "single":
        return singlePublication(order, this.#system());
      case "fill":
        return fillHistory(order, this.#filled(order.system, order.port));
    }
  }

  #connect(system: SystemName, port: number): Connected {
    const wire = wires[system];
    const known = this.#connected;
    if (known !== undefined && (known.wire !== wire || known.port !== port))
      throw new Error("the sockets of another system have to be cut first");
    this.#connected = { wire, port, subscribers: this.#subscribers };
    return this.#connected;
  }

  #system(): Connected {
    if (this.#connected === undefined) throw new Error("nobody is connected");
    return this.#connected;
  }

  /** A channel of another system has no subscribers here, although it may have the same name. */
  #filled(system: SystemName, port: number): Connected {
    const connected = this.#connected?.port === port;
    const subscribers = connected ? this.#subscribers : new Subscribers(this.#failure);
    return { wire: wires[system], port, subscribers };
  }

  async #cut(): Promise<Report> {
    const cpu = new CpuShare();
    await Promise.all(this.#subscribers.all.map((subscriber) => subscriber.cut()));
    this.#subscribers = new Subscribers(this.#failure);
    this.#connected = undefined;
    this.#failure.forget();
    return { order: "cut", busy: cpu.share };
  }
}
