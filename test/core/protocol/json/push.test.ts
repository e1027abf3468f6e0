import { describe, expect, it } from "vitest";
import { disconnectCodes, unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { encodePush } from "../../../../src/protocol/json/encode.ts";
import type { Push } from "../../../../src/protocol/reply.ts";
import { removal } from "../map-messages.ts";
import { valid } from "../valid-json-text.ts";

const info = { user: "42", client: "c1", chanInfo: valid('{"role":"host"}') };
const infoJson = '{"user":"42","client":"c1","chan_info":{"role":"host"}}';

describe("encoding a push", () => {
  it.each<[string, Push]>([
    [
      '{"push":{"channel":"x","pub":{"data":{"a":1},"offset":1,"epoch":"e"}}}',
      {
        type: "publication",
        channel: "x",
        publication: { data: valid('{"a":1}'), offset: 1, epoch: "e" },
      },
    ],
    [
      `{"push":{"channel":"x","pub":{"data":"<b>&é","info":${infoJson},"offset":5,"tags":{"t":"v"}}}}`,
      {
        type: "publication",
        channel: "x",
        publication: { data: valid('"<b>&é"'), info, offset: 5, tags: { t: "v" } },
      },
    ],
    [
      '{"push":{"channel":"x","pub":{"data":1}}}',
      { type: "publication", channel: "x", publication: { data: valid("1"), offset: 0 } },
    ],
    [
      '{"push":{"channel":"x","pub":{"data":"gP8=","offset":2,"delta":true}}}',
      {
        type: "publication",
        channel: "x",
        publication: { data: Uint8Array.of(0x80, 0xff), offset: 2, delta: true },
      },
    ],
    [
      `{"push":{"channel":"x","pub":{"data":1,"info":${infoJson},"offset":7,"tags":{"t":"v"},"key":"k","score":-3,"prev_data":{"a":0},"version":18446744073709551615}}}`,
      {
        type: "publication",
        channel: "x",
        publication: {
          data: valid("1"),
          info,
          offset: 7,
          tags: { t: "v" },
          key: "k",
          score: -3,
          prevData: valid('{"a":0}'),
          version: 18_446_744_073_709_551_615n,
        },
      },
    ],
    [
      '{"push":{"channel":"x","pub":{"offset":1,"tags":{"t":"v"},"key":"k","removed":true,"epoch":"e"}}}',
      removal,
    ],
    [
      '{"push":{"channel":"x","pub":{"data":"","key":"k"}}}',
      {
        type: "publication",
        channel: "x",
        publication: { data: new Uint8Array(), offset: 0, key: "k" },
      },
    ],
    [
      '{"push":{"disconnect":{"code":3012,"reason":"no pong"}}}',
      { type: "disconnect", code: disconnectCodes.noPong },
    ],
    [`{"push":{"channel":"x","join":{"info":${infoJson}}}}`, { type: "join", channel: "x", info }],
    [
      `{"push":{"channel":"x","leave":{"info":${infoJson}}}}`,
      { type: "leave", channel: "x", info },
    ],
    [
      '{"push":{"channel":"x","unsubscribe":{"code":2500,"reason":"insufficient state"}}}',
      {
        type: "unsubscribe",
        channel: "x",
        code: { code: 2500, reason: "insufficient state" },
      },
    ],
    [
      String.raw`{"push":{"channel":"a\"\\\n","unsubscribe":{"code":2501,"reason":"subscription expired"}}}`,
      { type: "unsubscribe", channel: 'a"\\\n', code: unsubscribeCodes.subscriptionExpired },
    ],
    [
      '{"push":{"channel":"x","subscribe":{"recoverable":true,"epoch":"e","offset":7,"positioned":true,"data":{"a":1}}}}',
      {
        type: "subscribe",
        channel: "x",
        result: {
          recoverable: true,
          positioned: true,
          position: { epoch: "e", offset: 7 },
          data: valid('{"a":1}'),
        },
      },
    ],
    [
      '{"push":{"channel":"x","subscribe":{}}}',
      { type: "subscribe", channel: "x", result: { recoverable: false, positioned: false } },
    ],
    [
      '{"push":{"refresh":{"expires":true,"ttl":60}}}',
      { type: "refresh", expiry: { ttlSeconds: 60 } },
    ],
  ])("[W1] writes %s", (golden, push) => {
    expect(encodePush(push)).toBe(golden);
  });
});
