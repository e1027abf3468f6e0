import { describe, expect, it } from "vitest";
import { BatchBuffer, sortBatch } from "../../../src/gateway/batch-order.ts";
import type { RelayBatch, RelayEntry } from "../../../src/contract/relay-batch.ts";
import { json } from "../api/channel-config.ts";
import { at, entry } from "./support/followed-channel.ts";

const bytesMax = 10_000;

describe("a batch buffer", () => {
  it("[B1] keeps the number and the top of entries that don't fit", () => {
    const buffer = full();
    buffer.append(batch({ first: 2, entries: [entry(2), entry(3)], top: at(3) }));
    buffer.append(batch({ first: 4, entries: [entry(4)], top: at(4) }));
    buffer.append(batch({ first: 2, entries: [entry(2), entry(3)], top: at(3) }));
    expect(buffer.takeAll().slice(1)).toEqual([batch({ first: 5, top: at(4) })]);
  });

  it("[B1] keeps a hole if the dropped entries continue in a newer instance", () => {
    const buffer = full();
    buffer.append(batch({ first: 2, entries: [entry(2)] }));
    buffer.append(batch({ instance: 2, first: 1 }));
    buffer.append(batch({ first: 3, entries: [entry(3)] }));
    expect(buffer.takeAll().slice(1)).toEqual([batch({ instance: 2, first: 2 })]);
  });

  it("[B1] has all its space again once it was emptied", () => {
    const buffer = full();
    buffer.append(batch({ first: 2, entries: [entry(2)] }));
    buffer.takeAll();
    buffer.append(batch({ first: 3, entries: [entry(3)] }));
    expect(buffer.takeAll()).toEqual([batch({ first: 3, entries: [entry(3)] })]);
  });
});

describe("pieces of values that grow, among publications that a gateway has read", () => {
  it("[Z39] aren't told after the publication that has them", () => {
    const cursor = { instance: 1, sequence: 0, position: at(3) };
    const entries = [piece(1), entry(2), piece(2), entry(3), piece(3)];
    const sorted = sortBatch(batch({ entries, top: at(3) }), cursor);
    expect(sorted).toMatchObject({ entries: [piece(3)], cursor: { sequence: 5, position: at(3) } });
    const whole = sortBatch(batch({ entries: [piece(2)], top: at(2) }), cursor);
    expect(whole).toMatchObject({ outcome: "sorted", entries: [] });
  });

  it("[Z39] [L3] wait for the publications that they belong to", () => {
    const cursor = { instance: 1, sequence: 4, position: at(1) };
    const later = batch({ instance: 2, entries: [piece(3)], top: at(3) });
    const sorted = sortBatch(later, cursor);
    expect(sorted).toMatchObject({ entries: [], rest: { first: 1, entries: [piece(3)] } });
    const read = { instance: 2, sequence: 0, position: at(3) };
    expect(sortBatch(later, read)).toMatchObject({ entries: [piece(3)], cursor: { sequence: 1 } });
  });
});

function piece(base: number): RelayEntry {
  const splice = { text: "b", at: 2, baseBytes: 3, sum: 0 };
  return { type: "piece", piece: { key: "k", number: 1, base, splice } };
}

/** One more small batch doesn't fit. */
function full(): BatchBuffer {
  const buffer = new BatchBuffer(bytesMax);
  const data = json(`"${"x".repeat(bytesMax - 500)}"`);
  buffer.append(batch({ entries: [{ type: "publication", publication: { data, offset: 1 } }] }));
  return buffer;
}

function batch(batched: Partial<RelayBatch>): RelayBatch {
  return { v: 1, channel: "news", instance: 1, first: 1, entries: [], certain: true, ...batched };
}
