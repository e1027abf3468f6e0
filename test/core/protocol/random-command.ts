import * as fc from "fast-check";
import type { Command } from "../../../src/protocol/command.ts";
import { anyFilter } from "./any-filter.ts";
import { utf8 } from "./messagepack/hex.ts";
import { valid } from "./valid-json-text.ts";

/** The object that an SDK stringifies, and the command that it means by it. */
export interface SentCommand {
  readonly wire: object;
  readonly command: Command;
}

const anyText = fc.string({ unit: "binary", maxLength: 12 });
const anyOffset = fc.maxSafeNat();
const anyInt32 = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const anyId = fc.integer({ min: 1, max: 0xffff_ffff });

const pong = fc.constant<SentCommand>({ wire: {}, command: { method: "pong" } });

const anyChannel = fc.oneof(anyText, fc.constantFrom("__proto__", "constructor", "toString"));

const serverSubscription = fc.record(
  { recover: fc.boolean(), epoch: anyText, offset: anyOffset },
  { noNullPrototype: true },
);

const connect = record(
  {
    token: anyText,
    name: anyText,
    version: anyText,
    headers: fc.array(fc.tuple(anyChannel, anyText), { maxLength: 4 }),
    data: fc.jsonValue(),
    subscriptions: fc.array(fc.tuple(anyChannel, serverSubscription), { maxLength: 4 }),
  },
  (id, { subscriptions, headers, data, ...same }) => {
    const request = {
      ...same,
      data: valid(JSON.stringify(data)),
      headers: new Map(headers),
      subscriptions: new Map(subscriptions),
    };
    const wire = {
      ...same,
      data,
      headers: Object.fromEntries(headers),
      subs: Object.fromEntries(subscriptions),
    };
    return { wire: { id, connect: wire }, command: { method: "connect", id, request } };
  },
);

const subscribe = record(
  {
    channel: anyText,
    token: anyText,
    recover: fc.boolean(),
    epoch: anyText,
    offset: anyOffset,
    positioned: fc.boolean(),
    recoverable: fc.boolean(),
    joinLeave: fc.boolean(),
    delta: anyText,
    filter: fc.option(anyFilter, { nil: undefined }),
    data: fc.jsonValue(),
    flag: fc.maxSafeInteger(),
    type: anyInt32,
    phase: anyInt32,
    cursor: anyText,
    limit: anyInt32,
    asc: fc.boolean(),
  },
  (id, request) => {
    const { joinLeave, filter, ...same } = request;
    const wire = { ...same, join_leave: joinLeave, tf: filter };
    const meant = {
      ...same,
      data: valid(JSON.stringify(same.data)),
      joinLeave,
      ...(filter !== undefined && { filter }),
    };
    return { wire: { id, subscribe: wire }, command: { method: "subscribe", id, request: meant } };
  },
);

const aboutChannel = record(
  { channel: anyText, method: fc.constantFrom("unsubscribe", "presence", "presence_stats") },
  (id, { channel, method }) => {
    return { wire: { id, [method]: { channel } }, command: { method, id, request: { channel } } };
  },
);

const publish = record(
  {
    channel: anyText,
    data: fc.jsonValue(),
    type: anyInt32,
    key: anyText,
    removed: fc.boolean(),
  },
  (id, publication) => ({
    wire: { id, publish: publication },
    command: {
      method: "publish",
      id,
      request: { ...publication, data: valid(JSON.stringify(publication.data)) },
    },
  }),
);

const position = fc.record({ offset: anyOffset, epoch: anyText }, { noNullPrototype: true });

const history = record(
  { channel: anyText, limit: anyInt32, reverse: fc.boolean(), since: fc.option(position) },
  (id, { since, ...rest }) => {
    const request = since === null ? rest : { ...rest, since };
    return {
      wire: { id, history: { ...rest, since } },
      command: { method: "history", id, request },
    };
  },
);

const refresh = record({ token: anyText }, (id, request) => {
  return { wire: { id, refresh: request }, command: { method: "refresh", id, request } };
});

const trackedItem = fc.record(
  { key: anyText, version: fc.maxSafeNat() },
  { noNullPrototype: true },
);

const trackBatch = fc.record(
  { signature: anyText, items: fc.array(trackedItem, { maxLength: 3 }) },
  { noNullPrototype: true },
);

const subRefresh = record(
  {
    channel: anyText,
    token: anyText,
    type: anyInt32,
    track: fc.array(trackBatch, { maxLength: 3 }),
    untrack: fc.array(anyText, { maxLength: 3 }),
  },
  (id, request) => {
    const track = request.track.map(({ signature, items }) => ({
      signature,
      items: items.map(({ key, version }) => ({ key, version: BigInt(version) })),
    }));
    return {
      wire: { id, sub_refresh: request },
      command: { method: "sub_refresh", id, request: { ...request, track } },
    };
  },
);

const rpc = record({ method: anyText, data: fc.jsonValue() }, (id, { method, data }) => {
  return {
    wire: { id, rpc: { method, data } },
    command: { method: "rpc", id, request: { method, data: valid(JSON.stringify(data)) } },
  };
});

const send = record({ data: fc.jsonValue() }, (id, { data }) => ({
  wire: { id, send: { data } },
  command: { method: "send", id, request: { data: valid(JSON.stringify(data)) } },
}));

const ping = record({}, (id) => ({ wire: { id, ping: {} }, command: { method: "ping", id } }));

/** Any command, with every field that we read. */
export const sentCommand: fc.Arbitrary<SentCommand> = fc.oneof(
  pong,
  connect,
  subscribe,
  aboutChannel,
  publish,
  history,
  refresh,
  subRefresh,
  rpc,
  send,
  ping,
);

/** The same command for the binary formats, where `data` are bytes. */
export function withBytes(wire: object): object {
  const members = Object.entries(wire).map(([name, member]) => {
    const hasData = typeof member === "object" && member !== null && "data" in member;
    return [name, hasData ? { ...member, data: utf8(JSON.stringify(member.data)) } : member];
  });
  return Object.fromEntries(members);
}

function record<Fields>(
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
  sent: (id: number, fields: Fields) => SentCommand,
): fc.Arbitrary<SentCommand> {
  return fc
    .tuple(anyId, fc.record<Fields>(fields, { noNullPrototype: true }))
    .map(([id, values]) => sent(id, values));
}
