import { stripVTControlCharacters } from "node:util";

/**
 * Lays out rows in columns that are divided by two spaces. The last column isn't filled up.
 *
 * @param rows   their cells, which may have colours; the first row may be a head
 * @param rights the indices of columns that are aligned at the right, such as those of numbers
 */
export function table(
  rows: readonly (readonly string[])[],
  rights: readonly number[] = [],
): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  const lines = rows.map((row) =>
    row
      .map((cell, index) => {
        const fill = " ".repeat((widths[index] ?? 0) - widthOf(cell));
        return rights.includes(index) ? fill + cell : cell + fill;
      })
      .join("  ")
      .trimEnd(),
  );
  return lines.join("\n");
}

function widthOf(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length;
}
