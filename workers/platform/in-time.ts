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
