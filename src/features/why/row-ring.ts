/**
 * The newest rows of numbers, in one array: adding a row makes no object. The array begins small and doubles, so that an
 * object to which little happens keeps little. Beyond `rowsMax` the oldest row is overwritten.
 */
export class RowRing {
  readonly #columns: number;
  readonly #rowsMax: number;
  #cells: Float64Array | undefined;
  #capacity = 0;
  #next = 0;

  /** @param columns of each row */
  constructor(columns: number, rowsMax: number) {
    this.#columns = columns;
    this.#rowsMax = rowsMax;
  }

  /** The number of the oldest row that is kept; that of the next row if there is none. Rows are numbered from 0. */
  get first(): number {
    return Math.max(0, this.#next - this.#rowsMax);
  }

  /** A number of the oldest row, if a row was overwritten; undefined if none was. */
  oldest(column: number): number | undefined {
    return this.first === 0 ? undefined : this.get(this.first, column);
  }

  /** The number that the next row gets. */
  get next(): number {
    return this.#next;
  }

  /** Adds a row of zeros. @returns its number */
  append(): number {
    if (this.#next === this.#capacity && this.#capacity < this.#rowsMax) this.#grow();
    const row = this.#next++;
    const start = this.slot(row) * this.#columns;
    this.#cells?.fill(0, start, start + this.#columns);
    return row;
  }

  /** The place of a row, below `rowsMax`, for what is kept beside the numbers. */
  slot(row: number): number {
    return row % this.#rowsMax;
  }

  /** A number of a row; 0 if the row isn't kept any more. */
  get(row: number, column: number): number {
    if (row < this.first) return 0;
    return this.#cells?.[this.slot(row) * this.#columns + column] ?? 0;
  }

  /** Sets a number of a row, unless the row isn't kept any more. */
  set(row: number, column: number, value: number): void {
    if (row < this.first || this.#cells === undefined) return;
    this.#cells[this.slot(row) * this.#columns + column] = value;
  }

  /** Before the array is full no row is overwritten, so each row keeps its place. */
  #grow(): void {
    this.#capacity = Math.min(this.#rowsMax, Math.max(rowsMin, this.#capacity * 2));
    const cells = new Float64Array(this.#capacity * this.#columns);
    if (this.#cells !== undefined) cells.set(this.#cells);
    this.#cells = cells;
  }
}

/** The rows for which there is room at first. */
const rowsMin = 16;
