/**
 * Why a call to an object threw, as the platform's flags on the error say
 * (developers.cloudflare.com/durable-objects/best-practices/error-handling).
 */
interface CallFailure {
  /** The object or the whole account is overloaded. The call must not be repeated at once. */
  readonly overloaded: boolean;
  /** For the log: the name and the flags of the error, and nothing from the request. */
  readonly summary: string;
}

/** The seconds after which an overloaded object may be called again. The platform recommends none. */
export const overloadedRetrySeconds = 5;

/** Classifies the error of a call to an object. */
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
 * Awaits work for at most so many ms, and then returns `late`. Late work continues, and its result is dropped; the
 * platform cancels the work with the request. An error that the work throws in time is thrown here.
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
