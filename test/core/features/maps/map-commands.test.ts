import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";

const endpoint = "https://backend.example/hooks";
const map = { mode: "persistent", allow_publish_for_client: true, allow_remove_for_client: true };
const base = { subscription_type: "map", allow_subscribe_for_client: true };
const asked = { publish_proxy_enabled: true, remove_proxy_enabled: true };
const namespaces = [
  { ...base, name: "free", map },
  { ...base, name: "closed", map: { mode: "persistent" } },
  { ...base, name: "publishing", map: { mode: "persistent", allow_publish_for_client: true } },
  { ...base, name: "own", map: { ...map, client_key: "client_id" } },
  {
    ...base,
    name: "users",
    map: { ...map, client_key: "user_id", allow_publish_for_anonymous: true },
  },
  { ...base, name: "objects", map, publication_data_format: "json_object" },
  { ...base, name: "asked", map: { mode: "persistent", ...asked } },
  {
    ...base,
    name: "limited",
    limited_channels_for_subscribers_only: true,
    map: { mode: "persistent", ...asked },
  },
  { ...base, name: "shut", limited_channels_for_subscribers_only: true, map },
];
const channel = {
  proxy: { map_publish: { endpoint }, map_remove: { endpoint } },
  namespaces,
};

const newFixture = () => new ManyChannelsFixture({ channel });
const publish = (id: number, name: string, fields: object = {}) =>
  JSON.stringify({ id, publish: { channel: name, type: 1, key: "k", data: 1, ...fields } });
const remove = (id: number, name: string, fields: object = {}) =>
  JSON.stringify({ id, publish: { channel: name, type: 1, key: "k", removed: true, ...fields } });
const error = (id: number, code: number, message: string, temporary = "") =>
  `{"id":${id},"error":{"code":${code},"message":"${message}"${temporary}}}`;
const denied = (id: number) => error(id, 103, "permission denied");
const malformed = (id: number) => error(id, 107, "bad request");
const asking = { client: "c1", transport: "websocket", protocol: "json", encoding: "json" };

const lacking = (option: string) =>
  `no map.allow_${option}_for_… option lets this client, or it has no map.client_key`;

describe("a change of a map by a client", () => {
  it("[Z18] sets or removes the key that the client names, and is answered when it is made", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "free:a", { data: [1.5] }));
    expect(channels.changed("free:a")).toStrictEqual({
      method: "map_publish",
      request: {
        key: "k",
        data: "[1.5]",
        keyMode: "",
        idempotencyKey: "",
        version: 0n,
        versionEpoch: "",
        delta: false,
      },
    });
    fixture.send(connection, remove(3, "free:a"));
    expect(connection.takeSent()).toStrictEqual([]);
    channels.answerChange("free:a");
    expect(channels.changed("free:a")).toStrictEqual({
      method: "map_remove",
      request: { key: "k", idempotencyKey: "" },
    });
    channels.answerChange("free:a", errorCodes.tooManyRequests);
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"publish":{}}',
      error(3, 111, "too many requests", ',"temporary":true'),
    ]);
  });

  it("[Z18] [A1] needs the permission of the namespace, of its own for publishing and removing", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, publish(2, "closed:a"))).toStrictEqual([denied(2)]);
    expect(fixture.ask(connection, remove(3, "closed:a"))).toStrictEqual([denied(3)]);
    expect(fixture.ask(connection, remove(4, "publishing:a"))).toStrictEqual([denied(4)]);
    fixture.send(connection, publish(5, "publishing:a"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["map_publish publishing:a k"]);
    expect(fixture.refusals).toMatchObject([
      { rule: "Z18", reason: `namespace closed: ${lacking("publish")}` },
      { rule: "Z18", reason: `namespace closed: ${lacking("remove")}` },
      { rule: "Z18", reason: `namespace publishing: ${lacking("remove")}` },
    ]);
    const anonymous = fixture.connected("");
    expect(fixture.ask(anonymous, publish(2, "free:a"))).toStrictEqual([denied(2)]);
  });

  it("[A5] in a private channel that is for subscribers only, needs a subscription, whatever the map's options allow", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, publish(2, "$shut:a"))).toStrictEqual([denied(2)]);
    expect(fixture.ask(connection, remove(3, "$shut:a"))).toStrictEqual([denied(3)]);
    fixture.send(connection, publish(4, "shut:a"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["map_publish shut:a k"]);
  });

  it("[Z18] without a key, with one that nothing can have, without data or without the type is answered 107", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    const long = "k".repeat(limits.mapKeyBytesMax + 1);
    expect(fixture.ask(connection, publish(2, "free:a", { key: "" }))).toStrictEqual([
      malformed(2),
    ]);
    expect(fixture.ask(connection, remove(3, "free:a", { key: "" }))).toStrictEqual([malformed(3)]);
    expect(fixture.ask(connection, publish(4, "free:a", { key: long }))).toStrictEqual([
      malformed(4),
    ]);
    expect(fixture.ask(connection, publish(5, "free:a", { type: 0 }))).toStrictEqual([
      malformed(5),
    ]);
    expect(fixture.ask(connection, publish(16, "free:a", { key: "\ud800" }))).toStrictEqual([
      malformed(16),
    ]);
    expect(fixture.ask(connection, remove(17, "free:a", { key: "\ud800" }))).toStrictEqual([
      malformed(17),
    ]);
    expect(fixture.ask(connection, publish(6, "objects:a"))).toStrictEqual([malformed(6)]);
    const bare = '{"id":7,"publish":{"channel":"free:a","type":1,"key":"k"}}';
    expect(fixture.ask(connection, bare)).toStrictEqual([malformed(7)]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.send(connection, publish(8, "free:a", { key: long.slice(1) }));
    expect(fixture.channels.takeCalls()).toStrictEqual([`map_publish free:a ${long.slice(1)}`]);
  });

  it("[Z18] changes the client's own key where the namespace says so, whatever the client names", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "own:a"));
    fixture.send(connection, remove(3, "own:a", { key: "" }));
    fixture.send(connection, publish(4, "users:a"));
    expect(fixture.channels.takeCalls()).toStrictEqual([
      "map_publish own:a c1",
      "map_remove own:a c1",
      "map_publish users:a 42",
    ]);
    expect(fixture.ask(fixture.connected(""), publish(2, "users:a"))).toStrictEqual([denied(2)]);
  });
});

describe("a change of a map in a namespace with hooks", () => {
  it("[Z18] [Q2] is what the backend makes of it, in place of the namespace's permissions", () => {
    const fixture = newFixture();
    const { backend, channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "asked:a", { key: "", data: { a: 1 } }));
    expect(backend.takeAsked()).toStrictEqual([
      {
        hook: "map_publish",
        target: "channel.proxy.map_publish",
        body: { ...asking, user: "42", channel: "asked:a", data: { a: 1 } },
      },
    ]);
    backend.answer({
      result: {
        key: "mine",
        data: { b: 2 },
        tags: { t: "v" },
        score: -3,
        key_mode: "if_new",
        stream_data: [1],
        idempotency_key: "i",
        delta: true,
        version: 4,
        version_epoch: "v",
      },
    });
    expect(channels.changed("asked:a")).toStrictEqual({
      method: "map_publish",
      request: {
        key: "mine",
        data: '{"b":2}',
        tags: { t: "v" },
        score: -3,
        keyMode: "if_new",
        streamData: "[1]",
        idempotencyKey: "i",
        delta: true,
        version: 4n,
        versionEpoch: "v",
      },
    });
    channels.answerChange("asked:a");
    fixture.send(connection, remove(3, "asked:a"));
    expect(backend.takeAsked()).toStrictEqual([
      {
        hook: "map_remove",
        target: "channel.proxy.map_remove",
        body: { ...asking, user: "42", channel: "asked:a", key: "k" },
      },
    ]);
    backend.answer({ result: { tags: { t: "v" }, idempotency_key: "i" } });
    expect(channels.changed("asked:a")).toStrictEqual({
      method: "map_remove",
      request: { key: "k", tags: { t: "v" }, idempotencyKey: "i" },
    });
    channels.answerChange("asked:a");
    expect(connection.takeSent()).toStrictEqual(['{"id":2,"publish":{}}', '{"id":3,"publish":{}}']);
  });

  it("[Z18] is as the client wants it if the response has no result, and 107 if there is no key then", () => {
    const fixture = newFixture();
    const { backend, channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "asked:a"));
    backend.answer({});
    expect(channels.takeCalls()).toStrictEqual(["map_publish asked:a k"]);
    channels.answerChange("asked:a");
    connection.takeSent();
    fixture.send(connection, publish(3, "asked:a", { key: "" }));
    backend.answer({});
    expect(connection.takeSent()).toStrictEqual([malformed(3)]);
  });

  it.each([
    ["publish", { key: 1 }],
    ["publish", { key: "\ud800" }],
    ["publish", { score: 1.5 }],
    ["publish", { key_mode: "if_full" }],
    ["publish", { tags: 1 }],
    ["remove", { key: 1 }],
    ["remove", { key: "\ud800" }],
    ["remove", { tags: { t: 1 } }],
  ])("[Q5] is answered 100 if the result of %s can't be used: %j", (what, result) => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, (what === "publish" ? publish : remove)(2, "asked:a"));
    fixture.backend.answer({ result });
    expect(connection.takeSent()).toStrictEqual([
      error(2, 100, "internal server error", ',"temporary":true'),
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[Q5] is answered 100 if the backend's key is too long", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "asked:a"));
    fixture.backend.answer({ result: { key: "k".repeat(limits.mapKeyBytesMax + 1) } });
    expect(connection.takeSent()).toStrictEqual([
      error(2, 100, "internal server error", ',"temporary":true'),
    ]);
  });

  it("[Q3] holds later commands for the channel back until the backend has decided", () => {
    const fixture = newFixture();
    const { backend, channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "asked:a", { key: "a" }));
    fixture.send(connection, publish(3, "asked:a", { key: "b" }));
    expect(backend.pending).toBe(1);
    backend.answer({});
    expect(backend.pending).toBe(0);
    channels.answerChange("asked:a");
    backend.answer({});
    expect(channels.takeCalls()).toStrictEqual(["map_publish asked:a a", "map_publish asked:a b"]);
  });
});
