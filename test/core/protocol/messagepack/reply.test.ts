import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { disconnectCodes, errorCodes, unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { messagePackCodec } from "../../../../src/protocol/messagepack/codec.ts";
import type { Push, Reply } from "../../../../src/protocol/reply.ts";
import { golden } from "./golden.ts";
import { fromHex, toHex, utf8 } from "./hex.ts";
import { valid } from "../valid-json-text.ts";
import { nothing } from "../bare-subscribe-result.ts";

const info = { user: "42", client: "c1", connInfo: valid("1"), chanInfo: valid('{"a":2}') };
const infoWire = { user: "42", client: "c1", conn_info: utf8("1"), chan_info: utf8('{"a":2}') };
const empty = { id: 1 };

/** The reply, and what a client's library decodes it to. */
const replies: readonly [keyof typeof golden, object, Reply][] = [
  [
    "error",
    { id: 4_294_967_295, error: { code: 100, message: "internal server error", temporary: true } },
    { id: 4_294_967_295, error: errorCodes.internal },
  ],
  [
    "lasting error",
    { id: 3, error: { code: 103, message: "permission denied" } },
    { id: 3, error: errorCodes.permissionDenied },
  ],
  [
    "connected",
    {
      id: 1,
      connect: {
        client: "c1",
        version: "1.0.0",
        expires: true,
        ttl: 60,
        subs: { "#42": {} },
        ping: 25,
        pong: true,
        session: "s",
        node: "n",
        time: 1_700_000_000_123,
      },
    },
    {
      id: 1,
      method: "connect",
      result: {
        client: "c1",
        version: "1.0.0",
        ttlSeconds: 60,
        subscriptions: new Map([["#42", nothing]]),
        pingSeconds: 25,
        pong: true,
        session: "s",
        node: "n",
        timeMs: 1_700_000_000_123,
      },
    },
  ],
  [
    "barely connected",
    { id: 1, connect: { client: "c1", version: "1" } },
    {
      id: 1,
      method: "connect",
      result: {
        client: "c1",
        version: "1",
        ttlSeconds: 0,
        subscriptions: new Map(),
        pingSeconds: 0,
        pong: false,
      },
    },
  ],
  [
    "subscribed",
    {
      id: 2,
      subscribe: {
        expires: true,
        ttl: 9,
        recoverable: true,
        epoch: "e",
        publications: [{ data: utf8("1"), offset: 6 }],
        recovered: true,
        offset: 5,
        positioned: true,
        data: utf8('{"d":1}'),
        was_recovering: true,
        delta: true,
      },
    },
    {
      id: 2,
      method: "subscribe",
      result: {
        ttlSeconds: 9,
        recoverable: true,
        positioned: true,
        wasRecovering: true,
        recovered: true,
        publications: [{ data: valid("1"), offset: 6 }],
        position: { offset: 5, epoch: "e" },
        delta: true,
        data: valid('{"d":1}'),
      },
    },
  ],
  ["barely subscribed", { id: 2, subscribe: {} }, { id: 2, method: "subscribe", result: nothing }],
  ["unsubscribed", { ...empty, unsubscribe: {} }, { ...empty, method: "unsubscribe" }],
  ["published", { ...empty, publish: {} }, { ...empty, method: "publish" }],
  ["called", { ...empty, rpc: {} }, { ...empty, method: "rpc" }],
  [
    "present",
    { id: 5, presence: { presence: { c1: infoWire }, incomplete: true } },
    { id: 5, method: "presence", result: { parts: [[info]], incomplete: true } },
  ],
  [
    "none present",
    { id: 5, presence: { presence: {} } },
    { id: 5, method: "presence", result: { parts: [] } },
  ],
  [
    "counted",
    { id: 6, presence_stats: { num_clients: 70_000, num_users: 0 } },
    { id: 6, method: "presence_stats", result: { clientCount: 70_000, userCount: 0 } },
  ],
  [
    "past",
    {
      id: 7,
      history: { publications: [{ data: Uint8Array.of(0xff), offset: 1 }], epoch: "e", offset: 1 },
    },
    {
      id: 7,
      method: "history",
      result: {
        publications: [{ data: Uint8Array.of(0xff), offset: 1 }],
        position: { offset: 1, epoch: "e" },
      },
    },
  ],
  [
    "no past",
    { id: 7, history: { publications: [], epoch: "", offset: 0 } },
    { id: 7, method: "history", result: { publications: [], position: { offset: 0, epoch: "" } } },
  ],
  [
    "refreshed",
    { id: 10, refresh: { expires: true, ttl: 3600 } },
    { id: 10, method: "refresh", result: { ttlSeconds: 3600 } },
  ],
  [
    "subscription refreshed",
    { id: 11, sub_refresh: {} },
    { id: 11, method: "sub_refresh", result: { ttlSeconds: 0 } },
  ],
];

const pushes: readonly [keyof typeof golden, object, Push][] = [
  [
    "publication",
    { push: { channel: "x", pub: { data: utf8('{"a":1}'), offset: 1, epoch: "e" } } },
    {
      type: "publication",
      channel: "x",
      publication: { data: valid('{"a":1}'), offset: 1, epoch: "e" },
    },
  ],
  [
    "publication in full",
    {
      push: {
        channel: "x",
        pub: {
          data: Uint8Array.of(0, 0xff),
          info: infoWire,
          offset: 2 ** 40,
          tags: { t: "v" },
          delta: true,
        },
      },
    },
    {
      type: "publication",
      channel: "x",
      publication: {
        data: Uint8Array.of(0, 0xff),
        info,
        offset: 2 ** 40,
        tags: { t: "v" },
        delta: true,
      },
    },
  ],
  [
    "join",
    { push: { channel: "x", join: { info: infoWire } } },
    { type: "join", channel: "x", info },
  ],
  [
    "leave",
    { push: { channel: "x", leave: { info: { user: "", client: "c2" } } } },
    { type: "leave", channel: "x", info: { user: "", client: "c2" } },
  ],
  [
    "unsubscribe push",
    { push: { channel: "é", unsubscribe: { code: 2500, reason: "insufficient state" } } },
    { type: "unsubscribe", channel: "é", code: unsubscribeCodes.insufficientState },
  ],
  [
    "subscribe push",
    { push: { channel: "é", subscribe: { epoch: "e", offset: 7, positioned: true } } },
    {
      type: "subscribe",
      channel: "é",
      result: { recoverable: false, positioned: true, position: { epoch: "e", offset: 7 } },
    },
  ],
  [
    "refresh push",
    { push: { refresh: { expires: true, ttl: 60 } } },
    { type: "refresh", expiry: { ttlSeconds: 60 } },
  ],
  [
    "disconnect",
    { push: { disconnect: { code: 3501, reason: "bad request" } } },
    { type: "disconnect", code: disconnectCodes.badRequest },
  ],
];

describe("encoding MessagePack", () => {
  it.each(replies)("[W6] writes the reply: %s", (name, wire, reply) => {
    expect(toHex(messagePackCodec.encodeReply(reply))).toBe(golden[name]);
    expect(decode(fromHex(golden[name]))).toStrictEqual(wire);
  });

  it.each(pushes)("[W6] writes the push: %s", (name, wire, push) => {
    expect(toHex(messagePackCodec.encodePush(push))).toBe(golden[name]);
    expect(decode(fromHex(golden[name]))).toStrictEqual(wire);
  });

  it.each([0, 1, 31, 32, 255, 256, 65_535, 65_536, 100_000])(
    "[W6] writes texts and payloads of %i bytes as the library does",
    (length) => {
      const text = "a".repeat(length);
      const data = new Uint8Array(length).fill(0xff);
      const publication = { data, offset: length, tags: { [text]: text } };
      const push = messagePackCodec.encodePush({ type: "publication", channel: text, publication });
      const offset = length > 0 ? { offset: length } : {};
      const pub = { data, ...offset, tags: { [text]: text } };
      expect(toHex(push)).toBe(toHex(encode({ push: { channel: text, pub } })));
    },
  );

  it.each([0, 15, 16, 65_535, 65_536])("[W6] writes %i entries as the library does", (count) => {
    const publications = Array.from({ length: count }, () => ({ data: valid("1"), offset: 0 }));
    const clients = Array.from({ length: count }, (_, index) => ({ user: "", client: `${index}` }));
    const history = messagePackCodec.encodeReply({
      id: 1,
      method: "history",
      result: { publications, position: { offset: 0, epoch: "" } },
    });
    const wire = {
      publications: publications.map(() => ({ data: utf8("1") })),
      epoch: "",
      offset: 0,
    };
    expect(toHex(history)).toBe(toHex(encode({ id: 1, history: wire })));
    const presence = messagePackCodec.encodeReply({
      id: 1,
      method: "presence",
      result: { parts: [clients] },
    });
    expect(decode(bytesOf(presence))).toStrictEqual({
      id: 1,
      presence: { presence: Object.fromEntries(clients.map((client) => [client.client, client])) },
    });
  });

  it.each([0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    "[W6] writes the integer %i as the library does",
    (offset) => {
      const result = { publications: [], position: { offset, epoch: "" } };
      const reply = messagePackCodec.encodeReply({ id: 1, method: "history", result });
      const history = { publications: [], epoch: "", offset };
      expect(toHex(reply)).toBe(toHex(encode({ id: 1, history })));
    },
  );
});

function bytesOf(message: string | Uint8Array): Uint8Array {
  return typeof message === "string" ? utf8(message) : message;
}
