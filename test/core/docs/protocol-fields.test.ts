import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  filterTexts,
  readCommand,
  subscribeRequest,
} from "../../../src/protocol/command-fields.ts";
import type { FieldEntry, FieldReader, Fields, FieldWriter } from "../../../src/protocol/fields.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import type { Push, Reply } from "../../../src/protocol/reply.ts";
import { pushFields, replyFields } from "../../../src/protocol/reply-fields.ts";
import { json } from "../api/channel-config.ts";
import { nothing } from "../protocol/bare-subscribe-result.ts";

const document = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");

/** The fields that a cell of a table names, such as `channel[1]`, in the order of their numbers. */
function fieldsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+)`\[(\d+)\]/g)]
    .map(([, name, number]) => `${number} ${name}`)
    .toSorted(byNumber);
}

function byNumber(one: string, other: string): number {
  return Number.parseInt(one, 10) - Number.parseInt(other, 10);
}

/** The second cell of the row of a message. */
function cellOf(message: string): string {
  const row = document.split("\n").find(
    (line) =>
      line.startsWith("|") &&
      line
        .split("|")[1]
        ?.split(",")
        .some((name) => name.trim() === message),
  );
  if (row === undefined) throw new Error(`docs/protocol.md has no row for ${message}`);
  return row.split("|")[2] ?? "";
}

/** Notes the fields that are read, of the message itself and of those within it. */
class NotingReader implements FieldReader {
  readonly noted = new Set<string>();
  readonly within = new Map<string, NotingReader>();
  readonly #has: string;

  /** @param has the only field that is there */
  constructor(has = "") {
    this.#has = has;
  }

  has(_: number, name: string): boolean {
    return name === this.#has;
  }
  text(number: number, name: string): string {
    return this.#note(number, name, "");
  }
  texts(number: number, name: string): readonly string[] {
    return this.#note(number, name, []);
  }
  flag(number: number, name: string): boolean {
    return this.#note(number, name, false);
  }
  uint32(number: number, name: string): number {
    return this.#note(number, name, 1);
  }
  uint64(number: number, name: string): number {
    return this.#note(number, name, 0);
  }
  wide(number: number, name: string): bigint {
    return this.#note(number, name, 0n);
  }
  int32(number: number, name: string): number {
    return this.#note(number, name, 0);
  }
  int64(number: number, name: string): number {
    return this.#note(number, name, 0);
  }
  payload(number: number, name: string): undefined {
    return this.#note(number, name, undefined);
  }
  message(number: number, name: string): NotingReader {
    return this.#inside(number, name);
  }
  messages(number: number, name: string): readonly NotingReader[] {
    return [this.#inside(number, name)];
  }
  map(number: number, name: string): ReadonlyMap<string, NotingReader> {
    return new Map([["", this.#inside(number, name)]]);
  }
  textMap(number: number, name: string): ReadonlyMap<string, string> {
    return this.#note(number, name, new Map());
  }
  complain(): void {
    // Nothing here is sent by a client.
  }

  get fields(): readonly string[] {
    return [...this.noted].toSorted(byNumber);
  }

  inside(name: string): NotingReader {
    const inside = this.within.get(name);
    if (inside === undefined) throw new Error(`nothing was read of ${name}`);
    return inside;
  }

  #note<Value>(number: number, name: string, value: Value): Value {
    this.noted.add(`${number} ${name}`);
    return value;
  }

  #inside(number: number, name: string): NotingReader {
    const inside = this.within.get(name) ?? new NotingReader();
    this.within.set(name, inside);
    return this.#note(number, name, inside);
  }
}

/** Notes the fields that are written, of the message itself and of those within it. */
class NotingWriter implements FieldWriter {
  readonly noted = new Set<string>();
  readonly within = new Map<string, NotingWriter>();

  text(number: number, name: string): void {
    this.#note(number, name);
  }
  flag(number: number, name: string): void {
    this.#note(number, name);
  }
  unsigned(number: number, name: string): void {
    this.#note(number, name);
  }
  wide(number: number, name: string): void {
    this.#note(number, name);
  }
  signed(number: number, name: string): void {
    this.#note(number, name);
  }
  seconds(number: number, name: string): void {
    this.#note(number, name);
  }
  payload(number: number, name: string): void {
    this.#note(number, name);
  }
  json(number: number, name: string): void {
    this.#note(number, name);
  }
  textMap(number: number, name: string): void {
    this.#note(number, name);
  }
  message<M>(number: number, name: string, message: M | undefined, fields: Fields<M>): void {
    this.#inside(number, name, message === undefined ? [] : [message], fields);
  }
  messages<M>(number: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    this.#inside(number, name, messages, fields);
  }
  sharedMessages<M>(number: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    this.#inside(number, name, messages, fields);
  }
  map<M>(number: number, name: string, entries: readonly FieldEntry<M>[], fields: Fields<M>): void {
    this.#inside(
      number,
      name,
      entries.map(([, message]) => message),
      fields,
    );
  }
  sharedMap<M>(
    number: number,
    name: string,
    parts: readonly (readonly M[])[],
    _: (message: M) => string,
    fields: Fields<M>,
  ): void {
    this.#inside(number, name, parts.flat(), fields);
  }

  get fields(): readonly string[] {
    return [...this.noted].toSorted(byNumber);
  }

  inside(name: string): NotingWriter {
    const inside = this.within.get(name);
    if (inside === undefined) throw new Error(`nothing was written of ${name}`);
    return inside;
  }

  #note(number: number, name: string): void {
    this.noted.add(`${number} ${name}`);
  }

  #inside<M>(number: number, name: string, messages: readonly M[], fields: Fields<M>): void {
    this.#note(number, name);
    for (const message of messages) {
      const inside = this.within.get(name) ?? new NotingWriter();
      this.within.set(name, inside);
      fields(inside, message);
    }
  }
}

/** The reader of a command's request, after the command was read. */
function requestOf(method: string): NotingReader {
  const command = new NotingReader(method);
  readCommand(command, [], (request) => {
    const tagsFilter = request.message(13, "tf");
    if (tagsFilter !== undefined) filterTexts(tagsFilter);
    for (const _ of tagsFilter?.messages(6, "nodes") ?? []) break;
    return subscribeRequest(request);
  });
  return command.inside(method);
}

describe("the tables of requests in docs/protocol.md", () => {
  it.each([
    ["ConnectRequest", requestOf("connect")],
    ["SubscribeRequest", requestOf("subscribe")],
    ["FilterNode", requestOf("subscribe").inside("tf")],
    ["UnsubscribeRequest", requestOf("unsubscribe")],
    ["PublishRequest", requestOf("publish")],
    ["PresenceRequest", requestOf("presence")],
    ["PresenceStatsRequest", requestOf("presence_stats")],
    ["HistoryRequest", requestOf("history")],
    ["StreamPosition", requestOf("history").inside("since")],
    ["RPCRequest", requestOf("rpc")],
    ["SendRequest", requestOf("send")],
    ["PingRequest", requestOf("ping")],
    ["RefreshRequest", requestOf("refresh")],
    ["SubRefreshRequest", requestOf("sub_refresh")],
    ["TrackBatch", requestOf("sub_refresh").inside("track")],
    ["KeyedItem", requestOf("sub_refresh").inside("track").inside("items")],
  ])("[W1] name the fields of %s that are read, and no others", (message, { fields }) => {
    expect(fieldsIn(cellOf(message))).toStrictEqual(fields);
  });
});

const position = { offset: 1, epoch: "e" };
const info = { user: "42", client: "c" };
const publication: Publication = {
  data: json("1"),
  offset: 1,
  key: "k",
  info,
  prevData: json("2"),
};
const subscribed = {
  ...nothing,
  publications: [publication],
  state: [publication],
  position,
};

function resultOf(reply: Reply, method: string): NotingWriter {
  const writer = new NotingWriter();
  replyFields(writer, reply);
  return writer.inside(method);
}

const connect = { client: "c", version: "", ttlSeconds: 0, pingSeconds: 25, pong: true };
const subscribe = resultOf({ id: 1, method: "subscribe", result: subscribed }, "subscribe");
const presence = resultOf({ id: 1, method: "presence", result: { parts: [[info]] } }, "presence");

function pushOf(push: Push): NotingWriter {
  const writer = new NotingWriter();
  pushFields(writer, push);
  return [...writer.within.values()][0] ?? writer;
}

describe("the tables of results and pushes in docs/protocol.md", () => {
  it.each([
    ["ConnectResult", resultOf({ id: 1, method: "connect", result: connect }, "connect")],
    ["SubscribeResult", subscribe],
    ["Publication", subscribe.inside("publications")],
    ["ClientInfo", presence.inside("presence")],
    ["UnsubscribeResult", resultOf({ id: 1, method: "unsubscribe" }, "unsubscribe")],
    ["PublishResult", resultOf({ id: 1, method: "publish" }, "publish")],
    ["RPCResult", resultOf({ id: 1, method: "rpc", data: json("1") }, "rpc")],
    ["PresenceResult", presence],
    [
      "PresenceStatsResult",
      resultOf(
        { id: 1, method: "presence_stats", result: { clientCount: 1, userCount: 1 } },
        "presence_stats",
      ),
    ],
    [
      "HistoryResult",
      resultOf({ id: 1, method: "history", result: { publications: [], position } }, "history"),
    ],
    ["RefreshResult", resultOf({ id: 1, method: "refresh", result: { ttlSeconds: 1 } }, "refresh")],
    [
      "SubRefreshResult",
      resultOf({ id: 1, method: "sub_refresh", result: { ttlSeconds: 1 } }, "sub_refresh"),
    ],
    ["Join", pushOf({ type: "join", channel: "a", info })],
    ["Refresh", pushOf({ type: "refresh", expiry: { ttlSeconds: 1 } })],
    ["Disconnect", pushOf({ type: "disconnect", code: { code: 3000, reason: "" } })],
    [
      "Unsubscribe",
      pushOf({ type: "unsubscribe", channel: "a", code: { code: 2000, reason: "" } }),
    ],
  ])("[W1] name the fields of %s that are sent, and no others", (message, { fields }) => {
    expect(fieldsIn(cellOf(message))).toStrictEqual(fields);
  });
});
