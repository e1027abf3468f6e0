import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { GroupReport, Order } from "./client-group-process.ts";

/**
 * Thousands of subscribers of one channel, in a process of their own: their file descriptors count separately from the
 * runtime's and the test's, and reading their frames doesn't delay the test. No member has a token.
 */
export class ClientGroup {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(fileURLToPath(new URL("./client-group-process.ts", import.meta.url)));
  }

  /** Lets so many more come, in the order of their places. Resolves when all of them are subscribed. */
  open(address: string, channel: string, count: number): Promise<GroupReport> {
    return this.#carryOut({ order: "open", address, channel, count });
  }

  /** Resolves when every member has received the publication with this offset. */
  received(offset: number): Promise<GroupReport> {
    return this.#carryOut({ order: "reach", offset });
  }

  /** Closes the sockets of the first so many members. Resolves when the server has closed all of them. */
  leave(count: number): Promise<GroupReport> {
    return this.#carryOut({ order: "leave", count });
  }

  /** Cuts all connections without a goodbye, thousands within a few seconds. */
  cut(): Promise<GroupReport> {
    return this.#carryOut({ order: "cut" });
  }

  /** Reconnects all members that were cut, with recovery. Resolves when all of them are subscribed again. */
  reconnect(address: string, channel: string): Promise<GroupReport> {
    return this.#carryOut({ order: "comeBack", address, channel });
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, "exit");
  }

  /** Rejects when the process ends instead of answering; it has printed the reason. */
  #carryOut(order: Order): Promise<GroupReport> {
    const { promise, resolve, reject } = Promise.withResolvers<GroupReport>();
    const exited = (): void => reject(new Error(`the crowd ended during ${order.order}`));
    this.#process.once("exit", exited);
    this.#process.once("message", (report: GroupReport) => {
      this.#process.off("exit", exited);
      resolve(report);
    });
    this.#process.send(order);
    return promise;
  }
}

/**
 * Checks that a process may have so many file descriptors, and throws with advice if not. The runtime takes two for
 * each socket.
 */
export function needDescriptors(count: number): void {
  const limit = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
  if (limit === "unlimited" || Number(limit) >= count) return;
  throw new Error(
    `This test needs ${count} file descriptors a process, and only ${limit} are allowed: raise that with ulimit -n ${count}`,
  );
}
