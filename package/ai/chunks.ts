import type { UIMessageChunk } from "ai";
import { isResult, Waiting } from "./tool-answers.ts";

/** A chunk of an answer, as `streamText(…).toUIMessageStream()` gives it. */
export type Chunk = UIMessageChunk;

/** A chunk that carries the next piece of a text. */
type Delta = Extract<
  Chunk,
  { readonly type: "text-delta" | "reasoning-delta" | "tool-input-delta" }
>;

function isDelta(chunk: Chunk): chunk is Delta {
  return (
    chunk.type === "text-delta" ||
    chunk.type === "reasoning-delta" ||
    chunk.type === "tool-input-delta"
  );
}

function textOf(chunk: Delta): string {
  return chunk.type === "tool-input-delta" ? chunk.inputTextDelta : chunk.delta;
}

function withText(chunk: Delta, text: string): Delta {
  return chunk.type === "tool-input-delta"
    ? { ...chunk, inputTextDelta: text }
    : { ...chunk, delta: text };
}

/** Whether two deltas are pieces of one text, and say nothing else that differs. */
function areOfOneText(one: Delta, other: Delta): boolean {
  return JSON.stringify(withText(one, "")) === JSON.stringify(withText(other, ""));
}

/** Whether a chunk belongs to no message: the page gets it, and it is nowhere afterwards. */
function isTransient(chunk: Chunk): boolean {
  return "transient" in chunk && chunk.transient;
}

/** Adds a chunk to a list. Deltas of one text that follow one another become one, and an empty one is left out. */
export function addChunk(chunks: Chunk[], chunk: Chunk): void {
  const last = chunks.at(-1);
  if (isDelta(chunk) && textOf(chunk) === "") return;
  if (isDelta(chunk) && last !== undefined && isDelta(last) && areOfOneText(last, chunk))
    chunks[chunks.length - 1] = withText(last, textOf(last) + textOf(chunk));
  else chunks.push(chunk);
}

/** The chunks of a finished answer: as few as say the same. */
export function compacted(chunks: readonly Chunk[]): readonly Chunk[] {
  const all: Chunk[] = [];
  for (const chunk of chunks) if (!isTransient(chunk)) addChunk(all, chunk);
  return all;
}

/** The lines of chunks in a log. */
export function linesOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join("");
}

/** The lines of a text that are whole: what is behind the last line's end comes later. */
export function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The chunks of whole lines. An empty line says that the producer is there. */
export function chunksIn(lines: string): Chunk[] {
  return wholeLines(lines)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => parseChunk(JSON.parse(line)));
}

/** Only what `streamToChannel` has written is in a log, or a producer that keeps to docs/ai-chat.md. */
function parseChunk(value: Chunk): Chunk {
  return value;
}

/**
 * Skips what somebody has of an answer, however its texts were cut into deltas. Each chunk has a position in an answer, and
 * so each comes once.
 */
export class KnownChunks {
  readonly #known: readonly Chunk[];
  #nth = 0;
  /** How much of the text of the next known chunk has come. */
  #length = 0;

  constructor(known: readonly Chunk[]) {
    this.#known = compacted(known);
  }

  /** Whether all that is known has come. */
  get haveCome(): boolean {
    return this.#nth >= this.#known.length;
  }

  /** What has come of it. */
  get come(): readonly Chunk[] {
    const known = this.#known[this.#nth];
    const whole = this.#known.slice(0, this.#nth);
    if (known === undefined || !isDelta(known) || this.#length === 0) return whole;
    return [...whole, withText(known, textOf(known).slice(0, this.#length))];
  }

  /** @returns what is new of the answer's next chunk: often nothing; undefined if the answer is another one */
  next(chunk: Chunk): readonly Chunk[] | undefined {
    const known = this.#known[this.#nth];
    if (known === undefined) return [chunk];
    if (isTransient(chunk)) return [];
    if (isDelta(chunk) && textOf(chunk) === "") return [];
    if (!isDelta(chunk) || !isDelta(known)) {
      if (this.#length > 0 || JSON.stringify(chunk) !== JSON.stringify(known)) return undefined;
      this.#nth++;
      return [];
    }
    const [left, came] = [textOf(known).slice(this.#length), textOf(chunk)];
    if (!areOfOneText(known, chunk)) return undefined;
    if (left.length > came.length) {
      if (!left.startsWith(came)) return undefined;
      this.#length += came.length;
      return [];
    }
    if (!came.startsWith(left)) return undefined;
    this.#nth++;
    this.#length = 0;
    const rest = came.slice(left.length);
    return rest === "" ? [] : this.next(withText(chunk, rest));
  }
}

/**
 * What an answer has beyond the chunks that somebody has.
 *
 * @returns `behind` if the answer has less than that, and `another` if it is another answer
 */
export function chunksBeyond(
  answer: readonly Chunk[],
  known: readonly Chunk[],
): readonly Chunk[] | "behind" | "another" {
  const skipped = new KnownChunks(known);
  const beyond: Chunk[] = [];
  for (const chunk of answer) {
    const rest = skipped.next(chunk);
    if (rest === undefined) return "another";
    beyond.push(...rest);
  }
  return skipped.haveCome ? beyond : "behind";
}

/**
 * The chunks that end the parts of an answer that is over before its end, so that none stays open in any page. If its last step has
 * called tools, another step ends it: else pages would believe that the model is to go on with the results.
 */
export function closingChunks(chunks: readonly Chunk[], why: string): readonly Chunk[] {
  const open = new Map<string, Chunk>();
  for (const chunk of chunks)
    if (chunk.type === "text-start" || chunk.type === "text-end")
      note(open, `text ${chunk.id}`, chunk.type === "text-start", {
        type: "text-end",
        id: chunk.id,
      });
    else if (chunk.type === "reasoning-start" || chunk.type === "reasoning-end")
      note(open, `reasoning ${chunk.id}`, chunk.type === "reasoning-start", {
        type: "reasoning-end",
        id: chunk.id,
      });
    else if (chunk.type === "tool-input-available")
      note(open, `tool ${chunk.toolCallId}`, true, toolError(chunk, why));
    else if ("toolCallId" in chunk && isResult(chunk))
      note(open, `tool ${chunk.toolCallId}`, false, chunk);
  const ends = [...open.values()];
  if (!new Waiting([...chunks, ...ends]).isOver) return ends;
  // A step alone isn't shown: a page takes it over with the next chunk that changes the message.
  const begin = chunks.filter(({ type }) => type === "start").slice(0, 1);
  return [...ends, { type: "start-step" }, { type: "finish-step" }, ...begin];
}

function note(open: Map<string, Chunk>, part: string, isOpen: boolean, end: Chunk): void {
  if (isOpen) open.set(part, end);
  else open.delete(part);
}

function toolError(
  { toolCallId, dynamic }: Extract<Chunk, { readonly type: "tool-input-available" }>,
  errorText: string,
): Chunk {
  return {
    type: "tool-output-error",
    toolCallId,
    errorText,
    ...(dynamic !== undefined && { dynamic }),
  };
}
