import type { Incarnation } from "./incarnation.ts";

/** What an object does in one turn. */
export interface Job {
  readonly work: () => void;
  /** Is done when all jobs of the same turn were. */
  readonly after: () => void;
}

/** The object around the turns. */
export interface TurnsOwner {
  /** Does something that may fail with the storage. */
  guard(work: () => void): void;
  /** Sends what the jobs of a turn caused, unless a commit is under way. */
  settle(): void;
  /** Does something once everything written so far is durable. */
  gate(work: () => void): void;
}

/** Lets jobs that arrive while a commit is under way share the next one, as the real objects do (rule B6). */
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
    if (!this.#committing) this.#carryOut();
  }

  /** Whether a commit is under way, after which everything is settled. */
  get committing(): boolean {
    return this.#committing;
  }

  #carryOut(): void {
    const jobs = this.#waiting;
    this.#waiting = [];
    this.#committing = jobs.length > 0;
    if (jobs.length === 0) return;
    for (const { work } of jobs) this.#owner.guard(work);
    // Nothing is sent yet, but the alarm is set that a crash from here on needs (rule L4).
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
