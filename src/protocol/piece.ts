/**
 * A text that is put into the JSON text of a value. A client that has the value before makes the value after from it. A
 * delta can be made from the splice alone, without either value, in time proportional to the text. All numbers count
 * bytes of UTF-8.
 */
export interface Splice {
  /** As it stands in JSON, between the quotes: well-formed Unicode on one line. */
  readonly text: string;
  /** Where in the value before it is put. */
  readonly at: number;
  /** The length of the value before. */
  readonly baseBytes: number;
  /** The checksum of the value after it (docs/protocol.md 3.1). */
  readonly sum: number;
}

/** A piece by which the value of a key has grown, and which is not durable yet (rule Z39). */
export interface Piece {
  readonly key: string;
  /** Which piece since the key's last publication it is, from 1 on. */
  readonly number: number;
  /** The offset of that publication. Absent: an object of an earlier release has sent the piece. */
  readonly base?: number;
  readonly splice: Splice;
}

/** Two pieces of a key as one; undefined if the second doesn't follow the first. */
export function joinedPieces(first: Piece, second: Piece): Piece | undefined {
  if (second.number !== first.number + 1) return undefined;
  const { at, baseBytes } = first.splice;
  const text = `${first.splice.text}${second.splice.text}`;
  return { ...second, splice: { text, at, baseBytes, sum: second.splice.sum } };
}

/** How a publication has grown that makes pieces durable. */
export interface Grown {
  /** How many of its pieces were sent to subscribers with deltas before. */
  readonly pieces: number;
  /** From the value of the key's last publication; absent if subscribers may not have that. */
  readonly splice?: Splice;
  /** From the value with the pieces that were sent; absent if none were sent. */
  readonly rest?: Splice;
}
