/** The key to which producers append who don't say where. */
export const blindKey = "blind";

/**
 * What may be shown of a text to which pieces are appended that name no length (rule Z38): each piece is a number, so that it is
 * known which of them are there. None is there twice, and none comes after one that was sent when it was acknowledged.
 */
export class BlindRules {
  readonly #complain: (what: string) => void;
  readonly #pieces: BlindPiece[] = [];
  /** Counts what happens. */
  #moment = 0;

  constructor(complain: (what: string) => void) {
    this.#complain = complain;
  }

  /** A producer is about to append. @param isDurable whether the piece is durable before it is acknowledged */
  sends(channel: string, isDurable: boolean): BlindPiece {
    const text = `<${this.#pieces.length}>`;
    const piece = { channel, text, isDurable, sentAt: ++this.#moment, reached: undefined };
    this.#pieces.push(piece);
    return piece;
  }

  /** The piece is there. */
  acknowledged(piece: BlindPiece, nowMs: number): void {
    piece.reached ??= { at: ++this.#moment, ms: nowMs };
  }

  /** Somebody is shown the text of a channel. */
  shows(channel: string, text: string, who: string): void {
    const shown = piecesOf(text).map((number) => this.#pieces[number]);
    const isRight = shown.map((piece) => piece?.text ?? "").join("") === text;
    if (!isRight || new Set(shown).size < shown.length) {
      this.#complain(`${who} is shown ${channel} ${blindKey} as ${text}`);
      return;
    }
    let sentAt = 0;
    for (const piece of shown) {
      if (piece?.channel !== channel) this.#complain(`${who} is shown ${text} of another channel`);
      else if ((piece.reached?.at ?? Number.POSITIVE_INFINITY) < sentAt)
        this.#complain(`${who} is shown ${piece.text} too late in ${channel} ${text}`);
      sentAt = Math.max(sentAt, piece?.sentAt ?? 0);
    }
  }

  /** The text was taken back, or an object has crashed: what was acknowledged after a time may be lost. */
  lost(channel: string, afterMs: number, takesDurable: boolean): void {
    for (const piece of this.#pieces) {
      const isLost = takesDurable || (!piece.isDurable && (piece.reached?.ms ?? 0) > afterMs);
      if (piece.channel === channel && isLost) piece.mayBeLost = true;
    }
  }

  /** When all is quiet, the text has every piece that can't have been lost. */
  checkAcknowledged(channel: string, text: string): void {
    const there = new Set(piecesOf(text));
    for (const [number, { channel: own, reached, mayBeLost }] of this.#pieces.entries())
      if (own === channel && reached !== undefined && mayBeLost !== true && !there.has(number))
        this.#complain(`${channel} ${blindKey} has lost ${number} at rest: ${text}`);
  }
}

/** A piece that somebody appends. */
export interface BlindPiece {
  readonly channel: string;
  readonly text: string;
  readonly isDurable: boolean;
  readonly sentAt: number;
  /** When it was acknowledged. */
  reached: { readonly at: number; readonly ms: number } | undefined;
  mayBeLost?: true;
}

function piecesOf(text: string): readonly number[] {
  return [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
}
