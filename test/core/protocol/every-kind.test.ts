import { decode, encode } from "@msgpack/msgpack";
import { parse } from "protobufjs";
import { describe, expect, it } from "vitest";
import type { FieldReader, FieldWriter } from "../../../src/protocol/fields.ts";
import { JsonFields } from "../../../src/protocol/json/fields.ts";
import type { JsonText } from "../../../src/protocol/json/text.ts";
import { jsonOf } from "../../../src/protocol/json/encode.ts";
import { messagePackOf } from "../../../src/protocol/messagepack/writer.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import { ProtobufFields } from "../../../src/protocol/protobuf/fields.ts";
import { protobufOf } from "../../../src/protocol/protobuf/writer.ts";
import type { WireObject } from "../../../src/protocol/wire-value.ts";
import { utf8 } from "./messagepack/hex.ts";
import { valid } from "./valid-json-text.ts";

/** A message that isn't in the protocol, with a field of every kind: what is named here is all that a format needs to know. */
interface Sent {
  readonly text?: string;
  readonly flag?: boolean;
  readonly count?: number;
  readonly wide?: bigint;
  readonly signed?: number;
  readonly seconds: number;
  readonly data: Payload;
  readonly json?: JsonText;
  readonly inner?: Sent;
  readonly list: readonly Sent[];
  readonly byName: readonly (readonly [string, Sent])[];
  readonly tags?: Readonly<Record<string, string>>;
}

function sentFields(out: FieldWriter, message: Sent): void {
  out.text(1, "text", message.text);
  out.text(2, "text_always", message.text, "always");
  out.flag(3, "flag", message.flag);
  out.unsigned(4, "count", message.count);
  out.unsigned(5, "count_always", message.count, "always");
  out.seconds(6, "seconds", message.seconds);
  out.payload(7, "data", message.data);
  out.json(8, "json", message.json);
  out.message(9, "inner", message.inner, sentFields);
  out.messages(10, "list", message.list, sentFields);
  out.map(11, "by_name", message.byName, sentFields);
  out.textMap(12, "tags", message.tags);
  out.wide(13, "wide", message.wide);
  out.signed(14, "signed", message.signed);
}

function lists(out: FieldWriter, message: Sent): void {
  out.messages(1, "list", message.list, sentFields, "always");
  out.map(2, "by_name", message.byName, sentFields, "always");
}

const { root } = parse(
  `syntax = "proto3";
  message Sent {
    string text = 1;
    string text_always = 2;
    bool flag = 3;
    uint64 count = 4;
    uint32 count_always = 5;
    uint32 seconds = 6;
    bytes data = 7;
    bytes json = 8;
    Sent inner = 9;
    repeated Sent list = 10;
    map<string, Sent> by_name = 11;
    map<string, string> tags = 12;
    uint64 wide = 13;
    sint64 signed = 14;
  }
  message Received {
    string text = 1;
    repeated string texts = 2;
    bool flag = 3;
    uint32 uint32 = 4;
    uint64 uint64 = 5;
    int32 int32 = 6;
    int64 int64 = 7;
    bytes data = 8;
    Received inner = 9;
    repeated Received list = 10;
    map<string, Received> by_name = 11;
    uint64 wide = 12;
  }`,
  { keepCase: true },
);

const empty: Sent = { seconds: 0, data: valid("1"), list: [], byName: [] };
const full: Sent = {
  text: 'é"\n',
  flag: true,
  count: 300,
  seconds: 9,
  data: Uint8Array.of(0xff, 0),
  json: valid('{"a":1.0}'),
  inner: empty,
  list: [empty, { ...empty, text: "t" }],
  byName: [
    ["", empty],
    ["é", { ...empty, flag: true }],
  ],
  tags: { t: "v", "": "" },
  wide: 18_446_744_073_709_551_615n,
  signed: -300,
};

describe("a message with a field of every kind", () => {
  it("[W1] is written in JSON", () => {
    expect(jsonOf(full, sentFields)).toBe(
      String.raw`{"text":"é\"\n","text_always":"é\"\n","flag":true,"count":300,"count_always":300,"seconds":9,"data":"/wA=","json":{"a":1.0},"inner":{"data":1},"list":[{"data":1},{"text":"t","text_always":"t","data":1}],"by_name":{"":{"data":1},"é":{"flag":true,"data":1}},"tags":{"t":"v","":""},"wide":18446744073709551615,"signed":-300}`,
    );
  });

  it("[W5] is written in Protobuf", () => {
    const type = root.lookupType("Sent");
    const message = type.decodeDelimited(protobufOf(full, sentFields));
    const one = { data: "MQ==" };
    expect(type.toObject(message, { bytes: String, longs: String })).toStrictEqual({
      text: 'é"\n',
      text_always: 'é"\n',
      flag: true,
      count: "300",
      count_always: 300,
      seconds: 9,
      data: "/wA=",
      json: Buffer.from('{"a":1.0}').toString("base64"),
      inner: one,
      list: [one, { text: "t", text_always: "t", ...one }],
      by_name: { "": one, é: { flag: true, ...one } },
      tags: { t: "v", "": "" },
      wide: "18446744073709551615",
      signed: "-300",
    });
  });

  it("[W6] is written in MessagePack, with the fields that it has in JSON", () => {
    const one = { data: utf8("1") };
    expect(decode(messagePackOf(full, sentFields, 0), { useBigInt64: true })).toStrictEqual({
      text: 'é"\n',
      text_always: 'é"\n',
      flag: true,
      count: 300,
      count_always: 300,
      seconds: 9,
      data: Uint8Array.of(0xff, 0),
      json: utf8('{"a":1.0}'),
      inner: one,
      list: [one, { text: "t", text_always: "t", ...one }],
      by_name: { "": one, é: { flag: true, ...one } },
      tags: { t: "v", "": "" },
      wide: 18_446_744_073_709_551_615n,
      signed: -300,
    });
  });

  it.each([
    1,
    127,
    -1,
    -32,
    -33,
    -128,
    -129,
    -32_768,
    -32_769,
    -(2 ** 31),
    -(2 ** 31) - 1,
    2 ** 40,
  ])("[W1] [W5] [W6] is written with the signed number %i", (signed) => {
    expect(givenBack(signed)).toMatchObject([{ signed }, { signed }, { signed }]);
  });

  it.each([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    "[W1] [W5] [W6] is written with the signed number %i, which is as far from 0 as a safe integer can be",
    (signed) => {
      expect(givenBack(signed)).toMatchObject([{ signed }, { signed }, { signed }]);
    },
  );

  it("[W6] is written with more fields than the shortest head of a map counts", () => {
    const texts = Array.from({ length: 40 }, (_, index) => [`f${index}`, "t".repeat(index + 1)]);
    function many(out: FieldWriter): void {
      out.message(1, "inner", texts, (inner) => {
        for (const [index, [name = "", text]] of texts.entries()) inner.text(index + 1, name, text);
      });
      out.text(2, "after", "a");
    }
    expect(decode(messagePackOf(texts, many, 0))).toStrictEqual({
      inner: Object.fromEntries(texts),
      after: "a",
    });
  });

  it("[W1] [W5] [W6] is written without what is zero, false or empty, unless it is written always", () => {
    const zero: Sent = { ...empty, text: "", flag: false, count: 0, wide: 0n, signed: 0, tags: {} };
    expect(jsonOf(zero, sentFields)).toBe('{"text_always":"","count_always":0,"data":1}');
    expect(decode(messagePackOf(zero, sentFields, 0))).toStrictEqual({
      text_always: "",
      count_always: 0,
      data: utf8("1"),
    });
    expect(Buffer.from(protobufOf(zero, sentFields)).toString("hex")).toBe("033a0131");
  });

  it("[W1] [W6] is written with empty lists and maps that are written always", () => {
    expect(jsonOf(empty, lists)).toBe('{"list":[],"by_name":{}}');
    expect(decode(messagePackOf(empty, lists, 0))).toStrictEqual({ list: [], by_name: {} });
    expect(protobufOf(empty, lists)).toStrictEqual(Uint8Array.of(0));
  });
});

/** A signed number as each of the formats gives it back. */
function givenBack(signed: number): readonly unknown[] {
  const message = { ...empty, signed };
  const type = root.lookupType("Sent");
  const decoded = type.decodeDelimited(protobufOf(message, sentFields));
  return [
    JSON.parse(jsonOf(message, sentFields)),
    type.toObject(decoded, { longs: Number }),
    decode(messagePackOf(message, sentFields, 0)),
  ];
}

function received(fields: FieldReader, depth: number): object {
  const values = {
    text: fields.text(1, "text"),
    texts: fields.texts(2, "texts"),
    flag: fields.flag(3, "flag"),
    uint32: fields.uint32(4, "uint32"),
    uint64: fields.uint64(5, "uint64"),
    // As text, since JSON has no big integers.
    wide: String(fields.wide(12, "wide")),
    int32: fields.int32(6, "int32"),
    int64: fields.int64(7, "int64"),
    data: fields.payload(8, "data"),
  };
  if (depth === 0) return values;
  const inner = fields.message(9, "inner");
  return {
    ...values,
    inner: inner && received(inner, depth - 1),
    list: Array.from(fields.messages(10, "list"), (one) => received(one, depth - 1)),
    by_name: Object.fromEntries(
      Array.from(fields.map(11, "by_name", 9), ([key, one]) => [key, received(one, depth - 1)]),
    ),
  };
}

const values = {
  text: "é",
  texts: ["a", ""],
  flag: true,
  uint32: 4_294_967_295,
  uint64: Number.MAX_SAFE_INTEGER,
  int32: -2_147_483_648,
  int64: Number.MIN_SAFE_INTEGER,
};

describe("reading a message with a field of every kind", () => {
  const nothing = {
    text: "",
    texts: [],
    flag: false,
    uint32: 0,
    uint64: 0,
    wide: "0",
    int32: 0,
    int64: 0,
    data: undefined,
  };
  const tree = {
    ...values,
    wide: 2 ** 63,
    inner: {},
    list: [{ text: "t" }],
    by_name: { k: { flag: true } },
  };
  const expected = {
    ...values,
    wide: "9223372036854775808",
    inner: nothing,
    list: [{ ...nothing, text: "t" }],
    by_name: { k: { ...nothing, flag: true } },
  };

  it("[W1] gives all of it in JSON", () => {
    const json = JSON.stringify({ ...tree, data: 1 });
    const complaints: string[] = [];
    const object: WireObject = JSON.parse(json);
    const read = received(new JsonFields(object, [], complaints, json), 1);
    // Payloads of inner messages aren't read, since no request has one.
    expect(JSON.parse(JSON.stringify(read))).toMatchObject(
      JSON.parse(JSON.stringify({ ...expected, data: "1" })),
    );
    expect(complaints).toStrictEqual([]);
  });

  it("[W5] gives all of it in Protobuf", () => {
    const type = root.lookupType("Received");
    const bytes = type.encode(type.fromObject({ ...tree, data: Buffer.from("1") })).finish();
    const complaints: string[] = [];
    expect(received(new ProtobufFields(bytes, "", complaints), 1)).toStrictEqual({
      ...expected,
      data: "1",
    });
    expect(complaints).toStrictEqual([]);
  });

  it("[W6] gives all of it in MessagePack", () => {
    const object: WireObject = Object(decode(encode({ ...tree, data: utf8("1") })));
    const complaints: string[] = [];
    expect(received(new JsonFields(object, [], complaints, undefined), 1)).toStrictEqual({
      ...expected,
      data: "1",
    });
    expect(complaints).toStrictEqual([]);
  });
});
