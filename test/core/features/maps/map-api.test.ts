import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { parseBatch } from "../../../../src/api/batch.ts";
import { entriesOf } from "../../../../src/api/command.ts";
import { parseLegacy } from "../../../../src/api/legacy.ts";
import { messagePackToJson } from "../../../../src/api/messagepack.ts";
import type { OperationName } from "../../../../src/access/operations.ts";
import type { MapOperation } from "../../../../src/features/maps/map-call.ts";
import { parseEntry } from "../../../../src/api/methods.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { caller } from "../../api/channel-config.ts";

const backend = caller();

type Method = MapOperation["method"] & OperationName;

const parse = (method: Method, request: object | string) =>
  parseEntry(method, typeof request === "string" ? request : JSON.stringify(request), backend);

/** The command that a request comes to; a test fails here when it is refused. */
function commandOf(method: Method, request: object | string) {
  const entry = parse(method, request);
  if (entry.outcome !== "call") throw new Error(JSON.stringify(entry));
  expect(entry.channel).toBe("scores:a");
  return entry.command;
}

const channel = "scores:a";
const set = { channel, key: "k", data: 1 };
const methods = [
  "map_publish",
  "map_remove",
  "map_append",
  "map_read_state",
  "map_read_stream",
  "map_stats",
  "map_clear",
] as const;

/** A request of each method that is carried out. */
const requests: Readonly<Record<Method, object>> = {
  map_publish: set,
  map_remove: { channel, key: "k" },
  map_append: { channel, key: "k", text: "t" },
  map_read_state: { channel },
  map_read_stream: { channel },
  map_stats: { channel },
  map_clear: { channel },
};

describe("a request for a map", () => {
  it("[W1] comes to a command with every option that it has: map_publish", () => {
    const request = `{"channel":"scores:a","key":"é","data":{"a":1.0},"stream_data":[ 1 ],"tags":{"t":"v"},
      "idempotency_key":"once","delta":true,"version":18446744073709551615,"version_epoch":"e",
      "key_mode":"if_new","score":-7,"if_offset":0}`;
    expect(commandOf("map_publish", request)).toStrictEqual({
      method: "map_publish",
      key: "API_KEY",
      request: {
        key: "é",
        data: '{"a":1.0}',
        streamData: "[ 1 ]",
        tags: { t: "v" },
        score: -7,
        keyMode: "if_new",
        idempotencyKey: "once",
        version: 18_446_744_073_709_551_615n,
        versionEpoch: "e",
        delta: true,
        ifOffset: 0,
      },
    });
  });

  it.each([
    set,
    {
      ...set,
      b64data: null,
      stream_data: undefined,
      tags: null,
      idempotency_key: null,
      delta: null,
      version: null,
      key_mode: null,
      score: null,
      if_offset: null,
    },
  ])("[W1] gives the options of map_publish their meaning of absence: %j", (request) => {
    expect(commandOf("map_publish", request)).toStrictEqual({
      method: "map_publish",
      key: "API_KEY",
      request: {
        key: "k",
        data: "1",
        keyMode: "",
        idempotencyKey: "",
        version: 0n,
        versionEpoch: "",
        delta: false,
      },
    });
  });

  it("[W2] takes bytes for the value and for what the stream gets", () => {
    const encoded = { channel, key: "k", b64data: "AP8=", b64stream_data: "MQ==" };
    expect(commandOf("map_publish", encoded)).toMatchObject({
      request: { data: Uint8Array.of(0, 255), streamData: "1" },
    });
    const bytes = { data: Uint8Array.of(0, 255), stream_data: Uint8Array.of(0x31) };
    const json = messagePackToJson(encode({ channel, key: "k", ...bytes }));
    expect(JSON.parse(json ?? "")).toStrictEqual(encoded);
  });

  it("[W1] comes to a command with every option that it has: map_remove", () => {
    const request = { ...requests.map_remove, idempotency_key: "once", if_offset: 5 };
    expect(commandOf("map_remove", request)).toStrictEqual({
      method: "map_remove",
      key: "API_KEY",
      request: { key: "k", idempotencyKey: "once", ifOffset: 5 },
    });
    expect(commandOf("map_remove", requests.map_remove)).toStrictEqual({
      method: "map_remove",
      key: "API_KEY",
      request: { key: "k", idempotencyKey: "" },
    });
  });

  it.each([
    [{}, { key: "", cursor: "", limit: 0, asc: false }],
    [
      { cursor: "c", limit: -1, key: "k", asc: true, revision_offset: 7, revision_epoch: "e" },
      {
        key: "k",
        cursor: "c",
        limit: -1,
        asc: true,
        revision: { offset: 7, epoch: "e" },
      },
    ],
    [
      { revision_epoch: "e" },
      { key: "", cursor: "", limit: 0, asc: false, revision: { offset: 0, epoch: "e" } },
    ],
  ])("[W1] comes to a command: map_read_state %j", (options, request) => {
    expect(commandOf("map_read_state", { channel, ...options })).toStrictEqual({
      method: "map_read_state",
      request,
    });
  });

  it.each([
    [{}, { key: "k", text: "t", final: false, idempotencyKey: "" }],
    [
      { text: "", at: 0, field: "f", final: true, idempotency_key: "once" },
      { key: "k", text: "", at: 0, field: "f", final: true, idempotencyKey: "once" },
    ],
  ])("[W1] comes to a command: map_append %j", (options, request) => {
    expect(commandOf("map_append", { ...requests.map_append, ...options })).toStrictEqual({
      method: "map_append",
      key: "API_KEY",
      request,
    });
  });

  it.each([
    [{}, { limit: 0, reverse: false }],
    [
      { since_offset: 7, since_epoch: "e", limit: 5, reverse: true },
      { limit: 5, reverse: true, since: { offset: 7, epoch: "e" } },
    ],
    [{ since_epoch: "e" }, { limit: 0, reverse: false, since: { offset: 0, epoch: "e" } }],
  ])("[W1] comes to a command: map_read_stream %j", (options, request) => {
    expect(commandOf("map_read_stream", { channel, ...options })).toStrictEqual({
      method: "map_read_stream",
      request,
    });
  });

  it.each(["map_stats", "map_clear"] as const)("[W1] comes to a command: %s", (method) => {
    expect(commandOf(method, { channel })).toStrictEqual({ method });
  });

  it("[W10] clears no map for a key of it", () => {
    expect(parse("map_clear", { channel, key: "k" })).toMatchObject({
      error: errorCodes.badRequest,
      detail: "key is not a field of this method",
    });
    expect(commandOf("map_clear", { channel, key: "" })).toStrictEqual({ method: "map_clear" });
  });
});

/** A request of a method for another channel. */
const on = (method: Method, name: string) => parse(method, { ...requests[method], channel: name });

describe.each(methods)("a %s request", (method) => {
  it("[W1] is refused without a channel, for an unknown namespace, and on what is no map", () => {
    expect(on(method, "")).toMatchObject({ outcome: "refused", detail: "channel is required" });
    expect(on(method, "strange:a")).toMatchObject({ error: errorCodes.unknownChannel });
    for (const name of ["news", "kept:a", "votes:a"]) {
      expect(on(method, name)).toStrictEqual({
        outcome: "refused",
        channel: name,
        error: errorCodes.badRequest,
        detail: "the channel's namespace is not one of maps",
      });
    }
  });

  it("[A14] is refused by a key that doesn't admit the method, or the channel", () => {
    const request = JSON.stringify(requests[method]);
    const publisher = caller({ methods: ["publish"], channels: ["*"] });
    expect(parseEntry(method, request, publisher)).toMatchObject({
      error: errorCodes.permissionDenied,
      detail: `the API key "billing" of http_api.keys doesn't admit the method ${method}`,
    });
    const elsewhere = caller({ methods: [method], channels: ["cursors:*"] });
    expect(parseEntry(method, request, elsewhere)).toMatchObject({
      error: errorCodes.permissionDenied,
    });
    const admitted = caller({ methods: [method], channels: ["scores:*"] });
    expect(parseEntry(method, request, admitted)).toMatchObject({ outcome: "call" });
  });

  it("[W4] is read in a batch and in a line as by itself", () => {
    const alone = parse(method, requests[method]);
    const batch = parseBatch(
      JSON.stringify({ commands: [{ [method]: requests[method] }] }),
      backend,
    );
    if (batch.outcome !== "batch") throw new Error(JSON.stringify(batch));
    expect(batch.commands.flatMap(entriesOf)).toStrictEqual([alone]);
    const line = JSON.stringify({ id: 1, method, params: requests[method] });
    const legacy = parseLegacy(line, backend);
    if (legacy.outcome !== "lines") throw new Error(JSON.stringify(legacy));
    expect(legacy.lines.flatMap(({ command }) => entriesOf(command))).toStrictEqual([alone]);
  });
});

const longKey = "é".repeat(limits.mapKeyBytesMax / 2);

describe("a request for a map is refused", () => {
  it.each<[Method, object | string, string]>([
    ["map_publish", { channel, data: 1 }, "key is required"],
    ["map_remove", { channel }, "key is required"],
    ["map_publish", { channel, key: "k" }, "data is required"],
    ["map_append", { channel, text: "t" }, "key is required"],
    ["map_append", { channel, key: "k" }, "text is required"],
    [
      "map_append",
      String.raw`{"channel":"scores:a","key":"k","text":"\ud800"}`,
      "text has half of a surrogate pair",
    ],
    [
      "map_append",
      String.raw`{"channel":"scores:a","key":"k","text":"t","field":"\udc00"}`,
      "field has half of a surrogate pair",
    ],
    [
      "map_append",
      { channel, key: "k", text: "t", field: `${longKey}x` },
      `field exceeds ${limits.mapKeyBytesMax} bytes`,
    ],
    [
      "map_append",
      {
        channel,
        key: "k",
        text: "t",
        idempotency_key: "x".repeat(limits.idempotencyKeyBytesMax + 1),
      },
      `idempotency_key exceeds ${limits.idempotencyKeyBytesMax} bytes`,
    ],
    [
      "map_append",
      { channel: "cursors:a", key: "k", text: "t" },
      "the namespace accepts objects only: field names the text in one",
    ],
    ["map_publish", { channel, key: "k", b64data: "%" }, "b64data is not valid base64"],
    ["map_publish", { ...set, b64stream_data: "%" }, "b64stream_data is not valid base64"],
    ["map_publish", { ...set, tags: { a: 1 } }, "all values of tags must be strings"],
    ["map_publish", { ...set, key_mode: "IF_NEW" }, 'key_mode must be "", "if_new" or "if_exists"'],
    [
      "map_publish",
      String.raw`{"channel":"scores:a","key":"\ud800","data":1}`,
      "key is not well-formed Unicode",
    ],
    [
      "map_remove",
      { channel, key: "k", idempotency_key: "x".repeat(limits.idempotencyKeyBytesMax + 1) },
      `idempotency_key exceeds ${limits.idempotencyKeyBytesMax} bytes`,
    ],
    ["map_read_state", { channel, limit: -2 }, "limit must be -1 or more"],
    ["map_read_stream", { channel, limit: -2 }, "limit must be -1 or more"],
    [
      "map_read_stream",
      { channel, since_epoch: "e", reverse: true },
      "since_offset must be above 0 when reverse is set",
    ],
    [
      "map_publish",
      { channel: "cursors:a", key: "k", data: 1 },
      "data must be a JSON object in the channel's namespace",
    ],
    [
      "map_publish",
      { channel: "cursors:a", key: "k", data: {}, stream_data: 1 },
      "data must be a JSON object in the channel's namespace",
    ],
  ])("[W1] with 107: %s %j", (method, request, detail) => {
    const error = errorCodes.badRequest;
    expect(parse(method, request)).toMatchObject({ outcome: "refused", error, detail });
  });

  it("[W1] with 108 if it reads the stream of an ephemeral map, which has none", () => {
    expect(parse("map_read_stream", { channel: "cursors:a" })).toMatchObject({
      error: errorCodes.notAvailable,
    });
    expect(parse("map_read_state", { channel: "cursors:a" })).toMatchObject({ outcome: "call" });
  });

  it.each<[Method, object, string, number]>([
    ["map_publish", { channel, data: 1 }, "key", limits.mapKeyBytesMax],
    ["map_remove", { channel }, "key", limits.mapKeyBytesMax],
    ["map_read_state", { channel }, "key", limits.mapKeyBytesMax],
    ["map_read_state", { channel }, "cursor", limits.mapCursorBytesMax],
  ])("[B2] beyond the bytes of a field: %s %j", (method, request, field, bytesMax) => {
    const of = (bytes: number) => parse(method, { ...request, [field]: "x".repeat(bytes) });
    expect(of(bytesMax)).toMatchObject({ outcome: "call" });
    expect(of(bytesMax + 1)).toMatchObject({
      error: errorCodes.badRequest,
      detail: `${field} exceeds ${bytesMax} bytes`,
    });
    // The bound is one of bytes, and not of characters.
    const wide = { ...request, [field]: "é".repeat(Math.floor(bytesMax / 2) + 1) };
    expect(parse(method, wide)).toMatchObject({ error: errorCodes.badRequest });
  });

  it("[B2] beyond the bytes of what subscribers get", () => {
    const text = "x".repeat(limits.publicationBytesMax);
    expect(parse("map_publish", { ...set, stream_data: text })).toMatchObject({
      detail: `stream_data exceeds ${limits.publicationBytesMax} bytes`,
    });
    expect(parse("map_publish", { ...set, stream_data: text.slice(2) })).toMatchObject({
      outcome: "call",
    });
  });

  it.each<[Method, string, string]>([
    ["map_publish", `{"channel":"scores:a","key":1}`, "the field key must be a string"],
    [
      "map_publish",
      `{"key":"k","data":1,"score":1.5}`,
      "score must be an integer of less than 2^53",
    ],
    [
      "map_publish",
      `{"key":"k","data":1,"score":9007199254740992}`,
      "score must be an integer of less than 2^53",
    ],
    [
      "map_publish",
      `{"key":"k","data":1,"if_offset":-1}`,
      "if_offset must be an integer from 0 to 2^53 - 1",
    ],
    [
      "map_remove",
      `{"key":"k","if_offset":9007199254740992}`,
      "if_offset must be an integer from 0 to 2^53 - 1",
    ],
    ["map_publish", `{"key":"k","version":-1}`, "version must be an unsigned 64 bit integer"],
    ["map_read_state", `{"asc":1}`, "the field asc must be a boolean"],
    ["map_stats", `{"channel":{}}`, "the field channel must be a string"],
  ])("[W4] as malformed: %s %s", (method, request, detail) => {
    expect(parse(method, request)).toStrictEqual({
      outcome: "malformed",
      detail: expect.stringContaining(detail),
    });
  });

  it("[W1] never for a key with any text of its own", () => {
    for (const key of ["__proto__", "\u0000", " ", longKey, "constructor"])
      expect(commandOf("map_publish", { ...set, key })).toMatchObject({ request: { key } });
  });
});

describe("what is for streams, on a map or a shared poll", () => {
  it.each(["scores:a", "cursors:a", "votes:a"])("[W1] is refused: %s", (name) => {
    const request = JSON.stringify({ channel: name, channels: [name], data: {} });
    const error = errorCodes.badRequest;
    expect(parseEntry("publish", request, backend)).toMatchObject({ outcome: "refused", error });
    const batch = parseBatch(`{"commands":[{"broadcast":${request}}]}`, backend);
    if (batch.outcome !== "batch") throw new Error(batch.outcome);
    expect(batch.commands.flatMap(entriesOf)).toMatchObject([{ outcome: "refused", error }]);
    for (const method of ["history", "history_remove"] as const) {
      expect(parseEntry(method, request, backend)).toMatchObject({
        outcome: "refused",
        error: errorCodes.notAvailable,
      });
    }
    for (const method of ["presence", "presence_stats"] as const)
      expect(parseEntry(method, request, backend)).toMatchObject({ outcome: "call" });
  });
});
