import * as fc from "fast-check";

/** Bytes, and the places at which a network cuts them into chunks: ascending, none at either end. */
export interface Chunked {
  readonly bytes: Buffer;
  readonly cuts: readonly number[];
}

/** Cuts bytes anywhere, and at every single byte unless there are too many. */
export function chunked(bytes: Buffer): fc.Arbitrary<Chunked> {
  const last = bytes.length - 1;
  if (last < 1) return fc.constant({ bytes, cuts: [] });
  const everywhere = Array.from({ length: Math.min(last, 2000) }, (_, index) => index + 1);
  const anywhere = fc
    .uniqueArray(fc.integer({ min: 1, max: last }))
    .map((cuts) => cuts.sort((one, other) => one - other));
  return fc.oneof(fc.constant(everywhere), anywhere).map((cuts) => ({ bytes, cuts }));
}

export function chunksOf({ bytes, cuts }: Chunked): Buffer[] {
  const borders = [0, ...cuts, bytes.length];
  return cuts.concat(bytes.length).map((end, index) => bytes.subarray(borders[index], end));
}
