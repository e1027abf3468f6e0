/**
 * Why a call to an object threw, as the platform's flags on the error say
 * (developers.cloudflare.com/durable-objects/best-practices/error-handling).
 */
interface CallFailure {
  /** The object or the whole account is overloaded. The call must not be repeated at once. */
  readonly overloaded: boolean;
  /**
   * For the log: the name and the flags of the error, SQLite's code, the reference under which the runtime has logged
   * the error, and the object, whose ID is the name of its file of state. Nothing from the request.
   */
  readonly summary: string;
  /** What an operator can do something about, for the backend; undefined if the error says nothing of the kind. */
  readonly detail?: string;
}

/** The stub of an object. Its ID is the name of the file with the object's state, where one hosts oneself (rule N13). */
export interface CalledObject {
  readonly id: { toString(): string };
}

/** The seconds after which an overloaded object may be called again. The platform recommends none. */
export const overloadedRetrySeconds = 5;

/**
 * Classifies the error of a call to an object.
 *
 * @param object the object that was called, if the caller knows it
 */
export function parseCallFailure(thrown: unknown, object?: CalledObject): CallFailure {
  const isObject = typeof thrown === "object" && thrown !== null;
  const flags: object = isObject ? thrown : {};
  const set = (["overloaded", "retryable", "remote", "durableObjectReset"] as const).filter(
    (flag) => Reflect.get(flags, flag) === true,
  );
  const name = thrown instanceof Error && /^\w{1,64}$/.test(thrown.name) ? thrown.name : "unnamed";
  const message = thrown instanceof Error ? thrown.message : "";
  // The rest of a message may quote a payload.
  const code = /: (SQLITE_[A-Z]{1,32})$/.exec(message)?.[1];
  const reference = /^internal error; reference = (\w{1,64})$/.exec(message)?.[1];
  const named = { storage: code, reference, object: object?.id.toString() };
  const words = Object.entries(named).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${value}`],
  );
  const full = code === "SQLITE_FULL" ? ", the disk is full" : "";
  return {
    overloaded: set.includes("overloaded"),
    summary: [`error=${name}`, ...set, ...words].join(" "),
    ...(code !== undefined && { detail: `storage failed: ${code}${full}` }),
  };
}

/**
 * Makes a call to an object, once, and awaits its answer for at most `waitMs`. A call that throws leaves a line in the
 * log.
 *
 * @param what   for the log: the kind of call
 * @param waitMs if it isn't positive, no call is made
 * @param call   gives undefined if there is no object to be called
 * @param object for the log: the object, if the caller knows it
 * @returns undefined if there is no answer in time; the object may have carried out the call all the same
 */
export async function answerInTime<Answer>(
  what: string,
  waitMs: number,
  call: () => Promise<Answer> | undefined,
  object?: CalledObject,
): Promise<Answer | undefined> {
  if (waitMs <= 0) return undefined;
  try {
    const answer = call();
    if (answer === undefined) return undefined;
    return await inTime<Answer | undefined>(answer, waitMs, undefined);
  } catch (error) {
    console.warn(`${what} failed: ${parseCallFailure(error, object).summary}`);
    return undefined;
  }
}

/** Does work for each name, for so many of them at a time. The work must not reject. */
export async function forEachInTurns(
  names: readonly string[],
  atATime: number,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const waiting = names.values();
  const takeTurns = async (): Promise<void> => {
    // All turns share the iterator.
    for (const name of waiting) await work(name);
  };
  await Promise.all(Array.from({ length: atATime }, takeTurns));
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
