import * as fc from "fast-check";

/** Two values with much in common: the second is the first with parts of it replaced, removed, doubled or moved. */
export interface Edited<Sequence> {
  readonly base: Sequence;
  readonly target: Sequence;
}

const unit = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 }) },
  fc.constantFrom(
    "é",
    "è",
    "ü",
    "ÿ",
    "日本",
    "日木",
    "👍",
    "👎",
    "👩‍👩‍👧",
    "\r\n",
    "\u2028",
    '"',
    "\\",
    "\t",
  ),
  fc.string({ unit: "binary", maxLength: 4 }),
);

/** Text with multi-byte characters that share their first bytes, so that careless borders fall inside them. */
export const editedText: fc.Arbitrary<Edited<string>> = edited(
  fc.array(unit, { maxLength: 60 }),
).map(({ base, target }) => ({ base: base.join(""), target: target.join("") }));

const fewBytes = fc.array(fc.constantFrom(0, 1, 0x61, 0x80, 0xbf, 0xc3, 0xff), { maxLength: 30 });
const bytes = fc.oneof(fc.array(fc.nat(255), { maxLength: 60 }), fewBytes);

/** Bytes of any kind, also those that look like parts of characters. */
export const editedBytes: fc.Arbitrary<Edited<Uint8Array>> = edited(
  fc.array(bytes, { maxLength: 20 }),
).map(({ base, target }) => ({
  base: Uint8Array.from(base.flat()),
  target: Uint8Array.from(target.flat()),
}));

/** A JSON document, and the same with some of its values changed. */
export const editedDocument: fc.Arbitrary<Edited<string>> = fc
  .tuple(
    fc.array(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 2 })), {
      minLength: 1,
      maxLength: 12,
    }),
    fc.array(fc.tuple(fc.nat(), fc.jsonValue()), { maxLength: 4 }),
  )
  .map(([rows, edits]) => {
    const changed = [...rows];
    for (const [place, value] of edits) {
      const row = place % rows.length;
      changed[row] = { ...changed[row], changed: value };
    }
    return { base: JSON.stringify(rows), target: JSON.stringify(changed) };
  });

function edited<Part>(parts: fc.Arbitrary<Part[]>): fc.Arbitrary<Edited<Part[]>> {
  const edit = fc.tuple(fc.nat(), fc.nat(6), parts, fc.boolean());
  return fc.tuple(parts, fc.array(edit, { maxLength: 4 })).map(([base, edits]) => {
    let target = base;
    for (const [place, length, inserted, doubled] of edits) {
      const start = place % (target.length + 1);
      const removed = target.slice(start, start + length);
      const rest = target.toSpliced(start, length, ...inserted.slice(0, 8));
      target = doubled ? [...rest, ...removed, ...removed] : rest;
    }
    return { base, target };
  });
}
