/**
 * Runs the code of a channel without a clock and without randomness but those of its context, so that a test finds what a
 * server can't repeat.
 *
 * @throws where the code uses one of them
 */
export function forbidden<Result>(work: () => Result): Result {
  const restore = sources.map(([owner, name, instead]) => {
    const known = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, {
      configurable: true,
      writable: true,
      value: () => {
        throw new Error(
          `${name}() in the code of a channel gives each run something else: use ${instead}`,
        );
      },
    });
    return () => {
      if (known === undefined) Reflect.deleteProperty(owner, name);
      else Object.defineProperty(owner, name, known);
    };
  });
  try {
    return work();
  } finally {
    for (const undo of restore) undo();
  }
}

const sources: readonly (readonly [owner: object, name: string, instead: string])[] = [
  [Date, "now", "ctx.nowMs"],
  [performance, "now", "ctx.nowMs"],
  [Math, "random", "ctx.random()"],
  [crypto, "randomUUID", "ctx.random()"],
];
