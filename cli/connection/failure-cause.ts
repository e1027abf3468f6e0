/**
 * Why a server can't be reached, in the words of the system: `fetch` has it in the cause of its error, and a host with
 * several addresses in the first error of several.
 */
export function failureCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0)
    return failureCause(error.errors[0]);
  const { cause } = error;
  return cause instanceof Error ? failureCause(cause) : error.message;
}
