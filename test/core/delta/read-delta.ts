/** One command of a delta. */
export type DeltaCommand =
  | { readonly command: "copy"; readonly offset: number; readonly length: number }
  | { readonly command: "insert"; readonly bytes: Uint8Array };

/** Takes a delta apart, to look at its borders. Throws on anything that isn't one. */
export function readDelta(delta: Uint8Array): readonly DeltaCommand[] {
  const commands: DeltaCommand[] = [];
  let place = 0;
  const next = (): { value: number; operator: string } => {
    const match = /^([0-9A-Z_a-z~]+)([\n@,:;])/.exec(
      String.fromCharCode(...delta.subarray(place, place + 8)),
    );
    if (match === null) throw new Error(`no command at ${place}`);
    place += match[0].length;
    return { value: numberOf(match[1] ?? ""), operator: match[2] ?? "" };
  };
  next();
  while (place < delta.length) {
    const { value, operator } = next();
    if (operator === "@") commands.push({ command: "copy", offset: next().value, length: value });
    if (operator === ":") {
      commands.push({ command: "insert", bytes: delta.subarray(place, place + value) });
      place += value;
    }
  }
  return commands;
}

function numberOf(digits: string): number {
  const all = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
  return Array.from(digits).reduce((value, digit) => value * 64 + all.indexOf(digit), 0);
}
