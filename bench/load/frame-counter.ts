import { LineCounter } from "./line-counter.ts";
import { marker } from "../systems/wire.ts";

/** Events of a socket's frames besides publications. */
export interface FrameEvents {
  /** A ping frame, with the payload to send back. */
  pinged(payload: Buffer): void;
  /** A text frame that must be answered to stay connected. */
  textPinged(): void;
  /** A close frame; 1005 stands for one without a code. */
  closed(code: number): void;
  /** The bytes break the protocol. */
  broken(problem: string): void;
}

/**
 * Counts the publications in one socket's frames, from chunks that end anywhere. Publications are counted by their
 * {@link marker} in payloads without assembling a frame: one search for each publication, and no allocation.
 */
export class FrameCounter {
  /** Markers in payloads of text and binary frames. */
  publications = 0;
  /** Text and binary frames, without pings. */
  frames = 0;
  readonly #ping: Buffer | undefined;
  readonly #events: FrameEvents;
  /** Undefined where a ping is a frame of its own, and nobody wants to know of lines. */
  readonly #lines: LineCounter | undefined;
  /** {@link lines} and pings at the end of the last frame. */
  #linesBefore = 0;
  #pingsBefore = 0;
  #expected: number = expected.firstByte;
  #opcode = 0;
  /** Bytes of the length field that haven't arrived yet. */
  #lengthLeft = 0;
  /** Bytes of the payload that haven't arrived yet. */
  #left = 0;
  /** The payload of a control frame, or of a possible ping; undefined for other frames. */
  #kept: number[] | undefined;

  /**
   * @param ping        the text frame that must be answered, if the system has one
   * @param countsLines whether frames are read line by line, which takes longer: pings may be lines among others then,
   *   and {@link lines} counts
   */
  constructor(ping: string | undefined, events: FrameEvents, countsLines = false) {
    this.#ping = ping === undefined ? undefined : Buffer.from(ping);
    this.#events = events;
    this.#lines = countsLines ? new LineCounter(this.#ping ?? Buffer.alloc(0)) : undefined;
  }

  /** Lines of text and binary frames, without pings; 0 if they aren't counted. */
  get lines(): number {
    return this.#lines?.lines ?? 0;
  }

  /** Whether the last frame was complete, so that the next byte begins another. */
  get betweenFrames(): boolean {
    return this.#expected === expected.firstByte;
  }

  /**
   * Takes the next chunk.
   *
   * @param end where the chunk ends in `bytes`; the two bytes there, if there are any, are overwritten
   */
  take(bytes: Buffer, start: number, end: number): void {
    // A search always ends here and doesn't run into the rest of earlier chunks.
    bytes[end] = markerByte;
    bytes[end + 1] = lineFeed;
    let at = start;
    while (at < end) {
      switch (this.#expected) {
        case expected.firstByte:
          this.#beginFrame(bytes[at++] ?? 0);
          break;
        case expected.secondByte:
          this.#takeShortLength(bytes[at++] ?? 0);
          break;
        case expected.longLength:
          this.#left = this.#left * 256 + (bytes[at++] ?? 0);
          if (--this.#lengthLeft === 0) this.#beginPayload();
          break;
        case expected.payload:
          at = this.#takePayload(bytes, at, end);
          break;
        default:
          return;
      }
    }
  }

  #beginFrame(byte: number): void {
    // No extension was negotiated, so the three bits beside the opcode are zero.
    if ((byte & 0x70) !== 0) return this.#break("a frame with reserved bits");
    this.#opcode = byte & 0x0f;
    this.#expected = expected.secondByte;
  }

  #takeShortLength(byte: number): void {
    if ((byte & 0x80) !== 0) return this.#break("a masked frame");
    if (byte < 126) {
      this.#left = byte;
      return this.#beginPayload();
    }
    this.#left = 0;
    this.#lengthLeft = byte === 126 ? 2 : 8;
    this.#expected = expected.longLength;
  }

  #beginPayload(): void {
    if (this.#left > Number.MAX_SAFE_INTEGER) return this.#break("a frame without end");
    const looksLikePing =
      this.#lines === undefined && this.#opcode === textOpcode && this.#left === this.#ping?.length;
    this.#kept = this.#opcode >= closeOpcode || looksLikePing ? [] : undefined;
    this.#expected = expected.payload;
    if (this.#left === 0) this.#endFrame();
  }

  /** @returns where the payload, or the chunk before it, ends */
  #takePayload(bytes: Buffer, start: number, end: number): number {
    const stop = Math.min(end, start + this.#left);
    if (this.#kept !== undefined) {
      for (let at = start; at < stop; at++) this.#kept.push(bytes[at] ?? 0);
    }
    if (this.#opcode < closeOpcode) {
      let found = bytes.indexOf(markerByte, start);
      // The buffer may have no space for an end mark.
      while (found !== -1 && found < stop) {
        this.publications++;
        found = bytes.indexOf(markerByte, found + 1);
      }
      this.#lines?.take(bytes, start, stop);
    }
    this.#left -= stop - start;
    if (this.#left === 0) this.#endFrame();
    return stop;
  }

  #endFrame(): void {
    const kept = this.#kept === undefined ? undefined : Buffer.from(this.#kept);
    this.#kept = undefined;
    this.#expected = expected.firstByte;
    if (this.#opcode < closeOpcode && this.#lines !== undefined) this.#endLines(this.#lines);
    else if (this.#opcode < closeOpcode) {
      if (kept !== undefined && this.#ping?.equals(kept) === true) this.#events.textPinged();
      else this.frames++;
    } else if (kept !== undefined && this.#opcode === pingOpcode) this.#events.pinged(kept);
    else if (kept !== undefined && this.#opcode === closeOpcode) {
      this.#events.closed(kept.length < 2 ? 1005 : kept.readUInt16BE(0));
    }
  }

  #endLines(lines: LineCounter): void {
    lines.endLine();
    for (; this.#pingsBefore < lines.pings; this.#pingsBefore++) this.#events.textPinged();
    if (lines.lines > this.#linesBefore) this.frames++;
    this.#linesBefore = lines.lines;
  }

  #break(problem: string): void {
    this.#expected = expected.nothing;
    this.#events.broken(problem);
  }
}

/** The next part of a frame. */
const expected = { firstByte: 0, secondByte: 1, longLength: 2, payload: 3, nothing: 4 } as const;

const textOpcode = 1;
const closeOpcode = 8;
const pingOpcode = 9;
const lineFeed = 0x0a;
const markerByte = marker.charCodeAt(0);
