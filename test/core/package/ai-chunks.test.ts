import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addChunk,
  type Chunk,
  chunksBeyond,
  chunksIn,
  closingChunks,
  compacted,
  KnownChunks,
  linesOf,
} from "../../../package/ai/chunks.ts";

const delta = fc.record({
  type: fc.constantFrom("text-delta" as const, "reasoning-delta" as const),
  id: fc.constantFrom("1", "2"),
  delta: fc.string({ unit: "grapheme", maxLength: 5 }),
});
const input = fc.record({
  type: fc.constant("tool-input-delta" as const),
  toolCallId: fc.constant("call"),
  inputTextDelta: fc.string({ maxLength: 3 }),
});
const other = fc.constantFrom<Chunk>(
  { type: "start-step" },
  { type: "text-start", id: "1" },
  { type: "data-note", data: 1, transient: true },
  { type: "finish" },
);
const answers = fc.array(fc.oneof(delta, input, other), { maxLength: 20 });

/** Cuts the texts of an answer anew. */
function recut(chunks: readonly Chunk[], lengths: readonly number[]): Chunk[] {
  const cut: Chunk[] = [];
  let nth = 0;
  for (const chunk of compacted(chunks))
    if (chunk.type !== "text-delta" && chunk.type !== "reasoning-delta") cut.push(chunk);
    else
      for (let rest = chunk.delta; rest !== "";) {
        const length = lengths[nth++ % lengths.length] ?? 1;
        cut.push({ ...chunk, delta: rest.slice(0, length) });
        rest = rest.slice(length);
      }
  return cut;
}

const lengths = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 });

describe("the chunks of an answer", () => {
  it("come once each, wherever somebody has stopped, and however the texts were cut", () => {
    fc.assert(
      fc.property(answers, lengths, lengths, fc.nat(), (chunks, one, two, at) => {
        const whole = recut(chunks, one);
        const known = whole.slice(0, at % (whole.length + 1));
        const beyond = chunksBeyond(recut(chunks, two), known);
        expect(compacted([...known, ...(Array.isArray(beyond) ? beyond : [])])).toEqual(
          compacted(chunks),
        );
      }),
    );
  });

  it("of another answer are known as such, and less than what is known as well", () => {
    const known: Chunk[] = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "hello" },
    ];
    expect(chunksBeyond([known[0] ?? { type: "finish" }], known)).toBe("behind");
    expect(chunksBeyond([{ type: "text-start", id: "2" }], known)).toBe("another");
    const skipped = new KnownChunks(known);
    expect(skipped.next({ type: "text-start", id: "1" })).toEqual([]);
    expect(skipped.next({ type: "text-delta", id: "1", delta: "he" })).toEqual([]);
    expect(skipped.come).toEqual([known[0], { type: "text-delta", id: "1", delta: "he" }]);
    expect(skipped.next({ type: "text-delta", id: "1", delta: "y" })).toBeUndefined();
    expect(skipped.next({ type: "text-end", id: "1" })).toBeUndefined();
    expect(skipped.next({ type: "text-delta", id: "1", delta: "llo!" })).toEqual([
      { type: "text-delta", id: "1", delta: "!" },
    ]);
  });

  it("are lines of which one that isn't whole doesn't count, and an empty one says nothing", () => {
    fc.assert(
      fc.property(answers, (chunks) => {
        expect(chunksIn(`\n${linesOf(chunks)}\n{"type":"te`)).toEqual(chunks);
      }),
    );
  });

  it("of a part that is open end when the answer is over", () => {
    const chunks: Chunk[] = [];
    for (const chunk of [
      { type: "start", messageId: "m" },
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-end", id: "r" },
      { type: "text-start", id: "t" },
      { type: "tool-input-available", toolCallId: "one", toolName: "a", input: {} },
      { type: "tool-output-available", toolCallId: "one", output: 1 },
      { type: "tool-input-available", toolCallId: "two", toolName: "a", input: {}, dynamic: true },
    ] as const)
      addChunk(chunks, chunk);
    expect(closingChunks(chunks, "stopped")).toEqual([
      { type: "text-end", id: "t" },
      { type: "tool-output-error", toolCallId: "two", errorText: "stopped", dynamic: true },
      // Else a page would send the error as a tool's result, for the model to go on.
      { type: "start-step" },
      { type: "finish-step" },
      { type: "start", messageId: "m" },
    ]);
  });
});
