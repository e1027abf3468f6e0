import type {
  CarriedOut,
  NumberedOrder,
  Ordered,
  Registered,
  UserOrder,
} from "../../../src/contract/user-order.ts";
import { parseNodeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { type OrderDelivery, Home } from "../../../src/users/home.ts";
import { Alarm } from "./alarm.ts";
import { Incarnation } from "./incarnation.ts";
import { Storage } from "./storage.ts";
import type { Done, HolderCalls, HomeCalls, WorldContext } from "./world-context.ts";

/** The state that a crash destroys. */
interface Memory {
  readonly incarnation: Incarnation;
  readonly home: Home;
  readonly wokeAtMs: number;
  /** Whether the alarm's work is under way. The platform repeats an alarm whose work didn't end. */
  isRinging: boolean;
}

/** A simulated home of users: storage and an alarm that outlive its memory, and the real `Home` in the memory. */
export class HomeHost implements HomeCalls {
  /** Such as `home 59`. */
  readonly name: string;
  readonly #context: WorldContext;
  readonly #storage: Storage;
  readonly #alarm: Alarm;
  #memory: Memory | undefined;
  /** For each batch of writes that isn't durable yet: whom to tell once it is, also if the object crashes just then. */
  #takings: (() => void)[][] = [];
  #upAtMs = 0;
  /** The object crashes at its next commit: nothing that the commit causes leaves the object. */
  crashesAtCommit = false;
  failedWrites = 0;

  constructor(name: string, context: WorldContext) {
    this.name = name;
    this.#context = context;
    const { timeline } = context;
    const owner = {
      save: () => this.#save(),
      committed: () => this.#committed(),
      failed: () => {
        this.failedWrites++;
        timeline.after(brokenMs, () => {
          if (this.#storage.broken) this.crash();
        });
      },
    };
    this.#alarm = new Alarm(timeline, () => this.#reach((memory) => this.#runAlarm(memory)));
    this.#storage = new Storage(timeline, owner, context.commits(name), context.database());
  }

  /** Whether orders are kept that not all objects have carried out. */
  get keepsOrders(): boolean {
    return this.#awake().home.ordersDueAtMs(this.#nowMs) !== Number.POSITIVE_INFINITY;
  }

  register(holder: string, users: readonly string[], answer: Done<Registered>): void {
    this.#reach(({ home, incarnation }) => {
      const done = incarnation.busy(() => answer(undefined));
      const registered = home.register(holder, users, this.#nowMs);
      this.#storage.gate(() => {
        if (incarnation.over) return;
        done();
        answer(registered);
      });
    });
  }

  order(user: string, order: UserOrder, taken: () => void, answer: Done<Ordered>): void {
    this.#reach((memory) => {
      const { home, incarnation } = memory;
      const done = incarnation.busy(() => answer(undefined));
      const respond = (ordered: () => Ordered): void => {
        const response = ordered();
        this.#storage.gate(() => {
          if (incarnation.over) return;
          done();
          answer(response);
        });
      };
      const { nowMs } = this.#context.timeline;
      const ordered = home.order(user, [order], nowMs);
      if (ordered.outcome === "full") {
        respond(() => ({ outcome: "overloaded", retryAfterSeconds }));
        return;
      }
      if (ordered.outcome === "limit-exceeded") {
        respond(() => ordered);
        return;
      }
      if (this.#storage.clean) taken();
      else this.#takings.at(-1)?.push(taken);
      const { numbers, deliveries } = ordered;
      const outcome = (): Ordered =>
        home.isDone(numbers) ? { outcome: "done" } : { outcome: "pending", retryAfterSeconds };
      if (deliveries.length > 0) {
        this.#setAlarm(home.ordersDueAtMs(nowMs));
        this.#insistOnAll(memory, deliveries, () => respond(outcome));
      } else respond(outcome);
    });
  }

  /** The memory is lost in the middle of all work. The object is available again a little later. */
  crash(): void {
    const { timeline } = this.#context;
    const wasRinging = this.#memory?.isRinging === true;
    this.#memory?.incarnation.end();
    this.#memory = undefined;
    this.#storage.crash();
    this.#upAtMs = timeline.nowMs + downMs;
    if (wasRinging && this.#alarm.time === undefined)
      this.#alarm.set(timeline.nowMs + againMs, timeline.nowMs);
  }

  /** The memory is discarded, if nothing is in progress. */
  evict(): void {
    const memory = this.#memory;
    const isIdle = memory?.incarnation.idle === true && this.#storage.clean;
    if (!isIdle || memory.wokeAtMs === this.#nowMs) return;
    memory.incarnation.end();
    this.#memory = undefined;
  }

  /** The write after so many others fails, and the object loses its memory; undefined: no write fails. */
  failAfter(writes: number | undefined): void {
    this.#storage.failAfter(writes);
  }

  /** Returns the database. The world has ended. */
  end(): void {
    this.#storage.close();
  }

  get #nowMs(): number {
    return this.#context.timeline.nowMs;
  }

  #reach(work: (memory: Memory) => void): void {
    const { timeline } = this.#context;
    if (timeline.nowMs < this.#upAtMs) {
      timeline.after(this.#upAtMs - timeline.nowMs, () => this.#reach(work));
    } else this.#guard(() => work(this.#awake()));
  }

  /** After a failed write, any work may fail: the object is reset soon. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.#storage.broken) throw error;
    }
  }

  #awake(): Memory {
    this.#memory ??= {
      incarnation: new Incarnation(this.#context.timeline),
      home: new Home(this.#storage),
      wokeAtMs: this.#nowMs,
      isRinging: false,
    };
    return this.#memory;
  }

  /** Restores the state besides the rows when a write that isn't durable is undone. */
  #save(): () => void {
    const alarm = this.#alarm.time;
    const takings: (() => void)[] = [];
    this.#takings.push(takings);
    return () => {
      this.#alarm.restore(alarm);
      this.#takings = this.#takings.filter((each) => each !== takings);
    };
  }

  #committed(): boolean {
    for (const taken of this.#takings.shift() ?? []) taken();
    if (!this.crashesAtCommit) return true;
    this.crashesAtCommit = false;
    this.crash();
    return false;
  }

  #setAlarm(dueMs: number): void {
    if (dueMs === Number.POSITIVE_INFINITY || this.#alarm.covers(dueMs)) return;
    this.#storage.write();
    this.#alarm.set(dueMs, this.#nowMs);
  }

  #runAlarm(memory: Memory): void {
    const { home, incarnation } = memory;
    this.#storage.write();
    this.#alarm.restore(undefined);
    memory.isRinging = true;
    const done = incarnation.busy();
    const deliveries = home.deliveries();
    let missing = deliveries.length + 1;
    const ended = (): void => {
      missing--;
      if (missing > 0) return;
      done();
      this.#guard(() => {
        this.#setAlarm(home.ordersDueAtMs(this.#nowMs));
        this.#storage.gate(() => {
          memory.isRinging = false;
        });
      });
    };
    for (const delivery of deliveries) this.#deliver(memory, delivery, ended);
    ended();
  }

  /** Makes deliveries until all have succeeded or the backend has waited for long enough; calls `ended` once. */
  #insistOnAll(memory: Memory, deliveries: readonly OrderDelivery[], ended: () => void): void {
    const endsAtMs = this.#nowMs + limits.orderAnswerMs;
    let missing = deliveries.length;
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      this.#guard(ended);
    };
    const timer = memory.incarnation.after(limits.orderAnswerMs, finish);
    for (const delivery of deliveries) {
      this.#insist(memory, delivery, endsAtMs, limits.orderRetryMs, () => {
        missing--;
        if (missing === 0) finish();
      });
    }
  }

  #insist(
    memory: Memory,
    delivery: OrderDelivery,
    endsAtMs: number,
    pauseMs: number,
    ended: () => void,
  ): void {
    const proceed = (nextPauseMs: number): void => {
      const next = memory.home.again(delivery);
      if (next === undefined) ended();
      else this.#insist(memory, next, endsAtMs, nextPauseMs, ended);
    };
    this.#deliver(memory, delivery, (isCarriedOut) => {
      if (isCarriedOut) proceed(pauseMs);
      else if (this.#nowMs + pauseMs >= endsAtMs) ended();
      else memory.incarnation.after(pauseMs, () => this.#guard(() => proceed(pauseMs * 2)));
    });
  }

  /** Makes a delivery once. */
  #deliver(
    { home, incarnation }: Memory,
    delivery: OrderDelivery,
    ended: (isCarriedOut: boolean) => void,
  ): void {
    const { holder, user, orders } = delivery;
    this.#context.network.call<readonly NumberedOrder[], CarriedOut>({
      kind: "carry out",
      from: this.name,
      to: parseNodeName(holder)?.name ?? "nobody",
      request: orders,
      incarnation,
      gate: (work) => this.#storage.gate(work),
      waitMs: limits.objectAnswerMs,
      carryOut: (sent, answer) => this.#holder(holder).carryOut(user, sent, answer),
      answered: (answer) => {
        this.#guard(() => {
          home.answered(delivery, answer);
          ended(answer !== undefined && answer.failed !== true);
        });
      },
    });
  }

  #holder(node: string): HolderCalls {
    const parsed = parseNodeName(node);
    if (parsed === undefined) throw new Error(`${node} is no object's name`);
    const { kind, name } = parsed;
    return kind === "channel" ? this.#context.channel(name) : this.#context.gateway(name);
  }
}

/** The seconds after which the backend may ask again. The simulated backend reads no more than that there is one. */
const retryAfterSeconds = 5;
/** How long a crashed object is unavailable. */
const downMs = 20;
/** How long an object whose write failed goes on before it is reset. */
const brokenMs = 2;
/** How soon the platform repeats an alarm whose work didn't end. */
const againMs = 2_000;
