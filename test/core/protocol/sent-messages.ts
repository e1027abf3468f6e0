import { disconnectCodes, errorCodes, unsubscribeCodes } from "../../../src/protocol/codes.ts";
import {
  bareSubscribeResult,
  type Push,
  type Reply,
  type SubscribeResult,
} from "../../../src/protocol/reply.ts";
import { valid } from "./valid-json-text.ts";

const connected = { client: "c1", version: "1.0.0", ttlSeconds: 0, pingSeconds: 25, pong: true };
const host = { user: "42", client: "c1", connInfo: valid('{"n":1}'), chanInfo: valid("2") };
const hostJson = '{"user":"42","client":"c1","conn_info":{"n":1},"chan_info":2}';

const keyed = {
  data: valid("1"),
  info: host,
  offset: 7,
  tags: { t: "v", b: 'x"\n' },
  key: "k",
  score: -3,
  prevData: valid('{"a":9}'),
  version: 9_007_199_254_740_991n,
};
const keyedJson = String.raw`{"data":1,"info":${hostJson},"offset":7,"tags":{"t":"v","b":"x\"\n"},"key":"k","score":-3,"prev_data":{"a":9},"version":9007199254740991}`;

const subscribed: SubscribeResult = {
  ttlSeconds: 60,
  recoverable: true,
  positioned: true,
  wasRecovering: true,
  recovered: true,
  publications: [
    { data: valid("1"), offset: 6 },
    { data: valid('"2"'), offset: 4_294_967_296, tags: { t: "v" }, delta: true },
  ],
  position: { offset: 9_007_199_254_740_991, epoch: "abcd" },
  delta: true,
  data: valid('{"d":1}'),
};
const subscribedJson =
  '{"expires":true,"ttl":60,"recoverable":true,"epoch":"abcd","publications":[{"data":1,"offset":6},{"data":"2","offset":4294967296,"tags":{"t":"v"},"delta":true}],"recovered":true,"offset":9007199254740991,"positioned":true,"data":{"d":1},"was_recovering":true,"delta":true}';

/** The answer to a subscribe that reads a page of a map's state. */
const statePage: SubscribeResult = {
  ...bareSubscribeResult,
  position: { offset: 5, epoch: "e" },
  type: 1,
  phase: 2,
  cursor: "k",
  state: [{ data: valid("1"), offset: 3, key: "j" }, keyed],
  publishDebounceMs: 50,
};

/** Replies in JSON, and what they say. */
const replies: readonly (readonly [json: string, reply: Reply])[] = [
  [
    '{"id":3,"error":{"code":103,"message":"permission denied"}}',
    { id: 3, error: errorCodes.permissionDenied },
  ],
  [
    '{"id":4294967295,"error":{"code":100,"message":"internal server error","temporary":true}}',
    { id: 4_294_967_295, error: errorCodes.internal },
  ],
  [
    '{"id":1,"connect":{"client":"c1","version":"1.0.0"}}',
    {
      id: 1,
      method: "connect",
      result: { ...connected, pingSeconds: 0, pong: false, subscriptions: new Map() },
    },
  ],
  [
    String.raw`{"id":1,"connect":{"client":"c1","version":"1.0.0","expires":true,"ttl":60,"data":[1],"subs":{"#42":{},"\"\n":{"data":null},"":${subscribedJson}},"ping":25,"pong":true,"session":"s\"1","node":"channel:\"x","time":1700000000123}}`,
    {
      id: 1,
      method: "connect",
      result: {
        ...connected,
        ttlSeconds: 60,
        data: valid("[1]"),
        subscriptions: new Map([
          ["#42", bareSubscribeResult],
          ['"\n', { ...bareSubscribeResult, data: valid("null") }],
          ["", subscribed],
        ]),
        session: 's"1',
        node: 'channel:"x',
        timeMs: 1_700_000_000_123,
      },
    },
  ],
  [
    '{"id":2,"subscribe":{}}',
    { id: 2, method: "subscribe", result: { ...bareSubscribeResult, delta: false } },
  ],
  [`{"id":2,"subscribe":${subscribedJson}}`, { id: 2, method: "subscribe", result: subscribed }],
  [
    '{"id":2,"subscribe":{"recoverable":true,"epoch":"e"}}',
    {
      id: 2,
      method: "subscribe",
      result: { ...bareSubscribeResult, recoverable: true, position: { offset: 0, epoch: "e" } },
    },
  ],
  [
    `{"id":2,"subscribe":{"epoch":"e","offset":5,"type":1,"phase":2,"cursor":"k","state":[{"data":1,"offset":3,"key":"j"},${keyedJson}],"publish_debounce":50}}`,
    { id: 2, method: "subscribe", result: statePage },
  ],
  [
    '{"id":2,"subscribe":{"type":1}}',
    {
      id: 2,
      method: "subscribe",
      result: { ...bareSubscribeResult, type: 1, phase: 0, cursor: "", state: [] },
    },
  ],
  ['{"id":2,"unsubscribe":{}}', { id: 2, method: "unsubscribe" }],
  ['{"id":2,"publish":{}}', { id: 2, method: "publish" }],
  ['{"id":2,"rpc":{}}', { id: 2, method: "rpc" }],
  ['{"id":2,"rpc":{"data":{"a":1}}}', { id: 2, method: "rpc", data: valid('{"a":1}') }],
  ['{"id":2,"presence":{"presence":{}}}', { id: 2, method: "presence", result: { parts: [] } }],
  [
    `{"id":2,"presence":{"presence":{"c1":${hostJson},"c2":{"user":"","client":"c2"}},"incomplete":true}}`,
    {
      id: 2,
      method: "presence",
      result: { parts: [[host, { user: "", client: "c2" }]], incomplete: true },
    },
  ],
  [
    '{"id":2,"presence":{"presence":{"":{"user":"","client":""}}}}',
    {
      id: 2,
      method: "presence",
      result: { parts: [[{ user: "", client: "" }]], incomplete: false },
    },
  ],
  [
    '{"id":2,"presence_stats":{"num_clients":0,"num_users":0}}',
    {
      id: 2,
      method: "presence_stats",
      result: { clientCount: 0, userCount: 0, incomplete: false },
    },
  ],
  [
    '{"id":2,"presence_stats":{"num_clients":70000,"num_users":300,"incomplete":true}}',
    {
      id: 2,
      method: "presence_stats",
      result: { clientCount: 70_000, userCount: 300, incomplete: true },
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
    '{"id":2,"refresh":{"expires":true,"ttl":4294967295}}',
    { id: 2, method: "refresh", result: { ttlSeconds: 4_294_967_295 } },
  ],
  ['{"id":2,"sub_refresh":{}}', { id: 2, method: "sub_refresh", result: { ttlSeconds: 0 } }],
  [
    `{"id":2,"sub_refresh":{"expires":true,"ttl":1,"items":[${keyedJson}]}}`,
    { id: 2, method: "sub_refresh", result: { ttlSeconds: 1, items: [keyed] } },
  ],
];

/** Pushes in JSON, and what they say. */
const pushes: readonly (readonly [json: string, push: Push])[] = [
  [
    '{"push":{"channel":"x","pub":{"data":1}}}',
    {
      type: "publication",
      channel: "x",
      publication: { data: valid("1"), offset: 0, epoch: "", tags: {} },
    },
  ],
  [
    `{"push":{"channel":"é","pub":{"data":"<b>&é","info":${hostJson},"offset":300,"tags":{"t":"v"},"delta":true,"epoch":"e"}}}`,
    {
      type: "publication",
      channel: "é",
      publication: {
        data: valid('"<b>&é"'),
        info: host,
        offset: 300,
        tags: { t: "v" },
        delta: true,
        epoch: "e",
      },
    },
  ],
  [
    '{"push":{"channel":"x","pub":{"data":1,"key":"k"}}}',
    {
      type: "publication",
      channel: "x",
      publication: { data: valid("1"), offset: 0, key: "k", score: 0, version: 0n },
    },
  ],
  [
    `{"push":{"channel":"x","pub":${keyedJson}}}`,
    { type: "publication", channel: "x", publication: keyed },
  ],
  [
    '{"push":{"channel":"x","pub":{"offset":1,"tags":{"t":"v"},"key":"k","removed":true,"epoch":"e"}}}',
    {
      type: "publication",
      channel: "x",
      publication: {
        data: new Uint8Array(),
        offset: 1,
        tags: { t: "v" },
        key: "k",
        removed: true,
        epoch: "e",
      },
    },
  ],
  [
    `{"push":{"channel":"x","join":{"info":${hostJson}}}}`,
    { type: "join", channel: "x", info: host },
  ],
  [
    '{"push":{"channel":"x","leave":{"info":{"user":"","client":"c2"}}}}',
    { type: "leave", channel: "x", info: { user: "", client: "c2" } },
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
  [
    '{"push":{"disconnect":{"code":3012,"reason":"no pong"}}}',
    { type: "disconnect", code: disconnectCodes.noPong },
  ],
];

/**
 * Messages of every kind, each at least once with every field and with every message that it can have in it, and what
 * they are in JSON. Their payloads are JSON without zeros and empty texts, so that a test can tell a field that is left
 * out from a part of a payload.
 */
export const sentMessages: readonly (readonly [json: string, message: Reply | Push])[] = [
  ...replies,
  ...pushes,
];
