import { describe, expect, it } from "vitest";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { encodeReply } from "../../../../src/protocol/json/encode.ts";
import type { Reply, SubscribeResult } from "../../../../src/protocol/reply.ts";
import { valid } from "../valid-json-text.ts";
import { nothing } from "../bare-subscribe-result.ts";
import { statePage } from "../map-messages.ts";

const connected = { client: "c1", version: "1.0.0", ttlSeconds: 0, pingSeconds: 25, pong: true };

describe("encoding a reply", () => {
  it.each<[string, Reply]>([
    [
      '{"id":3,"error":{"code":103,"message":"permission denied"}}',
      { id: 3, error: errorCodes.permissionDenied },
    ],
    [
      '{"id":4294967295,"error":{"code":100,"message":"internal server error","temporary":true}}',
      { id: 4_294_967_295, error: errorCodes.internal },
    ],
    [
      '{"id":1,"connect":{"client":"c1","version":"1.0.0","ping":25,"pong":true}}',
      { id: 1, method: "connect", result: connected },
    ],
    [
      '{"id":1,"connect":{"client":"c1","version":"1.0.0","expires":true,"ttl":60,"ping":25,"pong":true,"time":1700000000123}}',
      {
        id: 1,
        method: "connect",
        result: { ...connected, ttlSeconds: 60, timeMs: 1_700_000_000_123 },
      },
    ],
    [
      String.raw`{"id":1,"connect":{"client":"c1","version":"1.0.0","ping":25,"pong":true,"session":"s\"1","node":"channel:\"x","time":5}}`,
      {
        id: 1,
        method: "connect",
        result: { ...connected, session: 's"1', node: 'channel:"x', timeMs: 5 },
      },
    ],
    [
      '{"id":2,"subscribe":{"data":1,"delta":true}}',
      { id: 2, method: "subscribe", result: { ...nothing, data: valid("1"), delta: true } },
    ],
    [
      '{"id":2,"subscribe":{}}',
      { id: 2, method: "subscribe", result: { ...nothing, delta: false } },
    ],
    [
      '{"id":1,"connect":{"client":"c1","version":"1.0.0"}}',
      { id: 1, method: "connect", result: { ...connected, pingSeconds: 0, pong: false } },
    ],
    [
      '{"id":1,"connect":{"client":"c1","version":"1.0.0","ping":25,"pong":true}}',
      { id: 1, method: "connect", result: { ...connected, subscriptions: new Map() } },
    ],
    [
      '{"id":1,"connect":{"client":"c1","version":"1.0.0","expires":true,"ttl":60,"subs":{"#42":{},"__proto__":{"expires":true,"ttl":9,"recoverable":true,"epoch":"e","publications":[{"data":1,"offset":6}],"recovered":true,"offset":5,"positioned":true,"data":{"d":1},"was_recovering":true},"\\"\\n":{"data":null}},"ping":25,"pong":true,"time":1700000000123}}',
      {
        id: 1,
        method: "connect",
        result: {
          ...connected,
          ttlSeconds: 60,
          timeMs: 1_700_000_000_123,
          subscriptions: new Map<string, SubscribeResult>([
            ["#42", nothing],
            [
              "__proto__",
              {
                ttlSeconds: 9,
                recoverable: true,
                positioned: true,
                wasRecovering: true,
                recovered: true,
                publications: [{ data: valid("1"), offset: 6 }],
                position: { offset: 5, epoch: "e" },
                data: valid('{"d":1}'),
              },
            ],
            ['"\n', { ...nothing, data: valid("null") }],
          ]),
        },
      },
    ],
    ['{"id":2,"rpc":{}}', { id: 2, method: "rpc" }],
    ['{"id":2,"unsubscribe":{}}', { id: 2, method: "unsubscribe" }],
    ['{"id":2,"publish":{}}', { id: 2, method: "publish" }],
    ['{"id":2,"presence":{"presence":{}}}', { id: 2, method: "presence", result: { parts: [] } }],
    [
      '{"id":2,"presence":{"presence":{"c1":{"user":"42","client":"c1","conn_info":{"n":1},"chan_info":2},"c2":{"user":"","client":"c2"}}}}',
      {
        id: 2,
        method: "presence",
        result: {
          parts: [
            [
              { user: "42", client: "c1", connInfo: valid('{"n":1}'), chanInfo: valid("2") },
              { user: "", client: "c2" },
            ],
          ],
        },
      },
    ],
    [
      '{"id":2,"presence":{"presence":{},"incomplete":true}}',
      { id: 2, method: "presence", result: { parts: [], incomplete: true } },
    ],
    [
      '{"id":2,"presence":{"presence":{"c2":{"user":"","client":"c2"}}}}',
      {
        id: 2,
        method: "presence",
        result: { parts: [[{ user: "", client: "c2" }]], incomplete: false },
      },
    ],
    [
      '{"id":2,"presence_stats":{"num_clients":0,"num_users":0}}',
      { id: 2, method: "presence_stats", result: { clientCount: 0, userCount: 0 } },
    ],
    [
      '{"id":2,"presence_stats":{"num_clients":3,"num_users":2}}',
      { id: 2, method: "presence_stats", result: { clientCount: 3, userCount: 2 } },
    ],
    [
      '{"id":2,"presence_stats":{"num_clients":3,"num_users":2,"incomplete":true}}',
      {
        id: 2,
        method: "presence_stats",
        result: { clientCount: 3, userCount: 2, incomplete: true },
      },
    ],
    [
      '{"id":2,"presence_stats":{"num_clients":1,"num_users":1}}',
      {
        id: 2,
        method: "presence_stats",
        result: { clientCount: 1, userCount: 1, incomplete: false },
      },
    ],
    [
      '{"id":2,"history":{"publications":[],"epoch":"","offset":0}}',
      {
        id: 2,
        method: "history",
        result: { publications: [], position: { offset: 0, epoch: "" } },
      },
    ],
    [
      '{"id":2,"history":{"publications":[{"data":1,"offset":1,"epoch":"e"},{"data":2,"offset":2}],"epoch":"e","offset":2}}',
      {
        id: 2,
        method: "history",
        result: {
          publications: [
            { data: valid("1"), offset: 1, epoch: "e" },
            { data: valid("2"), offset: 2 },
          ],
          position: { offset: 2, epoch: "e" },
        },
      },
    ],
    ['{"id":2,"refresh":{}}', { id: 2, method: "refresh", result: { ttlSeconds: 0 } }],
    [
      '{"id":2,"refresh":{"expires":true,"ttl":60}}',
      { id: 2, method: "refresh", result: { ttlSeconds: 60 } },
    ],
    ['{"id":2,"sub_refresh":{}}', { id: 2, method: "sub_refresh", result: { ttlSeconds: 0 } }],
    [
      '{"id":2,"sub_refresh":{"expires":true,"ttl":1}}',
      { id: 2, method: "sub_refresh", result: { ttlSeconds: 1 } },
    ],
    [
      '{"id":2,"sub_refresh":{"expires":true,"ttl":1,"items":[{"data":1,"key":"k","version":3}]}}',
      {
        id: 2,
        method: "sub_refresh",
        result: {
          ttlSeconds: 1,
          items: [{ data: valid("1"), offset: 0, key: "k", version: 3n }],
        },
      },
    ],
  ])("[W1] writes %s", (golden, reply) => {
    expect(encodeReply(reply)).toBe(golden);
  });
});

describe("encoding a subscribe reply", () => {
  it.each<[string, SubscribeResult]>([
    ["{}", nothing],
    [
      '{"recoverable":true,"epoch":"abcd","positioned":true}',
      { ...nothing, recoverable: true, positioned: true, position: { offset: 0, epoch: "abcd" } },
    ],
    [
      '{"expires":true,"ttl":60,"recoverable":true,"epoch":"abcd","publications":[{"data":1,"offset":6},{"data":2,"offset":7}],"recovered":true,"offset":5,"positioned":true,"data":{"d":1},"was_recovering":true}',
      {
        ttlSeconds: 60,
        recoverable: true,
        positioned: true,
        wasRecovering: true,
        recovered: true,
        publications: [
          { data: valid("1"), offset: 6 },
          { data: valid("2"), offset: 7 },
        ],
        position: { offset: 5, epoch: "abcd" },
        data: valid('{"d":1}'),
      },
    ],
    ['{"data":null}', { ...nothing, data: valid("null") }],
    [
      '{"epoch":"e","offset":5,"type":1,"phase":2,"cursor":"k","state":[{"data":1,"offset":3,"key":"j"},{"data":2,"offset":4,"key":"k"}]}',
      statePage,
    ],
    [
      '{"epoch":"e","type":1,"state":[{"data":1,"key":"k"}],"publish_debounce":50}',
      {
        ...nothing,
        position: { offset: 0, epoch: "e" },
        type: 1,
        phase: 0,
        cursor: "",
        state: [{ data: valid("1"), offset: 0, key: "k" }],
        publishDebounceMs: 50,
      },
    ],
    ['{"was_recovering":true}', { ...nothing, wasRecovering: true }],
  ])("[W1] writes %s", (golden, result) => {
    expect(encodeReply({ id: 2, method: "subscribe", result })).toBe(
      `{"id":2,"subscribe":${golden}}`,
    );
  });
});
