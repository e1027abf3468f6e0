import { limits } from "../../src/limits.ts";

/**
 * Drives a channel object's rounds of collect, commit and settle (rules B6, O2; see src/README.md): carries out all
 * jobs that wait, waits for the commit, and calls the owner to send what the jobs published. Jobs that come during a
 * commit share the next round, because making a commit durable takes as long for a hundred publications as for one;
 * their subscribers get them in one frame. An idle object carries a job out as it comes.
 *
 * Publications are sent after the commit. They could be handed to the sockets before, because the output gate would
 * hold them back; but the answers would then come behind them, and a publisher would wait for the whole fan-out.
 */
export class CommitQueue {
  readonly #commits: Commits;
  #waiting: (() => void)[] = [];
  #waitingBytes = 0;
  #running = false;
  #committing = false;

  constructor(commits: Commits) {
    this.#commits = commits;
  }

  /**
   * Carries a job out in its turn.
   *
   * @param bytes what the job takes in memory until then, roughly
   * @param job   writes and publishes, synchronously; what it throws rejects its own promise, and touches no other job
   * @returns resolves as soon as the job was carried out: the output gate holds the answer back until the commit
   */
  add<Result>(bytes: number, job: () => Result): Promise<JobOutcome<Result>> {
    // A job is always taken if no other waits: its size was bounded before.
    const waitingBytes = this.#waitingBytes + bytes + jobBytes;
    if (this.#waiting.length > 0 && waitingBytes > limits.waitingBytesMax) {
      return Promise.resolve({ outcome: "overloaded", retryAfterSeconds: 1 });
    }
    const { promise, resolve, reject } = Promise.withResolvers<JobOutcome<Result>>();
    this.#waitingBytes = waitingBytes;
    this.#waiting.push(() => {
      try {
        resolve({ outcome: "done", result: job() });
      } catch (error) {
        reject(error);
      }
    });
    if (!this.#running) void this.#carryOut();
    return promise;
  }

  /** Whether a commit is under way; the queue settles after it. */
  get committing(): boolean {
    return this.#committing;
  }

  async #carryOut(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiting.length > 0) {
        const jobs = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        for (const job of jobs) job();
        this.#committing = true;
        await this.#commits.committed();
        this.#committing = false;
        this.#commits.settle();
      }
    } finally {
      this.#running = false;
      this.#committing = false;
    }
  }
}

/** The outcome of {@link CommitQueue.add}. */
export type JobOutcome<Result> =
  | { readonly outcome: "done"; readonly result: Result }
  /** Too much waits already: the job was not carried out, and never will be. */
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/** The memory of every job besides its own bytes. */
const jobBytes = 1_024;

/** The owner of the queue, which commits and settles. */
export interface Commits {
  /** Sends what the jobs have published since the last call; all of it is durable. */
  settle(): void;
  /** Resolves when everything written so far is durable. */
  committed(): Promise<void>;
}
