/** What went wrong at the sockets, while nobody may have been waiting for it: it ends the order that is carried out. */
export class FailureSignal {
  /** Changes with every post that is answered: a sign that all is well. */
  answers = 0;
  #problem: string | undefined;
  #raised = Promise.withResolvers<never>();

  constructor() {
    this.forget();
  }

  /** Only the first problem counts: others often follow from it. */
  raise(problem: string): void {
    this.#problem ??= problem;
    this.#raised.reject(new Error(this.#problem));
  }

  /** Whether something went wrong. */
  get isRaised(): boolean {
    return this.#problem !== undefined;
  }

  /** Gives what the work gives, unless something goes wrong before, or has already gone wrong. */
  during<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([this.#raised.promise, work]);
  }

  /** The sockets that were concerned are no more. */
  forget(): void {
    this.#problem = undefined;
    this.#raised = Promise.withResolvers<never>();
    // Whoever carries out the next order hears of it.
    this.#raised.promise.catch(() => undefined);
  }
}
