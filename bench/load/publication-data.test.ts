import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NumberedRequest } from "./post-request.ts";
import { publicationData, publicationIndexes, smallestDataBytes } from "./publication-data.ts";

const anyIndex = fc.nat({ max: 8_999_999 });
const anySize = fc.integer({ min: smallestDataBytes, max: 2000 });

describe("publicationData", () => {
  it("is JSON of the given size with one marker, whatever its number", () => {
    fc.assert(
      fc.property(anyIndex, anySize, (index, bytes) => {
        const data = publicationData(index, bytes);
        expect(Buffer.byteLength(data)).toBe(bytes);
        expect(data.split("^")).toHaveLength(2);
        expect(JSON.parse(data)).toEqual({ text: expect.any(String) });
      }),
    );
  });

  it("is found in wrapped and escaped JSON, among others in one frame", () => {
    fc.assert(
      fc.property(fc.array(anyIndex), anySize, (indexes, bytes) => {
        const wrapped = indexes.map((index) => JSON.stringify(publicationData(index, bytes)));
        expect(publicationIndexes(Buffer.from(wrapped.join("\n")))).toEqual(indexes);
      }),
    );
  });

  it("gives NaN for a marker without a number", () => {
    expect(publicationIndexes(Buffer.from('"^12x4567" ^123'))).toEqual([Number.NaN, Number.NaN]);
  });

  it("refuses sizes and numbers that don't fit", () => {
    expect(() => publicationData(0, smallestDataBytes - 1)).toThrow(RangeError);
    expect(() => publicationData(9_000_000, 100)).toThrow(RangeError);
  });
});

describe("NumberedRequest", () => {
  it("is the POST of the publication with that number, even before earlier ones are sent", () => {
    fc.assert(
      fc.property(fc.array(anyIndex), anySize, (indexes, bytes) => {
        const post = (index: number) => ({
          path: "/^publish",
          headers: { "X-API-Key": "key" },
          body: JSON.stringify({ data: publicationData(index, bytes) }),
        });
        const request = new NumberedRequest(post(0), { host: "127.0.0.1", port: 80 });
        const made = indexes.map((index) => request.numbered(index));
        for (const [place, index] of indexes.entries()) {
          const [head, body] = made[place]?.toString().split("\r\n\r\n") ?? [];
          expect(body).toBe(post(index).body);
          expect(head).toBe(
            "POST /^publish HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-API-Key: key\r\n" +
              `Content-Length: ${post(index).body.length}`,
          );
        }
      }),
    );
  });
});
