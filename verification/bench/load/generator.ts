import { wires } from "../systems/wires.ts";
import type { SystemName } from "../systems/wire.ts";
import { Audience } from "./audience.ts";
import { Busyness } from "./busyness.ts";
import { closedLoop } from "./closed-loop.ts";
import { connectCallers } from "./connect-callers.ts";
import type { Connected } from "./connected.ts";
import { fillHistory } from "./fill-history.ts";
import { openLoop } from "./open-loop.ts";
import type { Order, Report } from "./orders.ts";
import { watchProgress } from "./patience.ts";
import { singlePublication } from "./single-publication.ts";
import { Trouble } from "./trouble.ts";

/** Carries out orders, one after the other, at one system at a time. */
export class Generator {
  readonly #trouble = new Trouble();
  #audience = new Audience(this.#trouble);
  /** What the sockets are connected to, while there are some. */
  #connected: Connected | undefined;

  /** A failure ends all sockets: whatever they still get belongs to nothing. */
  async carryOut(order: Order): Promise<Report> {
    const audience = this.#audience;
    // Pings don't count: they come however little works.
    const progress = (): number =>
      audience.frames + audience.subscribers.length + this.#trouble.answers;
    const unwatch = watchProgress(progress, () => {
      const { missing } = audience.ledger;
      this.#trouble.raise(`nothing has come for 30 s; ${missing} deliveries are missing`);
    });
    try {
      if (order.order === "cut") return await this.#cut();
      return await this.#trouble.during(this.#begin(order));
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
    this.#connected = { wire, port, audience: this.#audience };
    return this.#connected;
  }

  #system(): Connected {
    if (this.#connected === undefined) throw new Error("nobody is connected");
    return this.#connected;
  }

  /** Channels of other systems have nothing to do with those that are listened to, though they have the same names. */
  #filled(system: SystemName, port: number): Connected {
    const listened = this.#connected?.port === port;
    const audience = listened ? this.#audience : new Audience(this.#trouble);
    return { wire: wires[system], port, audience };
  }

  async #cut(): Promise<Report> {
    const busyness = new Busyness();
    await Promise.all(this.#audience.subscribers.map((subscriber) => subscriber.cut()));
    this.#audience = new Audience(this.#trouble);
    this.#connected = undefined;
    this.#trouble.forget();
    return { order: "cut", busy: busyness.share };
  }
}
