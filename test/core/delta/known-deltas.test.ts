import { describe, expect, it } from "vitest";
import { deltaChain, KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { limits } from "../../../src/limits.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { valid } from "../protocol/valid-json-text.ts";

/** As read from the history for one client: other objects than those read for the next, with the same in them. */
const read = (texts: readonly string[], from = 1): Publication[] =>
  texts.map((text, index) => ({ data: valid(JSON.stringify({ text })), offset: from + index }));

/** Eight of them don't fit. */
const large = (offset: number): Publication => ({
  data: new Uint8Array(limits.knownDeltasBytesMax / 8).fill(offset),
  offset,
});

/** All of them fit. */
const small = (offset: number): Publication => ({ data: new Uint8Array(1), offset });

const document = "what stays the same in all of the versions of this document, and is not short";
const texts = [`${document} 1`, `${document} 2`, `${document} 3`];

describe("clients that recover one after the other", () => {
  it("[D2] are sent the same, and hold one payload between them", () => {
    const known = new KnownDeltas();
    const first = deltaChain(read(texts), "text", "news", known);
    const second = deltaChain(read(texts), "text", "news", known);
    expect(second).toStrictEqual(first);
    expect(second.publications.map(({ delta }) => delta)).toStrictEqual([undefined, true, true]);
    // The very same text, which for bytes can be told from an equal one.
    const { last } = deltaChain([large(9)], "bytes", "news", known);
    expect(deltaChain([large(9)], "bytes", "news", known).last).toBe(last);
  });

  it("[D2] are each sent the tags that were published with the same payload", () => {
    const known = new KnownDeltas();
    const [publication] = read(["a"]);
    if (publication === undefined) throw new Error("one was made");
    deltaChain([{ ...publication, tags: { lang: "de" } }], "text", "news", known);
    const other = deltaChain([{ ...publication, tags: { lang: "en" } }], "text", "news", known);
    expect(other.publications[0]?.tags).toStrictEqual({ lang: "en" });
  });

  const different: readonly [string, readonly Publication[], string][] = [
    ["another payload at the same place", read([texts[0] ?? "", `${document} 9`]), "news"],
    ["another one before it", read(["x", texts[1] ?? ""]), "news"],
    ["another channel", read(texts), "sport"],
  ];
  it.each(different)("[D1] never share a delta for %s", (_, publications, channel) => {
    const known = new KnownDeltas();
    deltaChain(read(texts), "text", "news", known);
    const alone = deltaChain(publications, "text", channel, new KnownDeltas());
    expect(deltaChain(publications, "text", channel, known)).toStrictEqual(alone);
  });

  it("[D2] get a publication in full that is the first for them and a later one for others", () => {
    const known = new KnownDeltas();
    deltaChain(read(texts), "text", "news", known);
    const [first] = deltaChain(read(texts.slice(1), 2), "text", "news", known).publications;
    expect(first?.delta).toBeUndefined();
  });
});

describe("the cache of their deltas", () => {
  it("[B1] is bounded: beyond the limit all entries are dropped", () => {
    const known = new KnownDeltas();
    const kept = (offset: number): Payload | undefined =>
      known.find("news", "bytes", undefined, large(offset))?.payload;
    for (let offset = 1; offset <= 3; offset++) deltaChain([large(offset)], "bytes", "news", known);
    expect(kept(1)).toBeDefined();
    for (let offset = 4; offset <= 6; offset++) deltaChain([large(offset)], "bytes", "news", known);
    expect(kept(1)).toBeUndefined();
    expect(kept(6)).toBeDefined();
  });

  it("[B1] is bounded if larger payloads replace smaller ones", () => {
    const known = new KnownDeltas();
    for (let offset = 1; offset <= 9; offset++) deltaChain([small(offset)], "bytes", "news", known);
    for (let offset = 1; offset <= 9; offset++) deltaChain([large(offset)], "bytes", "news", known);
    expect(known.find("news", "bytes", undefined, large(1))).toBeUndefined();
  });

  it("[D1] has no entry of a channel without history, whose publications have no offset", () => {
    const known = new KnownDeltas();
    const data = valid(`"a"`);
    deltaChain([{ data, offset: 0 }], "text", "news", known);
    expect(known.find("news", "text", undefined, { data, offset: 0 })).toBeUndefined();
  });
});
