import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../support/random.ts";
import { ChangedSubscriber } from "../changes/changed-subscriber.ts";
import { TextSubscriber } from "../growth/text-subscriber.ts";
import { Recorder } from "../history/recorder.ts";
import type { Answer, Order, Progress } from "./order.ts";
import { BankCustomer } from "../bank/bank-customer.ts";
import { MapSubscriber } from "./map-subscriber.ts";
import { type ClientsPlan, checkPlan } from "./plan.ts";
import { PusherSubscriber } from "./pusher-subscriber.ts";
import { RawSubscriber } from "./raw/raw-subscriber.ts";
import { parseDeltaError } from "./recorded-client.ts";
import { ReadingSubscriber } from "./reading-subscriber.ts";
import { SdkSubscriber } from "./sdk-subscriber.ts";
import { type Subscriber, tickMs } from "./subscriber.ts";
import { ClientRecorder } from "./client-recorder.ts";

/** The process behind {@link Clients}: hundreds of subscribers, driven by one timer. */

class ClientProcess {
  readonly #recorder: ClientRecorder;
  readonly #subscribers: readonly Subscriber[];
  readonly #timer: NodeJS.Timeout;

  constructor(plan: ClientsPlan) {
    checkPlan(plan);
    const recorder = new ClientRecorder(new Recorder(plan.historyFile));
    const random = new Random(plan.seed);
    this.#recorder = recorder;
    this.#subscribers = plan.subscribers.map((traits) => {
      const own = new Random(random.between(0, 2 ** 31));
      switch (traits.kind) {
        case "raw":
          return new RawSubscriber(plan, traits, own, recorder);
        case "sdk":
          return new SdkSubscriber(plan, traits, own, recorder);
        case "reader": {
          const { reads = { user: "" } } = traits;
          return new ReadingSubscriber(plan, traits, reads, own, recorder);
        }
        case "customer":
          return new BankCustomer(plan, traits, own, recorder);
        case "changed":
          return new ChangedSubscriber(plan, traits, own, recorder);
        case "pusher":
          return new PusherSubscriber(plan, traits, recorder);
        case "map":
          return new MapSubscriber(plan, traits, own, recorder);
        case "text":
          return new TextSubscriber(plan, traits, own, recorder);
      }
    });
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      for (const subscriber of this.#subscribers) subscriber.tick(nowMs);
    }, tickMs);
  }

  /** Resolves when every subscriber has been subscribed once. Some leave and return from then on. */
  async start(): Promise<void> {
    for (const [index, subscriber] of this.#subscribers.entries()) {
      subscriber.start();
      if (index % atATime === 0) await pause(tickMs);
    }
    const away = new Set(this.#subscribers);
    await this.#until(() => {
      for (const one of away) if (one.subscribed === one.wanted) away.delete(one);
      return [...away];
    });
  }

  async settle(): Promise<void> {
    for (const subscriber of this.#subscribers) subscriber.settle();
    await this.#until(() =>
      this.#subscribers.filter(
        ({ subscribed, wanted, isPublishing }) => subscribed !== wanted || isPublishing,
      ),
    );
  }

  /** Resolves when all recorded events are on disk. */
  async end(): Promise<void> {
    const recorded = this.#recorder.end();
    clearInterval(this.#timer);
    for (const subscriber of this.#subscribers) subscriber.stop();
    await recorded;
  }

  progress(): Progress {
    const { deliveries, failures } = this.#recorder;
    const { user, system } = process.cpuUsage();
    return {
      deliveries,
      subscribed: sum(this.#subscribers.map(({ subscribed }) => subscribed)),
      wanted: sum(this.#subscribers.map(({ wanted }) => wanted)),
      failures,
      cpuMicroseconds: user + system,
    };
  }

  /** Resolves when nobody is missing any more. Throws when a subscriber failed, or after too long a time, and names who is. */
  async #until(missing: () => readonly Subscriber[]): Promise<void> {
    const endMs = performance.now() + replyTimeoutMs;
    for (;;) {
      if (this.#recorder.failures.length > 0) throw new Error(this.#recorder.failures.join("\n"));
      const others = missing();
      if (others.length === 0) return;
      if (performance.now() > endMs) {
        const names = others.map(({ process: name, subscribed, wanted }) => {
          return `${name} (${subscribed} of ${wanted} channels)`;
        });
        throw new Error(`after ${replyTimeoutMs / 1000} s not yet subscribed: ${names.join(", ")}`);
      }
      await pause(tickMs);
    }
  }
}

let clients: ClientProcess | undefined;

async function carryOut(order: Order): Promise<Progress> {
  if (order.order === "start") {
    clients = new ClientProcess(order.plan);
    await clients.start();
    return clients.progress();
  }
  if (clients === undefined) throw new Error(`no clients were started before "${order.order}"`);
  switch (order.order) {
    case "progress":
      break;
    case "settle":
      await clients.settle();
      break;
    case "end":
      await clients.end();
  }
  return clients.progress();
}

async function answer(order: Order): Promise<Answer> {
  try {
    return { outcome: "done", progress: await carryOut(order) };
  } catch (error) {
    return { outcome: "failed", problem: error instanceof Error ? error.message : String(error) };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** How many subscribers connect at once: not so many that a busy machine answers them too late, and they try again. */
const atATime = 8;
/** How long the subscribers have to become subscribed. */
const replyTimeoutMs = 240_000;

process.on("message", (order: Order) => {
  void answer(order).then((answered) => process.send?.(answered));
});
// The SDK lets such an error go unhandled; that of a client of texts is in the history.
process.on("unhandledRejection", (error) => {
  if (!parseDeltaError(error)) throw error;
});
// The parent process is gone.
process.on("disconnect", () => process.exit());
