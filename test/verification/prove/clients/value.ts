/**
 * The payload for a value: the value with padding. Histories hold the value alone, because long payloads would be
 * mostly padding.
 *
 * @param bytes of the payload without its quotes; a longer value stays as it is
 */
export function payloadOf(value: string, bytes: number): string {
  return value.length >= bytes ? value : `${value}${padding}`.padEnd(bytes, padding);
}

/** The value of received data, whatever it is. */
export function valueIn(data: unknown): string {
  if (typeof data !== "string") return JSON.stringify(data);
  const end = data.indexOf(padding);
  if (end === -1) return data;
  const value = data.slice(0, end);
  // Data that isn't a payload of ours has no known value.
  return data === payloadOf(value, data.length) ? value : data;
}

const padding = ".";
