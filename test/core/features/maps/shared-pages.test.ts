import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { SharedPages } from "../../../../src/features/maps/shared-pages.ts";
import { parseJsonText } from "../../../../src/protocol/json/text.ts";
import type { Publication } from "../../../../src/protocol/publication.ts";

/** A page with one entry, whose value has about so many bytes. */
function pageOf(bytes: number): { readonly publications: readonly Publication[] } {
  const data = parseJsonText(JSON.stringify("x".repeat(bytes)));
  if (data === undefined) throw new Error("not JSON");
  return { publications: [{ key: "k", data, offset: 1 }] };
}

describe("[Z26] the pages that were read a moment ago", () => {
  it("are given to others for mapPageSharedMs", () => {
    const pages = new SharedPages();
    const page = pageOf(10);
    pages.keep("first", page, 1_000);
    expect(pages.find("second", 1_000)).toBeUndefined();
    expect(pages.find("first", 999 + mapLimits.mapPageSharedMs)).toBe(page);
    expect(pages.find("first", 1_000 + mapLimits.mapPageSharedMs)).toBeUndefined();
  });

  it("are given no longer after a clock was set back", () => {
    const pages = new SharedPages();
    pages.keep("before", pageOf(10), 1_000);
    pages.keep("after", pageOf(10), 500);
    expect(pages.find("after", 500 + mapLimits.mapPageSharedMs)).toBeUndefined();
    expect(pages.find("before", 500 + mapLimits.mapPageSharedMs)).toBeDefined();
  });

  it("take mapPagesSharedBytesMax together: the newest ones stay", () => {
    const pages = new SharedPages();
    const half = Math.floor(mapLimits.mapPagesSharedBytesMax / 2) - 1_000;
    pages.keep("a", pageOf(half), 0);
    pages.keep("b", pageOf(half), 0);
    expect(pages.find("a", 0)).toBeDefined();
    pages.keep("c", pageOf(half), 0);
    expect(pages.find("a", 0)).toBeUndefined();
    expect(pages.find("b", 0)).toBeDefined();
    expect(pages.find("c", 0)).toBeDefined();
    pages.keep("large", pageOf(mapLimits.mapPagesSharedBytesMax), 0);
    expect(["a", "b", "c", "large"].filter((key) => pages.find(key, 0))).toEqual([]);
  });
});
