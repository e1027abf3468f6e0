import type { Thrown } from "../../../src/object/commit-queue.ts";
import type { Platform, PlatformSockets } from "../../../src/object/platform.ts";
import { Alarm } from "./alarm.ts";
import { Incarnation } from "./incarnation.ts";
import { SimulatedPlatform } from "./simulated-platform.ts";
import { Storage } from "./storage.ts";
import type { Done, WorldContext } from "./world-context.ts";

/** What a crash destroys. */
export interface Memory<Host> {
  readonly incarnation: Incarnation;
  readonly host: Host;
  readonly wokeAtMs: number;
}

/**
 * An object of the world: the real host in its memory, and what outlives that, which is the storage and the alarm. It
 * lends the host the platform, and does to it what the platform may do.
 */
export abstract class SimulatedObject<Host extends { alarm(done: () => void): void }> {
  /** Among all objects, as the network knows it. */
  readonly name: string;
  protected readonly context: WorldContext;
  protected readonly storage: Storage;
  readonly alarm: Alarm;
  #memory: Memory<Host> | undefined;
  /** Whether an alarm's work is under way. The platform repeats an alarm whose work didn't end. */
  #isRinging = false;
  #upAtMs = 0;
  /** The object crashes at its next commit: nothing that the commit causes leaves the object. */
  crashesAtCommit = false;
  /** The error of the clock of the object's machine, ms. */
  skewMs = 0;
  failedWrites = 0;
  /** How often the platform will fail to set the alarm. */
  #alarmsToFail = 0;
  /** Whether the last alarm that the object asked for wasn't set, and whether the object crashed before it asked again. */
  #lacksAlarm = false;
  #lostAlarm = false;
  failedAlarms = 0;
  /** How often the object has hibernated. */
  evictions = 0;

  constructor(name: string, context: WorldContext) {
    this.name = name;
    this.context = context;
    const { timeline } = context;
    const owner = {
      save: () => this.save(),
      committed: () => this.committed(),
      failed: () => {
        this.failedWrites++;
        timeline.after(brokenMs, () => {
          if (this.storage.broken) this.crash();
        });
      },
    };
    this.alarm = new Alarm(timeline, () => this.reach((memory) => this.#ring(memory)));
    this.storage = new Storage(timeline, owner, context.commits(name), context.database());
  }

  /** The object's name among those of its kind. */
  abstract readonly ownName: string;
  /** The sockets that clients have opened to it. */
  abstract readonly sockets: PlatformSockets;
  abstract newClient(): string;
  abstract newEpoch(): string;

  /** Makes the real host. */
  protected abstract newHost(platform: Platform): Host;

  /** The time by the object's clock, ms since 1970. */
  get nowMs(): number {
    return this.context.timeline.nowMs + this.skewMs;
  }

  /** Carries out a call, and answers once everything that it wrote is durable. */
  call<Answer>(
    work: (host: Host, done: (answer: Answer | Thrown) => void) => void,
    answer: Done<Answer>,
  ): void {
    this.reach(({ incarnation, host }) => {
      const over = incarnation.busy(() => answer(undefined));
      work(host, (result) => {
        if (isThrown(result)) {
          // The storage has failed, and the object is about to crash.
          if (!this.storage.broken) throw result.error;
          return;
        }
        this.storage.gate(() => {
          if (incarnation.over) return;
          over();
          answer(result);
        });
      });
    });
  }

  /** The memory is lost in the middle of all work. The object is available again a little later. */
  crash(): void {
    const { timeline } = this.context;
    this.#lostAlarm ||= this.#lacksAlarm;
    this.forget();
    this.storage.crash();
    this.#upAtMs = timeline.nowMs + downMs;
    if (this.#isRinging && this.alarm.time === undefined)
      this.alarm.set(this.nowMs + againMs, this.nowMs);
    this.#isRinging = false;
  }

  /** The memory is discarded, if nothing is in progress. @returns whether it was */
  evict(): boolean {
    const memory = this.#memory;
    const isIdle = memory?.incarnation.idle === true && this.storage.clean;
    if (!isIdle || memory.wokeAtMs === this.context.timeline.nowMs) return false;
    this.forget();
    this.evictions++;
    return true;
  }

  /** The write after so many others fails, and the object loses its memory; undefined: no write fails. */
  failAfter(writes: number | undefined): void {
    this.storage.failAfter(writes);
  }

  /** The platform fails to set the alarm the next so many times. */
  failAlarms(times: number): void {
    this.#alarmsToFail = times;
  }

  /** An object that crashed before it could set its alarm has its next event, whatever that is. */
  wakeWithoutAlarm(): void {
    if (this.#lostAlarm) this.reach((memory) => this.#ring(memory));
  }

  failsAlarm(): boolean {
    this.#lacksAlarm = this.#alarmsToFail > 0;
    if (!this.#lacksAlarm) return false;
    this.#alarmsToFail--;
    this.failedAlarms++;
    return true;
  }

  /** Returns the database. The world has ended. */
  end(): void {
    this.storage.close();
  }

  reach(work: (memory: Memory<Host>) => void): void {
    const { timeline } = this.context;
    if (timeline.nowMs < this.#upAtMs) {
      timeline.after(this.#upAtMs - timeline.nowMs, () => this.reach(work));
    } else this.guard(() => work(this.awake()));
  }

  /** After a failed write, any work may fail: the object is reset soon. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.storage.broken) throw error;
    }
  }

  gate(work: () => void): void {
    this.storage.gate(work);
  }

  protected awake(): Memory<Host> {
    if (this.#memory !== undefined) return this.#memory;
    const { timeline } = this.context;
    const incarnation = new Incarnation(timeline);
    const host = this.newHost(new SimulatedPlatform(this, incarnation, this.context));
    this.#memory = { incarnation, host, wokeAtMs: timeline.nowMs };
    return this.#memory;
  }

  protected forget(): void {
    this.#memory?.incarnation.end();
    this.#memory = undefined;
  }

  /** Gives what restores the state besides the rows when a write that isn't durable is undone. */
  protected save(): () => void {
    const { time } = this.alarm;
    return () => this.alarm.restore(time);
  }

  /** A batch of writes is durable. @returns false when the object crashes at this point */
  protected committed(): boolean {
    if (!this.crashesAtCommit) return true;
    this.crashesAtCommit = false;
    this.crash();
    return false;
  }

  #ring({ host, incarnation }: Memory<Host>): void {
    // If the object crashes before this work is durable, the alarm rings again.
    this.storage.write();
    this.alarm.restore(undefined);
    this.#isRinging = true;
    const over = incarnation.busy();
    host.alarm(() => {
      over();
      this.rang();
      this.storage.gate(() => {
        if (!incarnation.over) this.#isRinging = false;
      });
    });
  }

  /** The work of an alarm has ended. */
  protected rang(): void {
    // Most objects have nothing to check then.
  }

  /** What the real platform has of the object, and this one as well. */
  get database(): Storage {
    return this.storage;
  }
}

function isThrown(result: unknown): result is Thrown {
  return (
    typeof result === "object" &&
    result !== null &&
    "outcome" in result &&
    result.outcome === "threw"
  );
}

/** How long a crashed object is unavailable. */
const downMs = 20;
/** How long an object whose write failed goes on before it is reset. */
const brokenMs = 2;
/** How long the platform takes until it repeats an alarm. */
const againMs = 2_000;
