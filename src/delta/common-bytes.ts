/** How many bytes are equal from these places on, at most `max`. */
export function commonPrefix(
  a: Uint8Array,
  aFrom: number,
  b: Uint8Array,
  bFrom: number,
  max: number,
): number {
  const most = Math.min(a.length - aFrom, b.length - bFrom, max);
  let length = 0;
  while (length < most && a[aFrom + length] === b[bFrom + length]) length++;
  return length;
}

/** How many bytes are equal before these places, at most `max`. */
export function commonSuffix(
  a: Uint8Array,
  aTo: number,
  b: Uint8Array,
  bTo: number,
  max: number,
): number {
  const most = Math.min(aTo, bTo, max);
  let length = 0;
  while (length < most && a[aTo - length - 1] === b[bTo - length - 1]) length++;
  return length;
}
