import type { HistoryEvent } from "../../checker/history-event.ts";
import { lines } from "./lines.ts";
import { parseEvent } from "./parse-event.ts";

/**
 * Reads the files of one history as one, in the order of time; for equal times in the order of the files. Takes little
 * memory however large the files are.
 *
 * @throws naming file and line, if a line isn't an event or its file goes back in time. A last line that a crash cut
 *   off, without its line feed, is such a line.
 */
export function* readHistory(files: readonly string[]): Generator<HistoryEvent, void> {
  const readers = files.map((file) => new FileReader(file));
  try {
    let open = readers.filter((reader) => reader.advance());
    while (open.length > 0) {
      const next = earliest(open);
      if (next?.head === undefined) return;
      yield next.head;
      if (!next.advance()) open = open.filter((reader) => reader !== next);
    }
  } finally {
    for (const reader of readers) reader.close();
  }
}

/** The reader whose next event is the earliest; the first of several such readers. */
function earliest(readers: readonly FileReader[]): FileReader | undefined {
  let [best] = readers;
  for (const reader of readers) {
    if (best === undefined || reader.time < best.time) best = reader;
  }
  return best;
}

/** One file, and its next event. */
class FileReader {
  readonly #file: string;
  readonly #lines: Generator<string, void>;
  #line = 0;
  head: HistoryEvent | undefined;
  time = -Infinity;

  constructor(file: string) {
    this.#file = file;
    this.#lines = lines(file);
  }

  /** @returns false at the end */
  advance(): boolean {
    const next = this.#lines.next();
    this.head = undefined;
    if (next.done === true) return false;
    this.#line++;
    const where = (): string => `${this.#file}, line ${this.#line},`;
    const head = parseEvent(next.value, where);
    if (head.time < this.time) throw new Error(`${where()} goes back in time`);
    this.head = head;
    this.time = head.time;
    return true;
  }

  close(): void {
    this.#lines.return();
  }
}
