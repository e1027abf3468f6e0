/** Rows of text below heads; the columns in `right` hold figures. */
export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly right: readonly number[];
}

/** The table for a terminal, with aligned columns. */
export function plainTable(table: Table): string {
  const widths = table.heads.map((head, column) =>
    Math.max(head.length, ...table.rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return table.right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [table.heads, ...table.rows].map((cells) => line(cells)).join("\n");
}

/** The table for a document; a bar in a cell is escaped, because it would begin the next cell. */
export function markdownTable(table: Table): string {
  const rule = table.heads.map((_, column) => (table.right.includes(column) ? "---:" : "---"));
  return [table.heads, rule, ...table.rows].map((cells) => markdownLine(cells)).join("\n");
}

/** The cells of one line of {@link markdownTable}. */
export function tableCells(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function markdownLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
