/** The process behind {@link ClientGroup}: it carries out one order after the other, and answers each with a report. */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";

/** An order to the group. */
export type Order =
  | {
      readonly order: "open";
      readonly address: string;
      readonly channel: string;
      readonly count: number;
    }
  | { readonly order: "reach"; readonly offset: number }
  | { readonly order: "leave"; readonly count: number }
  | { readonly order: "cut" }
  | { readonly order: "comeBack"; readonly address: string; readonly channel: string };

/** The state of the group. */
export interface GroupReport {
  /** How many are there. */
  readonly members: number;
  /** How often a socket was refused with 503, and asked for again. */
  readonly refusals: number;
  /** How many of those that are there, or were cut, recovered when they came last. */
  readonly recovered: number;
  /** The received publications as offsets with data, and how many members received exactly these. */
  readonly histories: readonly { readonly history: string; readonly members: number }[];
}

interface Publication {
  readonly offset?: number;
  readonly data: number | string;
}

interface Line {
  readonly id?: number;
  readonly error?: { readonly code: number };
  readonly subscribe?: {
    readonly epoch: string;
    readonly offset?: number;
    readonly recovered?: boolean;
    readonly publications?: readonly Publication[];
  };
  readonly push?: { readonly pub?: Publication };
}

class Member {
  readonly received: string[] = [];
  recovered = false;
  /** Of the newest publication that it received, or the top when it subscribed. */
  offset = 0;
  #socket: WebSocket | undefined;
  #epoch = "";

  /** @returns whether the member is subscribed; false when the socket was refused */
  async subscribe(address: string, channel: string): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const socket = new WebSocket(address, { perMessageDeflate: false });
    socket.once("open", () => {
      const position = { recover: true, offset: this.offset, epoch: this.#epoch };
      const subscribe = { channel, ...(this.#epoch === "" ? {} : position) };
      socket.send(`{"id":1,"connect":{}}\n${JSON.stringify({ id: 2, subscribe })}`);
    });
    socket.on("message", (frame: Buffer) => {
      for (const text of frame.toString().split("\n")) {
        if (text === "{}") socket.send("{}");
        else if (this.#take(JSON.parse(text))) resolve(true);
      }
    });
    socket.once("error", (error) => {
      if (error.message.includes("503")) resolve(false);
      else reject(error);
    });
    socket.once("close", (code) => {
      if (this.#socket === socket) fail(`a socket was closed with ${code}`);
    });
    this.#socket = socket;
    return promise;
  }

  leave(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.once("close", () => resolve());
    socket?.close();
    return promise;
  }

  cut(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.terminate();
  }

  /** @returns whether the line was the answer to the subscribe */
  #take({ error, subscribe, push }: Line): boolean {
    if (error !== undefined) fail(`a command was answered ${error.code}`);
    if (push?.pub !== undefined) this.#hear(push.pub);
    if (subscribe === undefined) return false;
    this.#epoch = subscribe.epoch;
    this.offset = subscribe.offset ?? 0;
    this.recovered = subscribe.recovered === true;
    for (const publication of subscribe.publications ?? []) this.#hear(publication);
    return true;
  }

  #hear({ offset = 0, data }: Publication): void {
    this.offset = offset;
    this.received.push(`${offset}:${data}`);
    progressed();
  }
}

const members: Member[] = [];
let refusals = 0;
/** Called whenever a member received a publication. */
let progressed = (): void => undefined;

/** Subscribes all members, a few at a time; a refused member tries again. */
async function subscribeAll(
  all: readonly Member[],
  address: string,
  channel: string,
): Promise<void> {
  const waiting = [...all];
  const one = async (): Promise<void> => {
    for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
      while (!(await member.subscribe(address, channel))) refusals++;
    }
  };
  await Promise.all(Array.from({ length: atATime }, one));
}

const atATime = 64;
/**
 * Thousands of sockets that end in one instant all wait for the lock of the runtime's only thread, which wakes every
 * one of them whenever it is free: that takes it up to a minute. It keeps pace when they end within a few seconds.
 */
const cutPauseMs = 50;

async function carryOut(order: Order): Promise<void> {
  switch (order.order) {
    case "open": {
      const newcomers = Array.from({ length: order.count }, () => new Member());
      members.push(...newcomers);
      await subscribeAll(newcomers, order.address, order.channel);
      return;
    }
    case "reach": {
      const behind = new Set(members);
      await new Promise<void>((resolve) => {
        progressed = () => {
          for (const member of behind) {
            if (member.offset < order.offset) return;
            behind.delete(member);
          }
          resolve();
        };
        progressed();
      });
      return;
    }
    case "leave":
      await Promise.all(members.splice(0, order.count).map((member) => member.leave()));
      return;
    case "cut":
      for (const [index, member] of members.entries()) {
        member.cut();
        if (index % atATime === 0) await pause(cutPauseMs);
      }
      return;
    case "comeBack":
      await subscribeAll(members, order.address, order.channel);
  }
}

function report(): GroupReport {
  const counts = new Map<string, number>();
  for (const { received } of members) {
    const history = received.join(" ");
    counts.set(history, (counts.get(history) ?? 0) + 1);
  }
  return {
    members: members.length,
    refusals,
    recovered: members.filter(({ recovered }) => recovered).length,
    histories: [...counts].map(([history, count]) => ({ history, members: count })),
  };
}

function fail(problem: string): never {
  console.error(problem);
  process.exit(1);
}

process.on("message", (order: Order) => {
  void carryOut(order).then(() => process.send?.(report()));
});
// The parent process is gone.
process.on("disconnect", () => process.exit());
