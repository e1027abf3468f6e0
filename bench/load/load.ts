import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Order, Report } from "./orders.ts";

/** The load generator in a process of its own, so that the bench doesn't disturb it. */
export class Load {
  static async start(): Promise<Load> {
    const started = fork(fileURLToPath(new URL("./load-process.ts", import.meta.url)));
    await once(started, "spawn");
    return new Load(started);
  }

  readonly #process: ChildProcess;

  private constructor(started: ChildProcess) {
    this.#process = started;
  }

  /** Rejects with the problem when the order failed; all sockets are closed then. One order at a time. */
  carryOut<Name extends Order["order"]>(
    order: Extract<Order, { order: Name }>,
  ): Promise<Extract<Report, { order: Name }>> {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<Report, { order: Name }>>();
    const exited = (): void => reject(new Error(`the load generator ended during ${order.order}`));
    this.#process.once("exit", exited);
    this.#process.once("message", (report: Report) => {
      this.#process.off("exit", exited);
      if (answers(report, order.order)) resolve(report);
      else reject(new Error(problemOf(report)));
    });
    this.#process.send(order);
    return promise;
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }
}

function answers<Name extends Order["order"]>(
  report: Report,
  name: Name,
): report is Extract<Report, { order: Name }> {
  return report.order === name;
}

function problemOf(report: Report): string {
  return report.order === "failed" ? report.problem : `an order was answered by ${report.order}`;
}
