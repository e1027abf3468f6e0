import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { publicationBytes } from "../../../src/contract/relay-batch.ts";
import { ReplayBuffer } from "../../../src/gateway/replay-buffer.ts";
import { json } from "../api/channel-config.ts";

describe("a replay buffer", () => {
  it("[L6] gives everything after a position from where it was opened", () => {
    const buffer = openedAt(5, 6, 7);
    expect(offsets(buffer.since(5))).toEqual([6, 7]);
    expect(offsets(buffer.since(6))).toEqual([7]);
    expect(offsets(buffer.since(7))).toEqual([]);
    expect(buffer.since(4)).toBeUndefined();
    expect(buffer.since(8)).toBeUndefined();
    expect(buffer.last?.offset).toBe(7);
  });

  it("[L6] reaches back as far as the read, and includes later publications", () => {
    const buffer = openedAt(5, 6, 7);
    expect(offsets(buffer.merge(publications(3, 4, 5, 6)))).toEqual([3, 4, 5, 6, 7]);
    expect(offsets(buffer.since(2))).toEqual([3, 4, 5, 6, 7]);
    expect(buffer.since(1)).toBeUndefined();
  });

  it("[R7] gives those who return together one list, which is never stale", () => {
    const buffer = openedAt(5, 6, 7);
    expect(offsets(buffer.since(6))).toEqual([7]);
    const list = buffer.since(5);
    expect(buffer.since(5)).toBe(list);
    buffer.append(publication(8));
    expect(offsets(buffer.since(5))).toEqual([6, 7, 8]);
    const before = buffer.since(5);
    buffer.close();
    buffer.open(5, 0);
    for (const offset of [6, 7, 8]) buffer.append({ ...publication(offset), data: json("[]") });
    expect(buffer.since(5)?.map(({ data }) => data)).toEqual(["[]", "[]", "[]"]);
    expect(buffer.since(5)).not.toBe(before);
  });

  it("[R7] [B1] doesn't share what takes much memory", () => {
    const buffer = openedAt(5);
    const data = json(JSON.stringify("x".repeat(limits.recentBytesMax)));
    buffer.append({ ...publication(6), data });
    expect(offsets(buffer.since(5))).toEqual([6]);
    expect(buffer.since(5)).not.toBe(buffer.since(5));
  });

  it("[L3] leaves out publications of the read beyond the gateway's position", () => {
    const buffer = openedAt(5);
    expect(offsets(buffer.merge(publications(5, 6, 7)))).toEqual([5]);
    buffer.append(publication(6));
    expect(offsets(buffer.since(4))).toEqual([5, 6]);
  });

  it("[L3] merges no read with a gap", () => {
    const buffer = openedAt(5, 6);
    expect(buffer.merge(publications(2, 3))).toBeUndefined();
    expect(buffer.merge(publications(2, 3, 5))).toBeUndefined();
    expect(buffer.since(1)).toBeUndefined();
  });

  it("[L3] closes when a publication doesn't follow the last one", () => {
    const buffer = openedAt(5, 6);
    buffer.append(publication(8));
    expect(buffer.since(5)).toBeUndefined();
  });

  it("[B1] drops the oldest publications beyond its limit, and keeps the rest without a hole", () => {
    const bytes = publicationBytes(large(1));
    const count = Math.floor(limits.replayBufferBytesMax / bytes);
    const buffer = openedAt(0);
    for (let offset = 1; offset <= count + 2; offset++) buffer.append(large(offset));
    expect(buffer.bytes).toBe(count * bytes);
    expect(buffer.since(1)).toBeUndefined();
    expect(buffer.since(2)).toHaveLength(count);
  });

  it("[B1] gives the whole read once, and keeps the part that fits", () => {
    const bytes = publicationBytes(large(1));
    const count = Math.floor(limits.replayBufferBytesMax / bytes);
    const read = Array.from({ length: count + 1 }, (_, index) => large(index + 1));
    const buffer = openedAt(count + 1);
    expect(buffer.merge(read)).toHaveLength(count + 1);
    expect(buffer.since(0)).toBeUndefined();
    expect(buffer.since(1)).toHaveLength(count);
    expect(buffer.bytes).toBe(count * bytes);
  });

  it("[B1] ends some time after the read that opened it, whatever came meanwhile", () => {
    const buffer = new ReplayBuffer();
    buffer.open(5, 1_000);
    buffer.open(5, 9_000);
    buffer.append(publication(6));
    buffer.expire(1_000 + limits.replayBufferMs - 1);
    expect(offsets(buffer.since(5))).toEqual([6]);
    buffer.expire(1_000 + limits.replayBufferMs);
    expect(buffer.since(5)).toBeUndefined();
    expect(buffer.bytes).toBe(0);
  });

  it("[B1] ends when the clock was set back, rather than stay for longer", () => {
    const buffer = new ReplayBuffer();
    buffer.open(5, 1_000_000);
    buffer.expire(999_999);
    expect(buffer.since(5)).toBeUndefined();
  });

  it("[L6] keeps nothing of a read during which the history was removed, and answers its clients", () => {
    const buffer = openedAt(5, 6);
    buffer.empty();
    expect(offsets(buffer.merge(publications(5, 6)))).toEqual([5, 6]);
    expect(buffer.last).toBeUndefined();
    expect(buffer.since(4)).toBeUndefined();
    buffer.close();
    buffer.open(6, 0);
    buffer.merge(publications(5, 6));
    expect(offsets(buffer.since(4))).toEqual([5, 6]);
  });
});

function openedAt(offset: number, ...then: readonly number[]): ReplayBuffer {
  const buffer = new ReplayBuffer();
  buffer.open(offset, 0);
  for (const each of then) buffer.append(publication(each));
  return buffer;
}

function publication(offset: number): Publication {
  return { data: json(String(offset)), offset };
}

function publications(...all: readonly number[]): readonly Publication[] {
  return all.map(publication);
}

function large(offset: number): Publication {
  return { data: json(`"${"x".repeat(100_000)}"`), offset };
}

function offsets(all: readonly Publication[] | undefined): readonly number[] | undefined {
  return all?.map(({ offset }) => offset);
}
