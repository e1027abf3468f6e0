import type { Incarnation } from "./incarnation.ts";

/** The work of one turn. */
export interface Job {
  /** Whether it publishes: then it waits while too much is collected to be sent (rule F6). */
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
  /** Whether so much is collected to be sent that publishers have to wait. */
  full(): boolean;
  /** Does work once everything written so far is durable. */
  gate(work: () => void): void;
}

/** Jobs that arrive during a commit share the next one, as in the real objects (rule B6). */
export class CommitTurns {
  readonly #incarnation: Incarnation;
  readonly #owner: TurnsOwner;
  #waiting: Job[] = [];
  #committing = false;

  constructor(incarnation: Incarnation, owner: TurnsOwner) {
    this.#incarnation = incarnation;
    this.#owner = owner;
  }

  add(job: Job): void {
    this.#waiting.push(job);
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

  #carryOut(): void {
    const full = this.#owner.full();
    const jobs = this.#waiting.filter(({ publishes }) => !(full && publishes));
    this.#waiting = this.#waiting.filter(({ publishes }) => full && publishes);
    this.#committing = jobs.length > 0;
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
