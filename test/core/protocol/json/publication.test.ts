import { describe, expect, it } from "vitest";
import { encodeBare } from "../../../../src/protocol/json/encode.ts";
import { memberText } from "../../../../src/protocol/json/text.ts";
import type { Publication } from "../../../../src/protocol/publication.ts";
import { valid } from "../valid-json-text.ts";

const info = { user: "42", client: "c1" };

/** A publication as it stands in its push. */
function encodePublication(publication: Publication): string {
  const push = encodeBare({ type: "publication", channel: "x", publication });
  return memberText(push, "pub") ?? "";
}

describe("encoding a publication", () => {
  it("[W2] splices the data in as it was written", () => {
    const data = valid(String.raw`{"n":12345678901234567890,"s":"\ud800\/","n":-0}`);
    const json = encodePublication({ data, offset: 1, epoch: "e", info });
    expect(memberText(json, "data")).toBe(data);
  });
});

describe("encoding bytes for JSON clients", () => {
  it("[W7] writes a string of base64 if they aren't JSON", () => {
    const data = Uint8Array.of(0xfb, 0xff, 0x00);
    expect(encodePublication({ data, offset: 1 })).toBe('{"data":"+/8A","offset":1}');
    expect(encodePublication({ data: new Uint8Array(), offset: 1 })).toBe('{"data":"","offset":1}');
    const keyed = { data: new Uint8Array(), offset: 0, key: "k" };
    expect(encodePublication(keyed)).toBe('{"data":"","key":"k"}');
  });

  it("[W7] writes JSON on one line if they are JSON", () => {
    const data = new TextEncoder().encode(' {"a":\r\n1.0}\n');
    expect(encodePublication({ data, offset: 0 })).toBe('{"data":{"a":1.0}}');
  });
});
