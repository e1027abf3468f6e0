import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deltaChain,
  type DeltaForm,
  fullForDelta,
  deltaOrFull,
  KnownDeltas,
} from "../../../src/delta/delta-chain.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import {
  type Payload,
  payloadBytes,
  payloadJson,
  payloadLength,
} from "../../../src/protocol/payload.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { jsonText } from "../protocol/random-json-text.ts";
import { valid } from "../protocol/valid-json-text.ts";
import { editedBytes, editedDocument, editedText } from "./edited.ts";
import { SdkDecoder } from "./sdk-decoder.ts";

/** Payloads of one channel: documents, strings, bytes that are no JSON, and values that have nothing in common. */
const payloads: fc.Arbitrary<Payload[]> = fc
  .array(
    fc.oneof(
      editedDocument.map(({ base, target }) => [valid(base), valid(target)]),
      editedText.map(({ base, target }) => [
        valid(JSON.stringify(base.toWellFormed())),
        valid(JSON.stringify(target.toWellFormed())),
      ]),
      editedBytes.map(({ base, target }) => [base, target]),
      jsonText.map((text) => [valid(text)]),
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.flat());

const published = (data: readonly Payload[]): Publication[] =>
  data.map((each, place) => ({ data: each, offset: place + 1 }));

/** As the first subscriber that recovers gets them. */
const chained = (publications: readonly Publication[], form: DeltaForm): readonly Publication[] =>
  deltaChain(publications, form, "news", new KnownDeltas()).publications;

/** What a JSON client reads of a publication: encoded, as UTF-8, in a frame with others, and parsed. */
function overTheWire(publication: Publication): { data: string; delta: boolean } {
  const frame = jsonCodec.encodePush({ type: "publication", channel: "a", publication });
  expect(frame).not.toMatch(/[\r\n]/);
  const received: { push: { pub: { data: string; delta?: boolean } } } = JSON.parse(
    Buffer.from(String(frame)).toString(),
  );
  const { data, delta = false } = received.push.pub;
  return { data, delta };
}

/** Hands all to the SDK's JSON decoder, which must give the payloads and keep the bytes from which deltas are made. */
function expectReceivedAsText(
  sent: readonly Publication[],
  payloadsSent: readonly Payload[],
): void {
  const decoder = new SdkDecoder("text");
  expect(sent).toHaveLength(payloadsSent.length);
  const expected = payloadsSent.map((each) => Buffer.from(payloadBytes(payloadJson(each))));
  for (const publication of sent) {
    const received = decoder.receive(overTheWire(publication));
    const bytes = expected.shift() ?? Buffer.alloc(0);
    expect(received).toEqual(JSON.parse(bytes.toString()));
    expect(bytes.equals(decoder.kept() ?? new Uint8Array())).toBe(true);
  }
}

describe("recovered publications", () => {
  it("[D2] are heard by a JSON client as what was published", () => {
    const property = fc.property(payloads, (data) => {
      const sent = chained(published(data), "text");
      expect(sent).toHaveLength(data.length);
      expectReceivedAsText(sent, data);
    });
    fc.assert(property, { numRuns: 150 });
  });

  it("[D2] are heard by a binary client as what was published", () => {
    const property = fc.property(payloads, (data) => {
      const decoder = new SdkDecoder("bytes");
      const receivedBytes = chained(published(data), "bytes").map((publication) => {
        const delta = publication.delta === true;
        decoder.receive({ data: payloadBytes(publication.data), delta });
        return Buffer.from(decoder.kept() ?? []);
      });
      expect(receivedBytes).toEqual(data.map((each) => Buffer.from(payloadBytes(each))));
    });
    fc.assert(property, { numRuns: 150 });
  });

  it.for(["text", "bytes"] as const)("[D2] are shorter as %s than in full, or full", (form) => {
    const shorter = fc.property(payloads, (data) => {
      const full = published(data).map((each) => fullForDelta(each, form));
      const sent = chained(published(data), form);
      expect(sent.slice(0, 1)).toEqual(full.slice(0, 1));
      const expected = sent.map((each, place) => {
        const inFull = full.slice(place, place + 1);
        return each.delta === true &&
          inFull.every((one) => payloadLength(each.data) < payloadLength(one.data))
          ? [each]
          : inFull;
      });
      expect(sent.map((each) => [each])).toEqual(expected);
    });
    fc.assert(shorter, { numRuns: 150 });
  });

  it("[D2] are the first in full and each other one against the one before it", () => {
    const text = "the quick brown fox jumps over the lazy dog, once and again";
    const documents = [1, 22, 333].map((n) => valid(`{"n":${n},"text":"${text}"}`));
    const chain = chained(published([...documents, valid('"tiny"')]), "text");
    expect(chain.map(overTheWire)).toEqual([
      { data: documents[0], delta: false },
      { data: expect.stringMatching(/^1D\n7:\{"n":22/), delta: true },
      { data: expect.stringMatching(/^1E\n8:\{"n":333/), delta: true },
      { data: '"tiny"', delta: false },
    ]);
    expectReceivedAsText(chain.slice(0, 3), documents);
    expect(chained([], "text")).toEqual([]);
  });
});

describe("one publication for a delta subscriber", () => {
  const info = { user: "42", client: "c" };
  const long = valid(`["é",{"a":"${"0123456789".repeat(20)}"}]`);
  const edited = valid(`["è",{"a":"${"0123456789".repeat(20)}"}]`);

  it("[D2] keeps all but its data, in full and as a delta", () => {
    const rest = { offset: 7, epoch: "abc", info, tags: { a: "b" } };
    const publication = { data: edited, ...rest };
    expect(fullForDelta(publication, "text")).toEqual({ data: JSON.stringify(edited), ...rest });
    expect(fullForDelta(publication, "bytes")).toEqual(publication);
    expect(deltaOrFull(publication, long, "text")).toEqual({
      data: expect.any(String),
      delta: true,
      ...rest,
    });
    expect(deltaOrFull(publication, long, "bytes")).toEqual({
      data: expect.any(Uint8Array),
      delta: true,
      ...rest,
    });
  });

  it("[D2] has no half characters in a delta between characters that differ in their last byte", () => {
    const { data } = overTheWire(deltaOrFull({ data: edited, offset: 2 }, long, "text"));
    expect(data).toContain("è");
    expect(data).not.toContain("\uFFFD");
    expectReceivedAsText(
      [
        { data: long, offset: 1 },
        { data: edited, offset: 2 },
      ].map((each, place) =>
        place === 0 ? fullForDelta(each, "text") : deltaOrFull(each, long, "text"),
      ),
      [long, edited],
    );
  });

  it("[D2] is full in JSON if the escaped line break makes the delta as long", () => {
    const digits = "1234567890".repeat(4);
    const forms = Array.from({ length: 30 }, (_, place) => {
      const base = valid(digits.slice(0, 8 + place));
      const publication = { data: valid(`${base}00`), offset: 2 };
      const [bytes, text] = (["bytes", "text"] as const).map((form) => {
        const { delta = false, data } = deltaOrFull(publication, base, form);
        return `${delta ? payloadLength(data) - payloadLength(publication.data) : "full"}`;
      });
      return `${bytes} ${text}`;
    });
    // Of the text two bytes are quotes and one escapes the line break: a delta is one byte longer for that.
    expect(new Set(forms)).toContain("-1 full");
    expect(new Set(forms)).toContain("-2 1");
    expect(new Set(forms)).not.toContain("-1 2");
  });

  it("[D2] is bytes in base64 for a JSON client, and a delta between such", () => {
    const base = Uint8Array.from({ length: 300 }, (_, place) => (place * 31) & 0xff);
    const target = base.with(200, 0);
    const chain = chained(published([base, target]), "text");
    expect(chain.map((each) => each.delta === true)).toEqual([false, true]);
    expectReceivedAsText(chain, [base, target]);
  });

  // A lone surrogate can't come over a socket, but it would become another character when it is sent, and then deltas fail.
  it.for([
    { name: "line separators", parts: ["\u2028", "\u2029"] },
    { name: "escaped lone surrogates", parts: [String.raw`\ud800`, String.raw`\udc00`] },
    { name: "lone surrogates", parts: ["\ud800", "\udc00"] },
    { name: "escaped line breaks and quotes", parts: [String.raw`\r\n`, String.raw`\"\\`] },
    { name: "a deleted character and a byte order mark", parts: ["\u007F", "\uFEFF"] },
  ])("[D2] has the same bytes here and in the SDK for $name", ({ parts }) => {
    const texts = ["1", "2", "3"].map((n) =>
      trustedJsonText(`["${parts.join("-")}","${n}${"long ".repeat(20)}${parts.join(n)}"]`),
    );
    const chain = chained(published(texts), "text");
    expect(chain.map((each) => each.delta === true)).toEqual([false, true, true]);
    for (const each of chain) expect(overTheWire(each).data.isWellFormed()).toBe(true);
    expectReceivedAsText(chain, texts);
  });
});
