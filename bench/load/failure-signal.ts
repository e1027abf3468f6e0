/**
 * A failure of a socket at a time when nothing may be waiting for that socket. It ends the order that is being carried
 * out.
 */
export class FailureSignal {
  /** Changes with every answered post, which is a sign of progress. */
  answers = 0;
  #problem: string | undefined;
  #raised = Promise.withResolvers<never>();

  constructor() {
    this.forget();
  }

  /** Only the first problem counts; others often follow from it. */
  raise(problem: string): void {
    this.#problem ??= problem;
    this.#raised.reject(new Error(this.#problem));
  }

  /** Whether there was a failure. */
  get isRaised(): boolean {
    return this.#problem !== undefined;
  }

  /** Gives the result of the work, unless there is a failure before, or was one already. */
  during<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([this.#raised.promise, work]);
  }

  /** Resets the signal; the failed sockets are closed. */
  forget(): void {
    this.#problem = undefined;
    this.#raised = Promise.withResolvers<never>();
    // The next order gets the failure.
    this.#raised.promise.catch(() => undefined);
  }
}
