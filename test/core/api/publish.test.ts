import { describe, expect, it } from "vitest";
import { parseEntry } from "../../../src/api/methods.ts";
import { limits } from "../../../src/limits.ts";
import { payloadLength } from "../../../src/protocol/payload.ts";
import { caller } from "./channel-config.ts";

const backend = caller();
const parse = (request: string) => parseEntry("publish", request, backend);

/** The publication that a request comes to; a test fails here when it is refused. */
function publicationOf(request: string) {
  const entry = parse(request);
  if (entry.outcome !== "call" || entry.command.method !== "publish") {
    throw new Error(JSON.stringify(entry));
  }
  return entry.command.request;
}

function withVersion(version: string): string {
  return `{"channel":"news","data":1,"version":${version}}`;
}

function base64(data: string | Uint8Array): string {
  return Buffer.from(data).toString("base64");
}

describe("a publish request", () => {
  it("[W1] comes to a call with every option that it has", () => {
    const request = `{"channel":"news","data":{"a":1},"skip_history":true,"tags":{"k":"v"},
      "idempotency_key":"once","delta":true,"version":7,"version_epoch":"e"}`;
    expect(parse(request)).toStrictEqual({
      outcome: "call",
      channel: "news",
      command: {
        method: "publish",
        key: "API_KEY",
        request: {
          data: '{"a":1}',
          tags: { k: "v" },
          skipHistory: true,
          idempotencyKey: "once",
          version: 7n,
          versionEpoch: "e",
          delta: true,
        },
      },
    });
  });

  it.each([
    ["absent", `{"channel":"news","data":1}`],
    [
      "null",
      `{"channel":"news","data":1,"b64data":null,"skip_history":null,"tags":null,"idempotency_key":null,
        "delta":null,"version":null,"version_epoch":null}`,
    ],
  ])("[W1] gives options their meaning of absence when they are %s", (_, request) => {
    expect(publicationOf(request)).toStrictEqual({
      data: "1",
      skipHistory: false,
      idempotencyKey: "",
      version: 0n,
      versionEpoch: "",
      delta: false,
    });
  });

  it("[W1] ignores fields that it doesn't know", () => {
    expect(publicationOf(`{"channel":"news","data":1,"colour":{"a":[]}}`).data).toBe("1");
  });

  it("[W1] keeps tags named like the properties of every object", () => {
    const { tags } = publicationOf(
      `{"channel":"news","data":1,"tags":{"constructor":"a","__proto__":"b"}}`,
    );
    expect(JSON.stringify(tags)).toBe(`{"constructor":"a","__proto__":"b"}`);
  });
});

describe("the data of a publish request", () => {
  it.each([`{"z":1,"a":12345678901234567890,"z":2}`, "null", `""`])(
    "[W2] is taken over byte for byte: %s",
    (data) => {
      expect(publicationOf(`{"data": ${data} ,"channel":"news"}`).data).toBe(data);
    },
  );

  it("[W7] is the text that b64data encodes, byte for byte", () => {
    const data = `{"b":1.0,"a":"é"}`;
    expect(publicationOf(`{"channel":"news","b64data":"${base64(data)}"}`).data).toBe(data);
  });

  it("[W1] comes from b64data when both are given", () => {
    expect(publicationOf(`{"channel":"news","data":1,"b64data":"${base64("2")}"}`).data).toBe("2");
  });

  it.each([
    ["no JSON", "hello"],
    ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["JSON after a byte order mark", "\u{feff}1"],
    ["JSON with something around it", " 1"],
    ["JSON on two lines", '{"a":\n1}'],
  ])("[W4] is the bytes that b64data stands for, where they are %s", (_, bytes) => {
    const { data } = publicationOf(`{"channel":"news","b64data":"${base64(bytes)}"}`);
    expect(data).toStrictEqual(new Uint8Array(Buffer.from(bytes)));
  });

  it.each(["%%%", "a", "a===", "e3\u00e9="])(
    "[W1] is refused when b64data is not valid base64: %s",
    (encoded) => {
      expect(parse(`{"channel":"news","b64data":"${encoded}"}`)).toMatchObject({
        outcome: "refused",
        error: { code: 107 },
        detail: "b64data is not valid base64",
      });
    },
  );

  it("[B1] is as large in b64data as its bytes are, not their base64", () => {
    const bytes = new Uint8Array(limits.publicationBytesMax).fill(0xff);
    const { data } = publicationOf(`{"channel":"news","b64data":"${base64(bytes)}"}`);
    expect(payloadLength(data)).toBe(limits.publicationBytesMax);
    const more = base64(new Uint8Array(limits.publicationBytesMax + 1));
    expect(parse(`{"channel":"news","b64data":"${more}"}`)).toMatchObject({
      error: { code: 107 },
      detail: `data exceeds ${limits.publicationBytesMax} bytes`,
    });
  });

  it("[W1] is refused as bytes where the namespace wants JSON", () => {
    const encoded = base64("hello");
    expect(parse(`{"channel":"json:a","b64data":"${encoded}"}`)).toMatchObject({
      error: { code: 107 },
      detail: "data must be JSON in the channel's namespace",
    });
    expect(parse(`{"channel":"objects:a","b64data":"${encoded}"}`)).toMatchObject({
      error: { code: 107 },
      detail: "data must be a JSON object in the channel's namespace",
    });
    const bytes = publicationOf(`{"channel":"bytes:a","b64data":"${encoded}"}`).data;
    expect(bytes).toStrictEqual(new Uint8Array(Buffer.from("hello")));
    // Absent data are no bytes (rule W11).
    expect(publicationOf(`{"channel":"bytes:a"}`).data).toStrictEqual(new Uint8Array());
  });

  it.each([
    `{"channel":"news"}`,
    `{"channel":"news","b64data":""}`,
    `{"channel":"news","b64data":" "}`,
  ])("[W1] is required: %s", (request) => {
    expect(parse(request)).toMatchObject({ error: { code: 107 }, detail: "data is required" });
  });

  it("[W1] must be an object where the namespace says so", () => {
    expect(parse(`{"channel":"objects:a","data":[1]}`)).toMatchObject({
      error: { code: 107 },
      detail: "data must be a JSON object in the channel's namespace",
    });
    expect(publicationOf(`{"channel":"objects:a","data": {"a":1}}`).data).toBe(`{"a":1}`);
  });
});

describe("the version of a publish request", () => {
  it.each([
    ["0", 0n],
    ["9007199254740993", 9007199254740993n],
    ["18446744073709551615", 18446744073709551615n],
  ])("[H9] is read exactly: %s", (digits, version) => {
    expect(publicationOf(withVersion(digits)).version).toBe(version);
  });

  it.each(["18446744073709551616", "1.0", "1e3"])(
    "[W4] makes the request malformed when it is %s",
    (version) => {
      expect(parse(withVersion(version))).toStrictEqual({
        outcome: "malformed",
        detail: "the field version must be an unsigned 64 bit integer",
      });
    },
  );
});

describe("a publish request is refused", () => {
  it.each([
    ["without a channel", `{"data":1}`, 107, "channel is required"],
    ["with an empty channel", `{"channel":"","data":1}`, 107, "channel is required"],
    ["with a null channel", `{"channel":null,"data":1}`, 107, "channel is required"],
    [
      "with a name that is too long",
      `{"channel":"${"c".repeat(256)}","data":1}`,
      107,
      "the channel name is over 255 bytes",
    ],
    [
      "with half a surrogate pair in the name",
      String.raw`{"channel":"\ud83d","data":1}`,
      107,
      "the channel name is not well-formed Unicode",
    ],
    [
      "for a namespace that isn't configured",
      `{"channel":"strange:a","data":1}`,
      102,
      "channel.namespaces doesn't have strange",
    ],
    [
      "for its channel before its data",
      `{"channel":"strange:a"}`,
      102,
      "channel.namespaces doesn't have strange",
    ],
    [
      "with a tag that is no string",
      `{"channel":"news","data":1,"tags":{"k":1}}`,
      107,
      "all values of tags must be strings",
    ],
  ])("[W1] %s", (_, request, code, detail) => {
    expect(parse(request)).toMatchObject({ outcome: "refused", error: { code }, detail });
  });

  it.each([
    [
      "data",
      limits.publicationBytesMax,
      (bytes: number) => `"data":"${"é".repeat(bytes / 2 - 1)}"`,
    ],
    [
      "tags",
      limits.tagsBytesMax,
      (bytes: number) => `"data":1,"tags":{"t":"${"é".repeat((bytes - 8) / 2)}"}`,
    ],
    [
      "idempotency_key",
      limits.idempotencyKeyBytesMax,
      (bytes: number) => `"data":1,"idempotency_key":"${"é".repeat(bytes / 2)}"`,
    ],
    [
      "version_epoch",
      limits.versionEpochBytesMax,
      (bytes: number) => `"data":1,"version_epoch":"${"é".repeat(bytes / 2)}"`,
    ],
  ])(
    "[B2] with more %s than its limit in bytes, and not with as much",
    (field, bytesMax, fields) => {
      expect(parse(`{"channel":"news",${fields(bytesMax)}}`).outcome).toBe("call");
      expect(parse(`{"channel":"news",${fields(bytesMax + 2)}}`)).toMatchObject({
        outcome: "refused",
        error: { code: 107 },
        detail: `${field} exceeds ${bytesMax} bytes`,
      });
    },
  );
});

describe("a publish request is malformed", () => {
  // The test of the OpenAPI schema tries values of every type for each field.
  it.each([
    ["[]", "the request must be an object"],
    [`{"channel":1,"data":1}`, "the field channel must be a string"],
    [`{"channel":"news","data":1,"tags":["a"]}`, "the field tags must be an object"],
    [`{"channel":"news","data":1,"skip_history":1}`, "the field skip_history must be a boolean"],
  ])("[W4] when it is %s", (request, detail) => {
    expect(parse(request)).toStrictEqual({ outcome: "malformed", detail });
  });
});

describe("the condition of a publish request", () => {
  const kept = { channel: "kept:a", data: 1 };

  it("[W1] is the offset of the newest publication, and 0 is one", () => {
    for (const offset of [0, 7, Number.MAX_SAFE_INTEGER]) {
      expect(publicationOf(JSON.stringify({ ...kept, if_offset: offset }))).toMatchObject({
        ifOffset: offset,
      });
    }
    for (const if_offset of [null, undefined])
      expect(publicationOf(JSON.stringify({ ...kept, if_offset }))).not.toHaveProperty("ifOffset");
  });

  it("[W1] is refused where the publication gets no offset", () => {
    expect(parse(JSON.stringify({ ...kept, if_offset: 1, skip_history: true }))).toMatchObject({
      error: { code: 107 },
      detail: "if_offset and skip_history exclude each other",
    });
    expect(parse(`{"channel":"news","data":1,"if_offset":1}`)).toMatchObject({
      error: { code: 108 },
      detail: "if_offset requires a channel with history",
    });
  });

  it.each(["-1", "1.5", `"1"`, "9007199254740992"])("[W4] is malformed if it is %s", (offset) => {
    expect(parse(`{"channel":"kept:a","data":1,"if_offset":${offset}}`)).toStrictEqual({
      outcome: "malformed",
      detail: "the field if_offset must be an integer from 0 to 2^53 - 1",
    });
  });
});
