import { closeSync, openSync, readSync } from "node:fs";

/** The lines of a file, read piece by piece, however large it is. */
export function* lines(file: string): Generator<string, void> {
  const descriptor = openSync(file, "r");
  try {
    let rest = Buffer.alloc(0);
    const piece = Buffer.alloc(pieceBytes);
    for (;;) {
      const length = readSync(descriptor, piece, 0, pieceBytes, null);
      if (length === 0) break;
      const bytes =
        rest.length === 0
          ? piece.subarray(0, length)
          : Buffer.concat([rest, piece.subarray(0, length)]);
      // A line, and so every character, is decoded whole.
      const end = bytes.lastIndexOf(lineFeed) + 1;
      rest = Buffer.from(bytes.subarray(end));
      const text = bytes.toString("utf8", 0, end);
      let start = 0;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", start)) {
        yield text.slice(start, at);
        start = at + 1;
      }
    }
    if (rest.length > 0) yield rest.toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

const pieceBytes = 1024 * 1024;
const lineFeed = 10;
