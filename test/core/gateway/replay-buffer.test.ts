import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { publicationBytes } from "../../../src/contract/relay-batch.ts";
import { ReplayBuffer } from "../../../src/gateway/replay-buffer.ts";
import { json } from "../api/channel-config.ts";

describe("window", () => {
  it("holds nothing before it is opened", () => {
    const window = new ReplayBuffer();
    window.append(publication(1));
    expect(window.since(0)).toBeUndefined();
    expect(window.last).toBeUndefined();
    expect(window.bytes).toBe(0);
  });

  it("[L6] gives everything after a position from where it was opened", () => {
    const window = openedAt(5, 6, 7);
    expect(offsets(window.since(5))).toEqual([6, 7]);
    expect(offsets(window.since(6))).toEqual([7]);
    expect(offsets(window.since(7))).toEqual([]);
    expect(window.since(4)).toBeUndefined();
    expect(window.since(8)).toBeUndefined();
    expect(window.last?.offset).toBe(7);
  });

  it("[L6] reaches back as far as was read, and joins what came meanwhile", () => {
    const window = openedAt(5, 6, 7);
    expect(offsets(window.merge(publications(3, 4, 5, 6)))).toEqual([3, 4, 5, 6, 7]);
    expect(offsets(window.since(2))).toEqual([3, 4, 5, 6, 7]);
    expect(window.since(1)).toBeUndefined();
  });

  it("leaves out what was read beyond where the gateway stands", () => {
    const window = openedAt(5);
    expect(offsets(window.merge(publications(5, 6, 7)))).toEqual([5]);
    window.append(publication(6));
    expect(offsets(window.since(4))).toEqual([5, 6]);
  });

  it("[L3] joins nothing that leaves something out", () => {
    const window = openedAt(5, 6);
    expect(window.merge(publications(2, 3))).toBeUndefined();
    expect(window.merge(publications(2, 3, 5))).toBeUndefined();
    expect(window.since(1)).toBeUndefined();
  });

  it("[L3] closes when a publication doesn't follow on what it holds", () => {
    const window = openedAt(5, 6);
    window.append(publication(8));
    expect(window.since(5)).toBeUndefined();
  });

  it("[B1] lets go of the oldest beyond its bytes, and keeps what is without a hole", () => {
    const bytes = publicationBytes(large(1));
    const room = Math.floor(limits.replayBufferBytesMax / bytes);
    const window = openedAt(0);
    for (let offset = 1; offset <= room + 2; offset++) window.append(large(offset));
    expect(window.bytes).toBe(room * bytes);
    expect(window.since(1)).toBeUndefined();
    expect(window.since(2)).toHaveLength(room);
  });

  it("[B1] gives all that was read once, and keeps what there is room for", () => {
    const bytes = publicationBytes(large(1));
    const room = Math.floor(limits.replayBufferBytesMax / bytes);
    const read = Array.from({ length: room + 1 }, (_, index) => large(index + 1));
    const window = openedAt(room + 1);
    expect(window.merge(read)).toHaveLength(room + 1);
    expect(window.since(0)).toBeUndefined();
    expect(window.since(1)).toHaveLength(room);
    expect(window.bytes).toBe(room * bytes);
  });

  it("ends some time after the read that opened it, whatever came meanwhile", () => {
    const window = new ReplayBuffer();
    window.open(5, 1_000);
    window.open(5, 9_000);
    window.append(publication(6));
    window.expire(1_000 + limits.replayBufferMs - 1);
    expect(offsets(window.since(5))).toEqual([6]);
    window.expire(1_000 + limits.replayBufferMs);
    expect(window.since(5)).toBeUndefined();
    expect(window.bytes).toBe(0);
  });

  it("ends when the clock was set back, rather than stay for longer", () => {
    const window = new ReplayBuffer();
    window.open(5, 1_000_000);
    window.expire(999_999);
    expect(window.since(5)).toBeUndefined();
  });

  it("goes on from where the gateway stands once it was emptied", () => {
    const window = openedAt(5, 6);
    window.empty();
    window.append(publication(7));
    expect(window.since(5)).toBeUndefined();
    expect(offsets(window.since(6))).toEqual([7]);
    expect(window.bytes).toBe(publicationBytes(publication(7)));
  });
});

function openedAt(offset: number, ...then: readonly number[]): ReplayBuffer {
  const window = new ReplayBuffer();
  window.open(offset, 0);
  for (const each of then) window.append(publication(each));
  return window;
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
