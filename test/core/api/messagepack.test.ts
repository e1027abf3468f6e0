import * as fc from "fast-check";
import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { messagePackToJson } from "../../../src/api/messagepack.ts";
import { parseBatch } from "../../../src/api/batch.ts";
import { parseCommand } from "../../../src/api/methods.ts";
import { limits } from "../../../src/limits.ts";
import { depthMax } from "../../../src/protocol/messagepack/value.ts";
import { fromHex } from "../protocol/messagepack/hex.ts";
import { caller } from "./channel-config.ts";

const bytes = Uint8Array.of(0, 0xff);

/** An array of so many nulls. */
const nothings = (count: number): Uint8Array => {
  const array = new Uint8Array(count + 5).fill(0xc0);
  array[0] = 0xdd;
  new DataView(array.buffer).setUint32(1, count);
  return array;
};

describe("a MessagePack request", () => {
  it.each<[string, object]>([
    [
      String.raw`{"channel":"x","data":{"a":[1,-1,null,true,"é\n"]}}`,
      { channel: "x", data: { a: [1, -1, null, true, "é\n"] } },
    ],
    ['{"channel":"x","b64data":"AP8="}', { channel: "x", data: bytes }],
    ['{"channels":["x","y"],"b64data":""}', { channels: ["x", "y"], data: new Uint8Array() }],
    [
      '{"commands":[{"publish":{"channel":"x","b64data":"AP8="}},{"broadcast":{"b64data":"AP8="}}]}',
      { commands: [{ publish: { channel: "x", data: bytes } }, { broadcast: { data: bytes } }] },
    ],
    [
      '{"version":18446744073709551615,"low":-9223372036854775808}',
      { version: 2n ** 64n - 1n, low: -(2n ** 63n) },
    ],
    ['{"ratio":1.5,"tiny":1e-300,"huge":1e+300}', { ratio: 1.5, tiny: 1e-300, huge: 1e300 }],
    ["{}", {}],
    ["[]", []],
  ])("[W6] becomes JSON that says the same: %s", (json, request) => {
    expect(messagePackToJson(encode(request, { useBigInt64: true }))).toBe(json);
  });

  it("[W6] [B1] has at most so many values, however small they are", () => {
    // With the array itself.
    const most = limits.messagePackValuesMax - 1;
    expect(messagePackToJson(nothings(most))?.length).toBe(most * "null,".length + 1);
    expect(messagePackToJson(nothings(most + 1))).toBeUndefined();
  });

  it.each<[string, object]>([
    ["elsewhere in the request", { channel: bytes }],
    ["in a batch, but not in a command", { commands: [{ data: bytes }] }],
    ["in a payload that is no bytes", { data: { data: bytes } }],
    ["in an array", { data: [bytes] }],
    ["among tags", { tags: { data: bytes } }],
    ["in a payload within a batch", { commands: [{ publish: { data: { data: bytes } } }] }],
  ])("[W6] is refused with bytes %s", (_, request) => {
    expect(messagePackToJson(encode(request))).toBeUndefined();
  });

  it.each([
    ["nothing", ""],
    ["two values", "80 80"],
    ["NaN", "81 a161 cb 7ff8000000000000"],
    ["infinity", "81 a161 ca 7f800000"],
    ["too many levels", `${"91".repeat(depthMax)}90`],
  ])("[W6] is refused: %s", (_, hex) => {
    expect(messagePackToJson(fromHex(hex))).toBeUndefined();
  });

  it("[W6] is refused if its JSON is more than twice the limit of a request", () => {
    // Each of these characters is a byte of MessagePack and six of JSON, with two quotes around all.
    const most = Math.floor((limits.requestBytesMax * 2 - 2) / 6);
    expect(messagePackToJson(encode("\u0001".repeat(most)))).toHaveLength(most * 6 + 2);
    expect(messagePackToJson(encode("\u0001".repeat(most + 1)))).toBeUndefined();
  });

  it("[W6] becomes one text however many pieces it is made of", () => {
    const array = Array.from({ length: 20_000 }, (_, index) => index);
    expect(messagePackToJson(encode(array))).toBe(JSON.stringify(array));
  });

  it("[W6] publishes the bytes that stand in it", () => {
    const request = messagePackToJson(encode({ channel: "bytes:x", data: bytes })) ?? "";
    expect(parseCommand("publish", request, caller())).toMatchObject({
      command: { entry: { command: { request: { data: bytes } } } },
    });
    const batch = messagePackToJson(
      encode({ commands: [{ publish: { channel: "bytes:x", data: bytes } }] }),
    );
    expect(parseBatch(batch ?? "", caller())).toMatchObject({
      commands: [{ entry: { command: { request: { data: bytes } } } }],
    });
  });

  it("[W6] says what the same request says in JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value).replaceAll('"__proto__":', '"proto":');
        const same = messagePackToJson(encode(JSON.parse(json)));
        expect(JSON.parse(same ?? "")).toStrictEqual(JSON.parse(json));
      }),
      { seed: 66, numRuns: 500 },
    );
  });

  it("[W6] never throws and is never anything but JSON, whatever bytes come", () => {
    const head = fc.constantFrom(0x80, 0x81, 0x91, 0xa1, 0xc0, 0xc4, 0xca, 0xcb, 0xcf, 0xdc);
    const bodies = fc
      .array(fc.oneof(head, fc.nat(255)), { minLength: 1, maxLength: 60 })
      .map((body) => Uint8Array.from(body));
    fc.assert(
      fc.property(bodies, (body) => {
        const json = messagePackToJson(body);
        expect(json === undefined || JSON.stringify(JSON.parse(json)) !== undefined).toBe(true);
      }),
      { seed: 67, numRuns: 5_000 },
    );
  });
});
