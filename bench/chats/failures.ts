/** Why something has failed, and how often. */
export class Failures {
  readonly #counts = new Map<string, number>();

  note(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    // The ID of a chat or of an answer says nothing.
    const kind = why.replaceAll(/[\da-f]{8}-[\da-f-]{27}|\b\d+\b/g, "…");
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Each reason with its number, in parentheses after a space; nothing if nothing has failed. */
  get reasons(): string {
    const reasons = [...this.#counts].map(([why, count]) => `${count} × ${why}`);
    return reasons.length === 0 ? "" : ` (${reasons.join("; ")})`;
  }
}

/** Gives what a promise gives. @throws if that takes too long; whatever it does later is left alone */
export async function within<Value>(
  ms: number,
  what: string,
  work: Promise<Value>,
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
