/**
 * Makes a search for one text in others that takes time for the length of both together, whoever wrote them: the engine's
 * own search can take time for one length times the other (Knuth, Morris and Pratt's algorithm).
 */
export function searchFor(sought: string): (text: string) => boolean {
  if (sought.length <= shortMax) return (text) => text.includes(sought);
  const borders = bordersOf(sought);
  return (text) => {
    if (text.length < sought.length) return false;
    let matched = 0;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      while (matched > 0 && sought.charCodeAt(matched) !== unit) matched = borders[matched] ?? 0;
      if (sought.charCodeAt(matched) === unit) matched++;
      if (matched === sought.length) return true;
    }
    return false;
  };
}

/** For each length of a beginning: how long a shorter beginning is with which that one ends, too. */
function bordersOf(sought: string): Uint32Array {
  const borders = new Uint32Array(sought.length + 1);
  let border = 0;
  for (let index = 1; index < sought.length; index++) {
    const unit = sought.charCodeAt(index);
    while (border > 0 && sought.charCodeAt(border) !== unit) border = borders[border] ?? 0;
    if (sought.charCodeAt(border) === unit) border++;
    borders[index + 1] = border;
  }
  return borders;
}

/** So short a text is looked for so fast by the engine that a bad case doesn't matter. */
const shortMax = 16;
