/** A piece of what a server sends on a connection. */
export interface Piece {
  readonly bytes: Buffer;
  /** other: no frame with a message, such as the head of a response, a control frame, or a part of a larger message. */
  readonly kind: "message" | "ping" | "other";
}

/**
 * Divides what a server sends on a connection into WebSocket frames (RFC 6455, section 5.2). Until the head of an answer with
 * status 101, and after any other, it passes everything on as it comes.
 */
export class FrameDivider {
  #waiting = Buffer.alloc(0);
  #state: "head" | "frames" | "no-frames" = "head";

  /** Whether the connection is no WebSocket. */
  get isPlain(): boolean {
    return this.#state === "no-frames";
  }

  /** Takes the next bytes, and gives the pieces that are whole. */
  take(bytes: Buffer): readonly Piece[] {
    if (this.#state === "no-frames") return [{ bytes, kind: "other" }];
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    const pieces: Piece[] = [];
    for (let piece = this.#next(); piece !== undefined; piece = this.#next()) pieces.push(piece);
    return pieces;
  }

  #next(): Piece | undefined {
    if (this.#waiting.length === 0) return undefined;
    if (this.#state === "frames") {
      const length = frameLength(this.#waiting);
      return length === undefined || length > this.#waiting.length
        ? undefined
        : pieceOf(this.#shift(length));
    }
    const end = this.#waiting.indexOf("\r\n\r\n");
    if (this.#state === "head" && end < 0) return undefined;
    const isUpgrade = this.#state === "head" && upgraded.test(this.#waiting.toString("latin1"));
    this.#state = isUpgrade ? "frames" : "no-frames";
    return { bytes: this.#shift(isUpgrade ? end + 4 : this.#waiting.length), kind: "other" };
  }

  #shift(length: number): Buffer {
    const bytes = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    return bytes;
  }
}

const upgraded = /^HTTP\/1\.1 101 /;

/** The length of the frame at the beginning, head included; undefined while the head isn't whole. A server masks nothing. */
function frameLength(bytes: Buffer): number | undefined {
  const short = (bytes[1] ?? 0) & 0x7f;
  if (bytes.length < 2) return undefined;
  if (short < 126) return 2 + short;
  if (short === 126) return bytes.length < 4 ? undefined : 4 + bytes.readUInt16BE(2);
  return bytes.length < 10 ? undefined : 10 + Number(bytes.readBigUInt64BE(2));
}

function pieceOf(bytes: Buffer): Piece {
  const [first = 0] = bytes;
  const isWhole = (first & 0x80) !== 0 && [1, 2].includes(first & 0x0f);
  if (!isWhole) return { bytes, kind: "other" };
  return { bytes, kind: pings.has(bytes.subarray(2).toString("latin1")) ? "ping" : "message" };
}

/** The server's ping in JSON, and in Protobuf, where an empty reply is its length only. */
const pings: ReadonlySet<string> = new Set(["{}", "\0"]);
