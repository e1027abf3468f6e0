import { type AskedCall, isPublishing } from "../contract/channel-call.ts";
import type { CommitSharing } from "../channel/commit-sharing.ts";
import { limits } from "../limits.ts";

/**
 * Drives a channel object's rounds of collect, commit and settle (rules B6, O2; see src/README.md). A round carries out
 * all waiting jobs, waits for the commit, and calls the owner to send what the jobs published. Jobs that come during a
 * commit share the next round, because a commit takes as long for a hundred publications as for one. Subscribers get
 * these publications in one frame. An idle object carries out a job at once.
 *
 * Publishes wait while too much is collected behind a frame on its way (rules F6 and F9), and for each other (rule F7).
 * Other jobs don't wait for these.
 *
 * Publications are sent after the commit. The output gate would allow to hand them to the sockets before. But then the
 * answers would leave behind them, and a publisher would wait for the whole fan-out.
 */
export class CommitQueue {
  readonly #commits: Commits;
  readonly #sharing: CommitSharing;
  #waiting: Job[] = [];
  #waitingBytes = 0;
  #waitingPublishes = 0;
  /** The publishes whose commit is under way. */
  #committingPublishes = 0;
  /** Whether a timer is set that ends the wait of publishes for others, and whether it has. */
  #wait: "none" | "timed" | "over" = "none";
  /** Whether a round is under way. */
  #running = false;
  #committing = false;
  #jobAddedAtMs: number | undefined;

  constructor(commits: Commits, sharing: CommitSharing) {
    this.#commits = commits;
    this.#sharing = sharing;
  }

  /**
   * Carries a job out in its turn.
   *
   * @param kind  publish: while too much is collected to be sent, the job waits and other jobs go first (rule F6)
   * @param bytes what the job takes in memory until then, roughly
   * @param job   writes and publishes; what it throws touches no other job
   * @param done  called once, as soon as all jobs of the round were carried out: the platform holds an answer back until
   *              the commit (rule O7)
   */
  enqueue<Result>(
    kind: Job["kind"],
    bytes: number,
    job: () => Result,
    done: (outcome: JobOutcome<Result>) => void,
  ): void {
    // A job is always taken if no other waits: its size was bounded before.
    const waitingBytes = this.#waitingBytes + bytes + jobBytes;
    if (this.#waiting.length > 0 && waitingBytes > limits.waitingBytesMax) {
      done({ outcome: "overloaded", retryAfterSeconds: 1 });
      return;
    }
    this.#waitingBytes = waitingBytes;
    const carryOut = (): (() => void) => {
      const outcome = outcomeOf(job);
      return () => done(outcome);
    };
    const addedAtMs = this.#commits.nowMs();
    this.#waiting.push({ kind, bytes: bytes + jobBytes, addedAtMs, carryOut });
    if (kind === "publish")
      this.#sharing.came(++this.#waitingPublishes + this.#committingPublishes);
    this.resume();
  }

  /** Carries out the jobs that wait, as far as they may be carried out now. To be called when there is room again. */
  resume(): void {
    if (!this.#running && this.#waiting.length > 0) this.#beginRound();
  }

  /** Ends the wait of publishes for others, whatever the clock says by now. To be called by the timer (rule F7). */
  waited(): void {
    this.#wait = "over";
    this.resume();
  }

  /** Whether a commit is under way; the queue settles after it. */
  get committing(): boolean {
    return this.#committing;
  }

  /** What the jobs that wait take in memory, roughly. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** When the job that is being carried out was enqueued, ms since 1970; undefined outside of a job. */
  get jobAddedAtMs(): number | undefined {
    return this.#jobAddedAtMs;
  }

  /** Whether the publishes that wait go on waiting for others (rule F7). A timer ends the wait. */
  #waitForOthers(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    const isOver = this.#wait === "over";
    const waitedMs = isOver
      ? Number.POSITIVE_INFINITY
      : Math.abs(this.#commits.nowMs() - first.addedAtMs);
    const waitMs = this.#sharing.waitMs(this.#waitingPublishes, waitedMs);
    if (waitMs === 0) return false;
    this.#wait = "timed";
    this.#commits.wait(waitMs);
    return true;
  }

  /** Begins a round, unless none of the jobs may be carried out. */
  #beginRound(): void {
    const jobs = this.#take();
    if (jobs.length === 0) return;
    this.#running = true;
    const answers = jobs.map(({ addedAtMs, carryOut }) => {
      this.#jobAddedAtMs = addedAtMs;
      return carryOut();
    });
    this.#jobAddedAtMs = undefined;
    this.#committing = true;
    for (const answer of answers) this.#commits.guard(answer);
    this.#commits.commit((isDurable) => {
      this.#committing = false;
      if (isDurable) this.#commits.guard(() => this.#commits.settle());
      this.#running = false;
      this.#committingPublishes = 0;
      this.resume();
    });
  }

  /** The jobs of the next round; none if none waits, or if all that wait have to go on waiting. */
  #take(): readonly Job[] {
    const all = this.#waiting;
    const holdsPublishes = this.#commits.full();
    const onlyPublishes = all.length === this.#waitingPublishes;
    // Thousands of publishes may wait, and they aren't looked through for each that is added.
    if (onlyPublishes && (holdsPublishes || this.#waitForOthers())) {
      this.#committingPublishes = 0;
      return [];
    }
    if (!holdsPublishes && this.#wait !== "none") {
      this.#commits.wait(undefined);
      this.#wait = "none";
    }
    this.#committingPublishes = holdsPublishes ? 0 : this.#waitingPublishes;
    this.#waiting = holdsPublishes ? all.filter(({ kind }) => kind === "publish") : [];
    this.#waitingBytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#waitingPublishes = this.#waiting.length;
    return holdsPublishes ? all.filter(({ kind }) => kind !== "publish") : all;
  }
}

/** A job that waits. */
interface Job {
  readonly kind: "publish" | "other";
  readonly bytes: number;
  readonly addedAtMs: number;
  /** Gives the work that answers, for the end of the round. */
  readonly carryOut: () => () => void;
}

function outcomeOf<Result>(job: () => Result): JobOutcome<Result> {
  try {
    return { outcome: "done", result: job() };
  } catch (error) {
    return { outcome: "threw", error: error instanceof Error ? error : new Error("unnamed") };
  }
}

/** The outcome of {@link CommitQueue.enqueue}. */
export type JobOutcome<Result> =
  | { readonly outcome: "done"; readonly result: Result }
  | Overloaded
  | Thrown;

/** The storage failed, or a bug was met. What the job wrote before is committed. */
export interface Thrown {
  readonly outcome: "threw";
  readonly error: Error;
}

/** Too much waits already: the job was not carried out, and never will be. */
export interface Overloaded {
  readonly outcome: "overloaded";
  readonly retryAfterSeconds: number;
}

/** The memory of every job besides its own bytes. */
const jobBytes = 1_024;

/** The owner of the queue, which commits and settles. */
export interface Commits {
  /** Sends what the jobs have published since the last call; all of it is durable. */
  settle(): void;
  /** Calls back when everything written so far is durable; with false if it never will be. */
  commit(done: (isDurable: boolean) => void): void;
  /** As `Platform.guard`. */
  guard(work: () => void): void;
  nowMs(): number;
  /** Whether so much is collected to be sent that publishers have to wait. */
  full(): boolean;
  /** Calls {@link CommitQueue.waited} in so many ms from now; undefined: no more. */
  wait(waitMs: number | undefined): void;
}

/** The kind of job that a call to a channel's object makes: one with a publish may have to wait (rule F6). */
export function kindOf(commands: readonly AskedCall[]): "publish" | "other" {
  return commands.some(isPublishing) ? "publish" : "other";
}
