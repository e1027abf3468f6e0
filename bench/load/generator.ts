import { wireOf } from "../systems/wires.ts";
import type { Endpoint, Server } from "../systems/server.ts";
import { Subscribers } from "./subscribers.ts";
import { CpuShare } from "./cpu-share.ts";
import { Churn } from "./churn.ts";
import { closedLoop } from "./closed-loop.ts";
import { connectCallers } from "./connect-callers.ts";
import type { Connected } from "./connected.ts";
import { fillHistory } from "./fill-history.ts";
import { openLoop } from "./open-loop.ts";
import type { Order, Report } from "./orders.ts";
import { postEach } from "./post-each.ts";
import { receiptLoop } from "./receipt-loop.ts";
import { watchProgress } from "./watch-progress.ts";
import { Storm } from "./storm.ts";
import { singlePublication } from "./single-publication.ts";
import { FailureSignal } from "./failure-signal.ts";

/** Carries out orders, one after the other, against one system at a time. */
export class Generator {
  readonly #failure = new FailureSignal();
  #subscribers = new Subscribers(this.#failure);
  /** The system of the open sockets, if there are any. */
  #connected: Connected | undefined;
  /** The clients that come and go, if there are any. */
  #churn: Churn | undefined;
  /** The clients that are cut and come back, if there are any. */
  #storm: Storm | undefined;

  /** A failure closes all sockets, because later deliveries would belong to no order. */
  async carryOut(order: Order): Promise<Report> {
    const subscribers = this.#subscribers;
    // Frames don't count as progress: pings, and pushes that only keep a connection alive, come even when nothing else works.
    const progress = (): number =>
      subscribers.deliveries.delivered +
      subscribers.receipts.answered +
      subscribers.all.length +
      this.#failure.answers +
      (this.#churn?.joins ?? 0) +
      (this.#storm?.there ?? 0);
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
        return connectCallers(order, this.#connect(order.server));
      case "closed-loop":
        return closedLoop(order, this.#system());
      case "open-loop":
        return openLoop(order, this.#system());
      case "single":
        return singlePublication(order, this.#system());
      case "fill":
        return fillHistory(order, this.#filled(order.server));
      case "post-each":
        return postEach(order, this.#filled(order.server));
      case "receipts":
        return receiptLoop(order, this.#system());
      case "begin-churn":
        return this.#beginChurn(order);
      case "end-churn":
        return this.#endChurn();
      case "gather-storm":
        this.#storm = new Storm(order, this.#failure);
        return this.#storm.gather();
      case "release-storm":
        if (this.#storm === undefined) throw new Error("no clients were gathered");
        return this.#storm.release();
    }
  }

  #connect(server: Server): Connected {
    const known = this.#connected;
    if (known !== undefined && !isSame(known.server, server))
      throw new Error("the sockets of another system have to be cut first");
    this.#connected ??= { wire: wireOf(server), server, subscribers: this.#subscribers };
    return this.#connected;
  }

  async #beginChurn(order: Extract<Order, { order: "begin-churn" }>): Promise<Report> {
    if (this.#churn !== undefined) throw new Error("clients are coming and going already");
    this.#churn = new Churn(order, this.#failure);
    return { order: "begin-churn" };
  }

  async #endChurn(): Promise<Report> {
    const churn = this.#churn;
    if (churn === undefined) throw new Error("no clients are coming and going");
    this.#churn = undefined;
    return churn.end();
  }

  #system(): Connected {
    if (this.#connected === undefined) throw new Error("nobody is connected");
    return this.#connected;
  }

  /** A channel of another system has no subscribers here, although it may have the same name. */
  #filled(server: Server): Connected {
    const known = this.#connected;
    if (known !== undefined && isSame(known.server, server)) return known;
    return { wire: wireOf(server), server, subscribers: new Subscribers(this.#failure) };
  }

  async #cut(): Promise<Report> {
    const cpu = new CpuShare();
    this.#churn?.stop();
    this.#churn = undefined;
    await this.#storm?.cut();
    this.#storm = undefined;
    await Promise.all(this.#subscribers.all.map((subscriber) => subscriber.cut()));
    this.#subscribers = new Subscribers(this.#failure);
    this.#connected = undefined;
    this.#failure.forget();
    return { order: "cut", busy: cpu.share };
  }
}

function isSame(one: Server, other: Server): boolean {
  return one.system === other.system && isSamePlace(one.sockets, other.sockets);
}

function isSamePlace(one: Endpoint, other: Endpoint): boolean {
  return one.host === other.host && one.port === other.port;
}
