import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../support/random.ts";
import type { EventTaken } from "../../checker/history-event.ts";
import { valueIn } from "../clients/value.ts";
import { microseconds, microsecondsAt } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import { type Outage, type ReceivedRequest, UnreliableServer } from "./unreliable-server.ts";

/**
 * The backend that the server tells what happens. It records what it takes. Some requests it refuses, and the answers to
 * some that it has taken get lost, so that the server sends them again.
 */
export class EventReceiver {
  readonly #server: UnreliableServer;
  readonly #random: Random;
  /** The number of the last event that was taken of each object. */
  readonly last = new Map<string, number>();
  #recorder: Recorder | undefined;
  #isSettled = false;
  #lastRequestMs = 0;

  /** @param secret signs the requests */
  static async start(secret: string, seed: number): Promise<EventReceiver> {
    return new EventReceiver(await UnreliableServer.start(secret), new Random(seed));
  }

  private constructor(server: UnreliableServer, random: Random) {
    this.#server = server;
    this.#random = random;
    server.respond = (request, response) => void this.#answer(request, response);
  }

  /** The address for the server's configuration. */
  get target(): string {
    return `${this.#server.address}/events`;
  }

  /** Failures that no server may cause, in sentences. */
  get failures(): readonly string[] {
    return this.#server.failures;
  }

  /** Records all events from now on. To be called before a client connects. */
  recordTo(recorder: Recorder): void {
    this.#recorder = recorder;
  }

  /** From here on every request is taken and answered. */
  settle(): void {
    this.#isSettled = true;
  }

  /** From here on the server's clock is ahead, and so are the times in its signatures. */
  ignoreTimes(): void {
    this.#server.checksSignatures = false;
  }

  /** Resolves when no request has come for a while. */
  async quiet(): Promise<void> {
    const endMs = performance.now() + quietMsMax;
    this.#lastRequestMs = performance.now();
    while (performance.now() < Math.min(endMs, this.#lastRequestMs + quietMs)) await pause(100);
  }

  /** Is out of order until the promise resolves. @returns false if it already was */
  breakUntil(outage: Outage, over: Promise<unknown>): Promise<boolean> {
    return this.#isSettled ? Promise.resolve(false) : this.#server.breakUntil(outage, over);
  }

  close(): Promise<void> {
    this.#recorder = undefined;
    return this.#server.close();
  }

  async #answer({ body }: ReceivedRequest, response: ServerResponse): Promise<void> {
    this.#lastRequestMs = performance.now();
    const roll = this.#isSettled ? 1 : this.#random.next();
    if (roll < refusedShare) {
      response.writeHead(this.#random.pick([400, 404, 429, 500, 503])).end();
      return;
    }
    if (roll > 1 - slowShare) await pause(this.#random.between(10, 500));
    this.#take(body);
    if (roll < refusedShare + lostShare) response.destroy();
    else response.writeHead(this.#random.pick([200, 202, 204])).end();
  }

  #take(body: string): void {
    const { events }: { readonly events: readonly SentEvent[] } = JSON.parse(body);
    const time = microseconds();
    for (const { type, data, time: sentMs, ...event } of events) {
      const { object, number, first, channel, user, client, offset, epoch, from, to, count } =
        event;
      this.last.set(object, Math.max(number, this.last.get(object) ?? 0));
      const at = type === "unseen" || type === "seen" ? microsecondsAt(sentMs) : undefined;
      const about = { first, channel, user, client, offset, epoch, from, to, count, at };
      const value = data === undefined ? {} : { value: valueIn(data) };
      const common = { time, process: "events", type: "ok", f: "event" } as const;
      // Absent fields are left out of the line.
      this.#recorder?.record({
        ...common,
        object,
        number,
        event: type,
        ...present(about),
        ...value,
      });
    }
  }
}

/** An event as it is sent, as far as it is recorded. */
interface SentEvent extends Omit<EventTaken, "type" | "event" | "value" | "f" | "process" | "at"> {
  readonly type: string;
  /** When it happened, ms since 1970. */
  readonly time: number;
  readonly data?: unknown;
}

type Optional =
  | "first"
  | "channel"
  | "user"
  | "client"
  | "offset"
  | "epoch"
  | "from"
  | "to"
  | "count"
  | "at";

/** The fields that aren't undefined. */
function present(
  about: Readonly<Record<Optional, EventTaken[Optional]>>,
): Partial<Pick<EventTaken, Optional>> {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

const refusedShare = 0.03;
/** The share of requests that are taken, and whose answer is lost. */
const lostShare = 0.03;
const slowShare = 0.05;
/** Batches of one object are a second apart. */
const quietMs = 1_300;
const quietMsMax = 40_000;
