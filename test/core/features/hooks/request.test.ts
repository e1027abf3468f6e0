import { describe, expect, it } from "vitest";
import { type HookSubject, hookRequest } from "../../../../src/features/hooks/request.ts";
import { valid } from "../../protocol/valid-json-text.ts";

const client = { client: "c1", transport: "websocket", protocol: "json", user: "42" };
const common = '"client":"c1","transport":"websocket","protocol":"json","encoding":"json"';
const data = valid('{"big":12345678901234567890, "a":"\\u00e9"}');

describe("[Q2] the question of a hook", () => {
  it.each<[string, HookSubject, string]>([
    [
      "connect",
      { hook: "connect", data, name: "js", version: "1.0", channels: ["news"] },
      `{${common},"data":${data},"name":"js","version":"1.0","channels":["news"]}`,
    ],
    [
      "connect of a client that says nothing",
      { hook: "connect", name: "", version: "", channels: [] },
      `{${common}}`,
    ],
    ["refresh", { hook: "refresh" }, `{${common},"user":"42","meta":{"m":1}}`],
    [
      "subscribe",
      { hook: "subscribe", channel: "news", data: valid("null") },
      `{${common},"user":"42","channel":"news","data":null,"meta":{"m":1}}`,
    ],
    [
      "sub_refresh",
      { hook: "sub_refresh", channel: 'a"b' },
      `{${common},"user":"42","channel":"a\\"b","meta":{"m":1}}`,
    ],
    [
      "publish",
      { hook: "publish", channel: "news", data },
      `{${common},"user":"42","channel":"news","data":${data},"meta":{"m":1}}`,
    ],
    [
      "publish of a client that deletes a publication",
      {
        hook: "publish",
        channel: "news",
        data: valid("null"),
        method: "dormouse.delete",
        offset: 7,
        epoch: "e",
        reason: "spam",
      },
      `{${common},"user":"42","channel":"news","method":"dormouse.delete","offset":7,"epoch":"e","reason":"spam","data":null,"meta":{"m":1}}`,
    ],
    [
      "rpc",
      { hook: "rpc", method: "sum", data: valid("[1,2]") },
      `{${common},"user":"42","method":"sum","data":[1,2],"meta":{"m":1}}`,
    ],
    ["rpc without anything", { hook: "rpc", method: "" }, `{${common},"user":"42","meta":{"m":1}}`],
    [
      "message",
      { hook: "message", data: valid("1") },
      `{${common},"user":"42","data":1,"meta":{"m":1}}`,
    ],
  ])("has Centrifugo's fields in their order: %s", (_, subject, expected) => {
    expect(hookRequest({ ...client, meta: valid('{"m":1}') }, subject, false)).toBe(expected);
  });

  it("has payloads in base64 where the configuration says so", () => {
    const body = hookRequest(client, { hook: "publish", channel: "a", data: valid("1") }, true);
    expect(JSON.parse(body)).toMatchObject({ encoding: "binary", b64data: "MQ==" });
  });

  it("has a payload that isn't JSON in base64 anyway", () => {
    const bytes = new Uint8Array([0, 255]);
    const body = hookRequest(client, { hook: "rpc", method: "m", data: bytes }, false);
    expect(JSON.parse(body)).toMatchObject({ encoding: "json", method: "m", b64data: "AP8=" });
  });

  it("has no user for an anonymous client", () => {
    const body = hookRequest({ ...client, user: "" }, { hook: "refresh" }, false);
    expect(body).toBe(`{${common}}`);
  });
});
