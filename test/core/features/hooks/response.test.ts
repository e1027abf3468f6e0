import { describe, expect, it } from "vitest";
import {
  parseConnectResult,
  parseHookResponse,
  parsePublishResult,
  parseRefreshResult,
  parseRpcResult,
  parseSubscribeResult,
} from "../../../../src/features/hooks/response.ts";
import { limits } from "../../../../src/limits.ts";
import { valid } from "../../protocol/valid-json-text.ts";

describe("a backend's response", () => {
  it.each<[string, string | undefined]>([
    ["{}", undefined],
    ['{"result":null,"error":null}', undefined],
    ['{"result":{}}', "{}"],
    [' {"result": {"data": 1.50},\n"other": 1} ', '{"data": 1.50}'],
  ])("[Q2] gives the result as it was written: %s", (body, result) => {
    expect(parseHookResponse(body)).toStrictEqual({ outcome: "result", result });
  });

  it("[Q5] gives an error, and a disconnect before it", () => {
    const error = { code: 1_000, message: "no", temporary: true };
    expect(parseHookResponse(JSON.stringify({ result: {}, error }))).toStrictEqual({
      outcome: "error",
      error,
    });
    const disconnect = { code: 4_500, reason: "banned" };
    expect(parseHookResponse(JSON.stringify({ error, disconnect }))).toStrictEqual({
      outcome: "disconnect",
      code: disconnect,
    });
    expect(parseHookResponse('{"error":{"code":100}}')).toMatchObject({
      error: { code: 100, message: "", temporary: false },
    });
  });

  const long = "x".repeat(limits.disconnectReasonBytesMax + 1);
  it.each([
    ["", "the response is not a JSON object"],
    ["ok", "the response is not a JSON object"],
    ["[]", "the response is not a JSON object"],
    ['{"result":1}', '"result" is not an object'],
    ['{"result":[1]}', '"result" is not an object'],
    ['{"error":"no"}', '"error" is not an object'],
    ['{"error":{"code":99}}', '"error.code" is not from 100 to 2147483647'],
    ['{"error":{"code":400.5}}', '"error.code" is not from 100 to 2147483647'],
    ['{"error":{"code":2147483648}}', '"error.code" is not from 100 to 2147483647'],
    ['{"error":{"code":400,"message":1}}', 'or a "temporary" that is not true or false'],
    ['{"disconnect":true}', '"disconnect" is not an object'],
    ['{"disconnect":{"code":2999}}', '"disconnect.code" is not from 3000 to 4999'],
    ['{"disconnect":{"code":5000}}', '"disconnect.code" is not from 3000 to 4999'],
    [`{"disconnect":{"code":4000,"reason":"${long}"}}`, '"disconnect.reason" has more than 123'],
    ['{"disconnect":{"code":4000,"reason":"12"}}', "or is valid JSON"],
  ])("[Q5] can't be used: %s", (body, reason) => {
    const parsed = parseHookResponse(body);
    expect(parsed).toStrictEqual({ outcome: "invalid", reason: expect.stringContaining(reason) });
  });

  it("[Q5] may have a reason of exactly the bytes that a close frame has", () => {
    const reason = long.slice(1);
    const body = JSON.stringify({ disconnect: { code: 4_999, reason } });
    expect(parseHookResponse(body)).toStrictEqual({
      outcome: "disconnect",
      code: { code: 4_999, reason },
    });
  });
});

describe("[Q2] the result of connect", () => {
  it("has the fields of a token's claims, and data", () => {
    const result = {
      user: "42",
      expire_at: 1_700_000_060.9,
      info: { name: "Ada" },
      data: { hi: 1 },
      meta: { role: "admin" },
      caps: [{ channels: ["a"], allow: ["sub"] }],
      subs: { news: { info: { n: 1 }, override: { presence: { value: true } } } },
      channels: ["news", "more", "more"],
    };
    expect(parseConnectResult(valid(JSON.stringify(result)))).toStrictEqual({
      outcome: "read",
      data: '{"hi":1}',
      claims: {
        user: "42",
        expireAtSeconds: 1_700_000_060,
        info: '{"name":"Ada"}',
        meta: '{"role":"admin"}',
        capabilities: '[{"channels":["a"],"match":"","allow":["sub"]}]',
        subscriptions: [
          { channel: "news", info: '{"n":1}', override: { presence: true } },
          { channel: "more", override: {} },
        ],
      },
    });
  });

  it("may be empty: an anonymous connection without an end", () => {
    expect(parseConnectResult(valid("{}"))).toStrictEqual({
      outcome: "read",
      claims: { user: "", expireAtSeconds: 0 },
    });
  });

  it("takes info and data in base64 first", () => {
    const text = valid('{"user":"1","info":1,"b64info":"Mg==","data":1,"b64data":"Mw=="}');
    expect(parseConnectResult(text)).toMatchObject({ data: "3", claims: { info: "2" } });
  });

  it.each([
    ['{"user":1}', '"user" is not a well-formed string'],
    [String.raw`{"user":"a\udfff"}`, '"user" is not a well-formed string'],
    ['{"id":7}', '"user" is missing'],
    ['{"User":"42"}', '"user" is missing'],
    ['{"expire_at":"soon"}', '"expire_at" is not a number'],
    ['{"b64info":"*"}', '"b64info" must be base64 of JSON'],
    ['{"b64data":"*"}', '"b64data" must be base64 of JSON'],
    ['{"channels":"news"}', '"channels" claim must be an array of strings'],
    ['{"subs":["news"]}', '"subs" claim must be an object of objects'],
    ['{"caps":1}', '"caps" claim must be an array'],
  ])("[Q5] can't be used: %s", (text, reason) => {
    expect(parseConnectResult(valid(text))).toStrictEqual({
      outcome: "invalid",
      reason: expect.stringContaining(reason),
    });
  });
});

describe("[Q9] the result of refresh and sub_refresh", () => {
  it.each([
    [undefined, { outcome: "expired" }],
    ['{"expired":true,"expire_at":5}', { outcome: "expired" }],
    ["{}", { outcome: "read", life: { expireAtSeconds: 0 } }],
    ['{"expire_at":-1}', { outcome: "read", life: { expireAtSeconds: 1 } }],
    [
      '{"expire_at":9,"info":{},"meta":{"a":1}}',
      { outcome: "read", life: { expireAtSeconds: 9, info: "{}", meta: '{"a":1}' } },
    ],
    ['{"expired":"yes"}', { outcome: "invalid", reason: '"expired" is not true or false' }],
  ])("%s", (text, expected) => {
    const result = text === undefined ? undefined : valid(text);
    expect(parseRefreshResult(result)).toStrictEqual(expected);
  });
});

describe("[Q2] the result of subscribe", () => {
  it("has the terms of the subscription", () => {
    const filter = { key: "lang", cmp: "eq", val: "en" };
    const text = valid(
      JSON.stringify({
        expire_at: 9,
        info: 1,
        data: [2],
        override: { join_leave: { value: true } },
        server_tags_filter: filter,
      }),
    );
    expect(parseSubscribeResult(text)).toStrictEqual({
      outcome: "read",
      terms: {
        expireAtSeconds: 9,
        info: "1",
        data: "[2]",
        override: { joinLeave: true },
        serverFilter: { op: "", vals: [], nodes: [], ...filter },
      },
    });
  });

  it.each([undefined, valid("{}")])("allows what the namespace says if it is %s", (text) => {
    expect(parseSubscribeResult(text)).toStrictEqual({
      outcome: "read",
      terms: { expireAtSeconds: 0, override: {} },
    });
  });

  it.each([
    ['{"override":{"presence":true}}', '"override" is not an object'],
    ['{"server_tags_filter":{"cmp":"?"}}', "server_tags_filter is no valid filter"],
    ['{"b64data":"_w=="}', '"b64data" must be base64 of JSON'],
  ])("[Q5] can't be used: %s", (text, reason) => {
    expect(parseSubscribeResult(valid(text))).toStrictEqual({
      outcome: "invalid",
      reason: expect.stringContaining(reason),
    });
  });
});

describe("[Q2] the result of publish", () => {
  const own = valid('{"a":1}');
  const plain = {
    data: own,
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };

  it.each([undefined, valid("{}"), valid('{"data":null,"tags":null,"version":null}')])(
    "publishes the client's data if it is %s",
    (text) => {
      expect(parsePublishResult(text, own)).toStrictEqual({ outcome: "read", request: plain });
    },
  );

  it("has all that a publication can have", () => {
    const text = valid(
      '{"data":{"b":12345678901234567890},"skip_history":true,"tags":{"t":"v"},"idempotency_key":"k","delta":true,"version":18446744073709551615,"version_epoch":"e"}',
    );
    expect(parsePublishResult(text, own)).toStrictEqual({
      outcome: "read",
      request: {
        data: '{"b":12345678901234567890}',
        tags: { t: "v" },
        skipHistory: true,
        idempotencyKey: "k",
        version: 18_446_744_073_709_551_615n,
        versionEpoch: "e",
        delta: true,
      },
    });
  });

  it("takes data in base64 first", () => {
    const text = valid('{"data":1,"b64data":"/w=="}');
    expect(parsePublishResult(text, own)).toMatchObject({
      request: { data: new Uint8Array([255]) },
    });
  });

  it("[B2] may be as large as any publication, and no larger", () => {
    const most = valid(`{"data":${bytes(limits.publicationBytesMax)}}`);
    expect(parsePublishResult(most, own)).toMatchObject({ outcome: "read" });
    const over = valid(`{"data":${bytes(limits.publicationBytesMax + 1)}}`);
    expect(parsePublishResult(over, own)).toMatchObject({ outcome: "invalid" });
  });

  it.each([
    ['{"b64data":"*"}', '"b64data" is not base64'],
    ['{"skip_history":1}', '"skip_history"'],
    ['{"delta":"x"}', '"delta"'],
    ['{"idempotency_key":1}', '"idempotency_key" or "version_epoch" is not a string'],
    ['{"tags":{"a":1}}', '"tags" is not an object of strings'],
    ['{"tags":["a"]}', '"tags" is not an object of strings'],
    ['{"version":-1}', '"version" is not'],
    ['{"version":18446744073709551616}', '"version" is not'],
    [`{"idempotency_key":${bytes(limits.idempotencyKeyBytesMax + 3)}}`, "is too long"],
    [`{"version_epoch":${bytes(limits.versionEpochBytesMax + 3)}}`, "is too long"],
    [`{"tags":{"a":${bytes(limits.tagsBytesMax)}}}`, "is too long"],
  ])("[Q5] can't be used: %.60s", (text, reason) => {
    expect(parsePublishResult(valid(text), own)).toStrictEqual({
      outcome: "invalid",
      reason: expect.stringContaining(reason),
    });
  });
});

describe("[Q2] the result of rpc", () => {
  it.each([
    [undefined, undefined],
    ["{}", undefined],
    ['{"data":null}', undefined],
    ['{"data":1.0}', "1.0"],
    ['{"b64data":"/w=="}', new Uint8Array([255])],
  ])("%s", (text, data) => {
    const result = text === undefined ? undefined : valid(text);
    expect(parseRpcResult(result)).toStrictEqual({ outcome: "read", data });
  });

  it("[Q5] can't be used if its base64 is none", () => {
    expect(parseRpcResult(valid('{"b64data":5}'))).toMatchObject({ outcome: "invalid" });
  });
});

/** A string of JSON with so many bytes. */
function bytes(count: number): string {
  return JSON.stringify("x".repeat(count - 2));
}
