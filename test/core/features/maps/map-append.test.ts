import { describe, expect, it } from "vitest";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";

const endpoint = "https://backend.example/hooks";
const map = { mode: "persistent", allow_publish_for_client: true };
const base = { subscription_type: "map", allow_subscribe_for_client: true };
const namespaces = [
  { ...base, name: "free", map },
  { ...base, name: "closed", map: { mode: "persistent" } },
  { ...base, name: "own", map: { ...map, client_key: "client_id" } },
  { ...base, name: "objects", map, publication_data_format: "json_object" },
  { ...base, name: "asked", map: { mode: "persistent", publish_proxy_enabled: true } },
  { ...base, name: "shut", limited_channels_for_subscribers_only: true, map },
  { name: "news" },
];
const channel = { proxy: { map_publish: { endpoint } }, namespaces };

const newFixture = () => new ManyChannelsFixture({ channel });
const append = (id: number, name: string, fields: object = {}) =>
  JSON.stringify({
    id,
    rpc: { method: "dormouse.append", data: { channel: name, key: "k", text: "t", ...fields } },
  });
const error = (id: number, code: number, message: string) =>
  `{"id":${id},"error":{"code":${code},"message":"${message}"}}`;
const denied = (id: number) => error(id, 103, "permission denied");
const malformed = (id: number) => error(id, 107, "bad request");

describe("an append of a client", () => {
  it("[Z45] is a method, whose result is that of the API", () => {
    const fixture = newFixture();
    const { channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, append(2, "free:a", { at: 3, field: "f", final: true }));
    expect(channels.appended("free:a")).toStrictEqual({
      key: "k",
      text: "t",
      at: 3,
      field: "f",
      final: true,
      idempotencyKey: "",
    });
    channels.answerAppend("free:a", '{"length":4}');
    fixture.send(connection, append(3, "free:a"));
    expect(channels.appended("free:a")).toStrictEqual({
      key: "k",
      text: "t",
      final: false,
      idempotencyKey: "",
    });
    channels.answerAppend("free:a", errorCodes.limitExceeded);
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"rpc":{"data":{"length":4}}}',
      error(3, 106, "limit exceeded"),
    ]);
  });

  it("[Z45] [Z18] needs the permission to publish", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, append(2, "closed:a"))).toStrictEqual([denied(2)]);
    expect(fixture.ask(fixture.connected(""), append(2, "free:a"))).toStrictEqual([denied(2)]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[A5] to a private channel that is for subscribers only needs a subscription", () => {
    const fixture = newFixture();
    expect(fixture.ask(fixture.connected(), append(2, "$shut:a"))).toStrictEqual([denied(2)]);
    fixture.send(fixture.connected(), append(2, "shut:a"));
    expect(fixture.channels.appended("shut:a")).toMatchObject({ key: "k" });
  });

  it("[Z45] [Z18] is to the client's own key where the namespace says so", () => {
    const fixture = newFixture();
    fixture.send(fixture.connected(), append(2, "own:a"));
    expect(fixture.channels.appended("own:a")).toMatchObject({ key: "c1" });
  });

  it.each([
    ["free:a", { key: "" }],
    ["free:a", { key: 1 }],
    ["free:a", { text: "" }],
    ["free:a", { text: 1 }],
    ["free:a", { text: "\ud800" }],
    ["free:a", { at: -1 }],
    ["free:a", { at: 1.5 }],
    ["free:a", { field: 1 }],
    ["free:a", { final: 1 }],
    ["free:a", { channel: 1 }],
    ["objects:a", {}],
    ["news:a", {}],
  ])("[Z45] is answered 107: to %s with %j", (name, fields) => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, append(2, name, fields))).toStrictEqual([malformed(2)]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[Z45] [Q2] is what the backend that decides on publishes makes of it", () => {
    const fixture = newFixture();
    const { backend, channels } = fixture;
    const connection = fixture.connected();
    fixture.send(connection, append(2, "asked:a"));
    expect(backend.takeAsked()).toMatchObject([
      { hook: "map_publish", body: { key: "k", data: "t", method: "dormouse.append" } },
    ]);
    backend.answer({});
    expect(channels.appended("asked:a")).toMatchObject({ key: "k", text: "t" });
    channels.answerAppend("asked:a", '{"length":1}');
    fixture.send(connection, append(3, "asked:a", { field: "f", at: 1 }));
    expect(backend.takeAsked()).toMatchObject([{ body: { data: { f: "t" } } }]);
    backend.answer({ result: { key: "mine", data: { f: "other" } } });
    expect(channels.appended("asked:a")).toMatchObject({ key: "mine", text: "other", at: 1 });
    channels.answerAppend("asked:a", '{"length":6}');
    connection.takeSent();
    fixture.send(connection, append(4, "asked:a"));
    backend.answer({ error: { code: 1000, message: "no" } });
    expect(connection.takeSent()).toStrictEqual([error(4, 1000, "no")]);
    fixture.send(connection, append(5, "asked:a"));
    backend.answer({ result: { data: 7 } });
    expect(connection.takeSent()).toStrictEqual([
      error(5, 100, "internal server error").replace("}}", ',"temporary":true}}'),
    ]);
    expect(channels.takeCalls()).toHaveLength(2);
  });
});
