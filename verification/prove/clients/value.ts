/**
 * What is published for a value: the value itself, made longer. Histories hold the value alone, or else those with long
 * payloads would be mostly padding.
 *
 * @param bytes of the payload without its quotes; a longer value stays as it is
 */
export function payloadOf(value: string, bytes: number): string {
  return value.length >= bytes ? value : `${value}${padding}`.padEnd(bytes, padding);
}

/** The value in what was heard, whatever it is. */
export function valueIn(data: unknown): string {
  if (typeof data !== "string") return JSON.stringify(data);
  const end = data.indexOf(padding);
  if (end === -1) return data;
  const value = data.slice(0, end);
  // What isn't what was published is no value that anybody knows.
  return data === payloadOf(value, data.length) ? value : data;
}

const padding = ".";
