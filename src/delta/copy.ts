/** Bytes of the target that stand in the base as well. */
export interface Copy {
  /** Where in the base. */
  readonly offset: number;
  /** Where in the target. */
  readonly start: number;
  readonly length: number;
}

/**
 * A copy without the parts of characters at its ends, because a JSON client gets patches as text, in which half a character
 * can't stand (reference 3.1). In UTF-8 a copy of whole characters begins and ends between characters of the base as well, so
 * the target alone is looked at.
 */
export function wholeCharacters(copy: Copy, target: Uint8Array): Copy {
  const start = borderFrom(target, copy.start, 1);
  const end = borderFrom(target, copy.start + copy.length, -1);
  return { offset: copy.offset + start - copy.start, start, length: Math.max(0, end - start) };
}

/** The next place between two characters. A character has at most three more bytes; where there are four, it isn't text. */
function borderFrom(bytes: Uint8Array, place: number, step: 1 | -1): number {
  for (let moved = 0; moved <= 3; moved++) {
    if (!isInsideCharacter(bytes[place + moved * step])) return place + moved * step;
  }
  return place;
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}
