/** Why a call to an object threw. The platform says so by flags on the error (developers.cloudflare.com/durable-objects/best-practices/error-handling). */
interface CallFailure {
  /** The object, or its whole account, has too much to do. Never to be repeated at once. */
  readonly overloaded: boolean;
  /** For the log: the error's name and flags, and nothing that came from a request. */
  readonly summary: string;
}

/** How long to wait before an overloaded object is tried again. The platform names no time. */
export const overloadedRetrySeconds = 5;

/** Classifies what a call to an object threw. */
export function parseCallFailure(thrown: unknown): CallFailure {
  const isObject = typeof thrown === "object" && thrown !== null;
  const flags: object = isObject ? thrown : {};
  const set = (["overloaded", "retryable", "remote", "durableObjectReset"] as const).filter(
    (flag) => Reflect.get(flags, flag) === true,
  );
  const name = thrown instanceof Error && /^\w{1,64}$/.test(thrown.name) ? thrown.name : "unnamed";
  return {
    overloaded: set.includes("overloaded"),
    summary: [`error=${name}`, ...set].join(" "),
  };
}

/**
 * Waits for work, but not longer than so many ms: then gives `late`. Late work goes on unheard until the platform ends
 * it together with the request. What the work throws in time is thrown here.
 */
export async function inTime<Result>(
  work: Promise<Result>,
  waitMs: number,
  late: Result,
): Promise<Result> {
  const passed = Promise.withResolvers<Result>();
  const timer = setTimeout(() => passed.resolve(late), waitMs);
  try {
    return await Promise.race([work, passed.promise]);
  } finally {
    clearTimeout(timer);
  }
}
