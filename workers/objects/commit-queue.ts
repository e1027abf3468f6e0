import { limits } from "../../src/limits.ts";

/** What the queue's owner does for it. */
export interface Commits {
  /** Sends what the jobs carried out since the last time have published; all of it is durable. */
  settle(): void;
  /** Resolves when everything written so far is durable. */
  committed(): Promise<void>;
}

export type JobOutcome<Result> =
  | { readonly outcome: "done"; readonly result: Result }
  /** Too much waits already: the job was not carried out and never will be. */
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/**
 * Lets jobs that arrive while a commit is under way share the next one (rules B6, O2). Making a commit durable takes as
 * long for one publication as for a hundred, so an object under load does a hundred at a time, and its subscribers
 * get them in one frame. An idle object carries a job out as it comes.
 * What the jobs published is sent after the commit. It could be handed to the sockets before, for the platform would hold it
 * back until then; but the answers would come behind it, and a publisher would wait for the whole fan-out.
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
   * Carries the job out in its turn. Its answer waits for the commit by itself, so it may be given at once.
   *
   * @param bytes what the job holds in memory until then, roughly
   * @param job   writes and publishes, synchronously; what it throws is its own caller's misfortune and nobody else's
   */
  add<Result>(bytes: number, job: () => Result): Promise<JobOutcome<Result>> {
    // A job that finds nobody waiting is taken, whatever it weighs: its sender was bounded already.
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

  /** Whether a commit is under way, after which everything is settled. */
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

/** What any job takes, however little it brings. */
const jobBytes = 1_024;
