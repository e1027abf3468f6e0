import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Answer, Order, Progress } from "./order.ts";
import type { ClientsPlan } from "./plan.ts";

/** Subscribers in a process of their own, which write a history of their events. */
export class Clients {
  readonly #process: ChildProcess;
  #printed = "";
  /** The last order; orders are carried out one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when every subscriber has been subscribed once. Rejects when the plan is invalid, or after four minutes. */
  static async start(plan: ClientsPlan): Promise<Clients> {
    const clients = new Clients();
    try {
      await clients.#carryOut({ order: "start", plan });
      return clients;
    } catch (error) {
      await clients.#exit();
      throw error;
    }
  }

  private constructor() {
    this.#process = fork(fileURLToPath(new URL("./client-process.ts", import.meta.url)), {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8");
      stream?.on("data", (text: string) => (this.#printed = (this.#printed + text).slice(-10_000)));
    }
  }

  progress(): Promise<Progress> {
    return this.#carryOut({ order: "progress" });
  }

  /**
   * Stops publishing and leaving. Resolves when all publishes are answered or given up and every subscriber is
   * subscribed to all its channels; rejects when one failed, or after four minutes, and then names the subscribers that
   * aren't.
   */
  async settle(): Promise<void> {
    await this.#carryOut({ order: "settle" });
  }

  /**
   * Ends all connections, which isn't recorded. Resolves when the history is on disk and the process has exited;
   * rejects after that when something failed.
   */
  async end(): Promise<void> {
    try {
      const { failures } = await this.#carryOut({ order: "end" });
      if (failures.length > 0) throw new Error(`the clients failed: ${failures.join("\n")}`);
    } finally {
      await this.#exit();
    }
  }

  /** Rejects when the process has exited or exits meanwhile, with its output. */
  #carryOut(order: Order): Promise<Progress> {
    const carried = this.#last.then(() => this.#ask(order));
    this.#last = carried.catch(() => undefined);
    return carried;
  }

  async #ask(order: Order): Promise<Progress> {
    if (this.#hasExited) throw this.#died(order);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    // "close" comes after "exit", when all output of the process has been read.
    const closed = (): void => reject(this.#died(order));
    this.#process.once("close", closed);
    this.#process.once("message", resolve);
    this.#process.send(order, (error) => {
      if (error !== null && this.#hasExited) closed();
    });
    try {
      const answer = await promise;
      if (answer.outcome === "failed") throw new Error(`the clients failed: ${answer.problem}`);
      return answer.progress;
    } finally {
      this.#process.off("close", closed);
      this.#process.off("message", resolve);
    }
  }

  #died({ order }: Order): Error {
    const { exitCode, signalCode } = this.#process;
    const how = `ended with ${signalCode ?? exitCode}, noticed at "${order}"`;
    return new Error(`the clients' process ${how}. It had printed:\n${this.#printed}`);
  }

  async #exit(): Promise<void> {
    if (this.#hasExited) return;
    this.#process.kill();
    await once(this.#process, "exit");
  }

  get #hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
