import { expect, test } from "vitest";
import { createDelta } from "../../src/delta/fossil.ts";

const bytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

test.for([2_048, 65_536])("a delta for a document of %i bytes", async (size, { bench }) => {
  const rows = Array.from({ length: Math.floor(size / 64) }, (_, id) => ({
    id: 100_000 + id,
    name: `row ${(id * 7_919) % 100_000}`.padEnd(12),
    price: 1_000_000 + id,
  }));
  const priced = (place: number) => (row: (typeof rows)[number], index: number) =>
    index === place ? { ...row, price: 7 } : row;
  const base = bytes(rows);
  const middle = Math.floor(rows.length / 2);
  const once = bytes(rows.map(priced(middle)));
  const twice = bytes(rows.map(priced(1)).map(priced(rows.length - 2)));
  const unlike = Uint8Array.from(base, (byte) => byte ^ 0x15);
  expect(createDelta(base, once)?.length).toBeLessThan(60);
  expect(createDelta(base, twice)?.length).toBeLessThan(90);
  expect(createDelta(base, unlike)).toBeUndefined();
  const results = await bench.compare(
    bench("changed in one place", () => {
      createDelta(base, once);
    }),
    bench("changed at both ends", () => {
      createDelta(base, twice);
    }),
    bench("nothing in common", () => {
      createDelta(base, unlike);
    }),
  );
  expect(results.get("changed in one place").latency.mean).toBeGreaterThan(0);
});
