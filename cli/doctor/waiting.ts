/** Waits that end with the run. */

/** A promise with what settles it, which Node.js 20 has no function for. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** Makes a promise that is settled later. */
export function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (settle === undefined) throw new Error("a promise runs its executor at once");
  return { promise, ...settle };
}

/** The run was ended from outside, such as by Ctrl-C. */
export class Stopped extends Error {}

/** The server doesn't allow what is to be measured, in a sentence. */
export class NotAllowed extends Error {}

/** A connection ended that should have stayed open. */
export class Lost extends Error {
  /** Of the close frame; 1006 without one. */
  readonly code: number;
  /** How long the connection had been open, in ms. */
  readonly openMs: number;

  constructor(code: number, openMs: number) {
    super(`a connection ended with code ${code}`);
    this.code = code;
    this.openMs = openMs;
  }
}

/**
 * Waits for something, but not for ever.
 *
 * @returns undefined if it didn't come in time
 * @throws {Stopped} if the run ends meanwhile
 */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  stop: AbortSignal,
): Promise<T | undefined> {
  const ended = deferred<undefined>();
  const timer = setTimeout(() => ended.resolve(undefined), ms);
  const end = () => ended.reject(new Stopped());
  if (stop.aborted) end();
  stop.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", end);
    // The loser of the race may fail later, when nobody waits for it.
    work.catch(() => undefined);
  }
}

/** Lets some time pass. */
export async function pauseFor(ms: number, stop: AbortSignal): Promise<void> {
  await within(new Promise<never>(() => undefined), ms, stop);
}

/** Does something with each of a list, with so many at the same time, and gives the results in the order of the list. */
export async function eachOf<T, R>(
  list: readonly T[],
  atOnce: number,
  work: (one: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = list.entries();
  const worker = async () => {
    for (const [index, one] of entries) results[index] = await work(one, index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker));
  return results;
}
