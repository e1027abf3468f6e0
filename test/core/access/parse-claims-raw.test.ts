import { describe, expect, it } from "vitest";
import { parseBase64Json } from "../../../src/access/parse-claims.ts";

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

describe("base64 of JSON", () => {
  it("[W2] gives the text as it was written", () => {
    expect(parseBase64Json(base64(` {"a": 1.0} `))).toBe(`{"a": 1.0}`);
    expect(parseBase64Json(base64(`"é😀"`))).toBe(`"é😀"`);
  });
});
