import type { Channel } from "../../../src/channel/channel.ts";
import { CommitSharing } from "../../../src/channel/commit-sharing.ts";
import { type Incarnation, NextTimer } from "./incarnation.ts";

/** The work of one turn. */
export interface Job {
  /** Whether it publishes: then it waits while too much is collected to be sent (rule F6), and for others (rule F7). */
  readonly publishes: boolean;
  readonly work: () => void;
  /** Called when all jobs of the same turn are done. */
  readonly after: () => void;
}

/** The object that owns the turns. */
export interface TurnsOwner {
  /** Does work that may fail with the storage. */
  guard(work: () => void): void;
  /** Sends what the jobs of a turn caused, unless a commit is in progress. */
  settle(): void;
  /** Does work once everything written so far is durable. */
  gate(work: () => void): void;
  /** The time by the object's clock, ms since 1970. */
  nowMs(): number;
}

/** Jobs that arrive during a commit share the next one, as in the real objects (rule B6). */
export class CommitTurns {
  readonly #incarnation: Incarnation;
  readonly #owner: TurnsOwner;
  readonly #channel: Channel;
  readonly #sharing: CommitSharing;
  readonly #timer: NextTimer;
  #waiting: WaitingJob[] = [];
  #committingPublishes = 0;
  #isWaitOver = false;
  #committing = false;

  constructor(incarnation: Incarnation, channel: Channel, owner: TurnsOwner) {
    this.#incarnation = incarnation;
    this.#channel = channel;
    this.#sharing = new CommitSharing(channel);
    this.#owner = owner;
    this.#timer = new NextTimer(incarnation, () => {
      this.#isWaitOver = true;
      this.resume();
    });
  }

  add(job: Job): void {
    this.#waiting.push({ ...job, addedAtMs: this.#owner.nowMs() });
    if (job.publishes) this.#sharing.came(this.#publishes.length + this.#committingPublishes);
    this.resume();
  }

  /** Carries out the jobs that may be carried out now. */
  resume(): void {
    if (!this.#committing) this.#carryOut();
  }

  /** Whether a commit is in progress, after which everything is settled. */
  get committing(): boolean {
    return this.#committing;
  }

  get #publishes(): readonly WaitingJob[] {
    return this.#waiting.filter(({ publishes }) => publishes);
  }

  /** Whether nothing waits but publishes, which wait for others (rule F7). Then a timer ends the wait. */
  #waitsForOthers(): boolean {
    const [first] = this.#waiting;
    const { length } = this.#publishes;
    if (first === undefined || length < this.#waiting.length) return false;
    const waitedMs = this.#isWaitOver
      ? Number.POSITIVE_INFINITY
      : this.#owner.nowMs() - first.addedAtMs;
    const waitMs = this.#sharing.waitMs(length, waitedMs);
    this.#timer.set(waitMs === 0 ? undefined : waitMs);
    return waitMs > 0;
  }

  #carryOut(): void {
    const { hub, relay } = this.#channel;
    const isFull = hub.full || relay.full(this.#owner.nowMs());
    const holds = isFull || this.#waitsForOthers();
    const jobs = this.#waiting.filter(({ publishes }) => !(holds && publishes));
    this.#waiting = this.#waiting.filter(({ publishes }) => holds && publishes);
    this.#committing = jobs.length > 0;
    if (!holds) this.#isWaitOver = false;
    this.#committingPublishes = jobs.filter(({ publishes }) => publishes).length;
    if (jobs.length === 0) return;
    for (const { work } of jobs) this.#owner.guard(work);
    // Nothing is sent yet, but the alarm for a crash from here on is set (rule L4).
    this.#owner.settle();
    for (const { after } of jobs) after();
    const done = this.#incarnation.busy();
    this.#owner.gate(() => {
      done();
      if (this.#incarnation.over) return;
      this.#committing = false;
      this.#owner.guard(() => this.#owner.settle());
      this.#owner.guard(() => this.#carryOut());
    });
  }
}

interface WaitingJob extends Job {
  readonly addedAtMs: number;
}
