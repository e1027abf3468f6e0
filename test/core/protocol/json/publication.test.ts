import { describe, expect, it } from "vitest";
import { encodeBare, encodeClientInfo } from "../../../../src/protocol/json/encode.ts";
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
  it("[W1] writes the data alone when there is nothing else", () => {
    expect(encodePublication({ data: valid('{"a":1.0}'), offset: 0 })).toBe('{"data":{"a":1.0}}');
  });

  it("[W1] writes every field in the order of the field numbers", () => {
    const publication = {
      data: valid("null"),
      offset: 9_007_199_254_740_991,
      epoch: "e",
      info: { ...info, connInfo: valid('{"n":1}'), chanInfo: valid("[]") },
      tags: { b: "2", a: 'x"\n' },
    };
    expect(encodePublication(publication)).toBe(
      String.raw`{"data":null,"info":{"user":"42","client":"c1","conn_info":{"n":1},"chan_info":[]},"offset":9007199254740991,"tags":{"b":"2","a":"x\"\n"},"epoch":"e"}`,
    );
  });

  it("[W1] leaves out empty tags and an empty epoch", () => {
    expect(encodePublication({ data: valid("1"), offset: 2, epoch: "", tags: {} })).toBe(
      '{"data":1,"offset":2}',
    );
  });

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
  });

  it("[W7] writes JSON on one line if they are JSON", () => {
    const data = new TextEncoder().encode(' {"a":\r\n1.0}\n');
    expect(encodePublication({ data, offset: 0 })).toBe('{"data":{"a":1.0}}');
  });
});

describe("encoding a client info", () => {
  it("[W1] writes user and client even when they are empty", () => {
    expect(encodeClientInfo({ user: "", client: "" })).toBe('{"user":"","client":""}');
  });

  it("[W1] escapes names and splices infos in raw", () => {
    const encoded = encodeClientInfo({ user: '"é\n', client: "c", chanInfo: valid('"<b>&é"') });
    expect(encoded).toBe(String.raw`{"user":"\"é\n","client":"c","chan_info":"<b>&é"}`);
  });
});
