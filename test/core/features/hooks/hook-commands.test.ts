import { describe, expect, it } from "vitest";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";
import { unsubscribeCodes } from "../../../../src/protocol/codes.ts";
import { ManyChannelsFixture } from "../../session/many-channels-fixture.ts";
import { connectionToken, subscriptionToken } from "../../session/verified-tokens.ts";

const endpoint = "https://backend.example/hooks";
const proxy = {
  subscribe: { endpoint },
  publish: { endpoint },
  sub_refresh: { endpoint },
};
const namespaces = [
  { name: "asked", subscribe_proxy_enabled: true, publish_proxy_enabled: true },
  {
    name: "kept",
    allow_user_limited_channels: true,
    limited_channels_for_subscribers_only: true,
    publish_proxy_enabled: true,
    subscribe_proxy_enabled: true,
    history_size: 10,
    history_ttl: "1m",
    allow_recovery: true,
    allow_positioning: true,
    join_leave: true,
    presence: true,
    allow_presence_for_client: true,
  },
];
const channel = { proxy, namespaces };
const newFixture = (more: object = {}) => new ManyChannelsFixture({ channel, ...more });

const internal = (id: number) =>
  `{"id":${id},"error":{"code":100,"message":"internal server error","temporary":true}}`;
const publish = (id: number, data = "1", name = "asked:a") =>
  `{"id":${id},"publish":{"channel":"${name}","data":${data}}}`;
const subscribe = (id: number, name = "asked:a", more = "") =>
  `{"id":${id},"subscribe":{"channel":"${name}"${more}}}`;
const call = (id: number, method: string, data = "") =>
  `{"id":${id},"rpc":{"method":"${method}"${data}}}`;
const asking = { client: "c1", transport: "websocket", protocol: "json", encoding: "json" };

describe("a publish in a namespace with a hook", () => {
  it("[Q2] is what the backend makes of it, in place of the namespace's permissions", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, publish(2, '{"a":1}'))).toStrictEqual([]);
    expect(fixture.backend.takeAsked()).toStrictEqual([
      {
        hook: "publish",
        target: "channel.proxy.publish",
        body: { ...asking, user: "42", channel: "asked:a", data: { a: 1 } },
      },
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.backend.answer({ result: { data: { b: 2 }, tags: { t: "v" }, skip_history: true } });
    expect(fixture.channels.published("asked:a")).toMatchObject({
      data: '{"b":2}',
      tags: { t: "v" },
      skipHistory: true,
    });
    expect(connection.takeSent()).toStrictEqual([]);
    fixture.channels.answerPublish("asked:a");
    expect(connection.takeSent()).toStrictEqual(['{"id":2,"publish":{}}']);
  });

  it("[Q2] is published as it is if the response has no result", () => {
    const fixture = newFixture();
    fixture.ask(fixture.connected(), publish(2, "[1.50]"));
    fixture.backend.answer({});
    expect(fixture.channels.takeCalls()).toStrictEqual(["publish asked:a [1.50]"]);
  });

  it.each([
    [
      "an error",
      { error: { code: 1_000, message: "no" } },
      '{"id":2,"error":{"code":1000,"message":"no"}}',
    ],
    ["a disconnect", { disconnect: { code: 4_000, reason: "bye" } }, "close 4000 bye"],
    ["a result that can't be used", { result: { tags: 1 } }, internal(2)],
  ])("[Q5] is answered by %s of the backend", (_, answer, expected) => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.ask(connection, publish(2));
    fixture.backend.answer(answer);
    expect(connection.takeSent()).toStrictEqual([expected]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[Q5] is answered 100 if the namespace doesn't take the backend's data", () => {
    const objects = { name: "objects", publish_proxy_enabled: true };
    const formatted = [{ ...objects, publication_data_format: "json_object" }];
    const fixture = newFixture({ channel: { proxy, namespaces: formatted } });
    const connection = fixture.connected();
    fixture.send(connection, publish(2, "{}", "objects:a"));
    fixture.backend.answer({ result: { data: [] } });
    expect(connection.takeSent()).toStrictEqual([internal(2)]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
  });

  it("[Q5] is answered 100 if the backend can't be asked, and the log says which one", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.ask(connection, publish(2, '"hunter2"'));
    fixture.backend.fail();
    expect(connection.takeSent()).toStrictEqual([internal(2)]);
    expect(fixture.refusals).toStrictEqual([
      {
        refused: "publish",
        rule: "Q5",
        reason: "channel.proxy.publish failed: there is no response",
        code: 100,
        user: "42",
        channel: "asked:a",
      },
    ]);
  });

  it.each([
    ["without data", '{"id":2,"publish":{"channel":"asked:a"}}', "107"],
    ["of a channel that can't exist", publish(2, "1", "none:a"), "102"],
    ["by someone who isn't a subscriber, where only they may", publish(2, "1", "kept:a#42"), "103"],
  ])("[Q1] %s is refused without asking", (_, command, code) => {
    const fixture = newFixture();
    const [reply] = fixture.ask(fixture.connected(), command);
    expect(reply).toContain(`"code":${code}`);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it("[Q3] has later commands for the channel wait, and no others", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, [publish(2), publish(3, "2"), publish(4, "3", "asked:b")].join("\n"));
    fixture.send(connection, '{"id":5,"publish":{"channel":"open","data":4}}');
    fixture.send(connection, '{"id":6,"unsubscribe":{"channel":"asked:a"}}');
    const bodies = fixture.backend.takeAsked().map(({ body }) => body);
    expect(bodies).toMatchObject([
      { channel: "asked:a", data: 1 },
      { channel: "asked:b", data: 3 },
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual(["publish open 4"]);
    fixture.channels.answerPublish("open");
    expect(connection.takeSent()).toStrictEqual(['{"id":5,"publish":{}}']);
    fixture.backend.answer({});
    expect(fixture.channels.takeCalls()).toStrictEqual(["publish asked:a 1"]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
    fixture.channels.answerPublish("asked:a");
    expect(connection.takeSent()).toStrictEqual(['{"id":2,"publish":{}}']);
    expect(fixture.backend.takeAsked()).toMatchObject([{ body: { channel: "asked:a", data: 2 } }]);
    fixture.backend.answer({});
    fixture.backend.answer({ error: { code: 1_000, message: "" } });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":3,"error":{"code":1000,"message":""}}',
      '{"id":6,"unsubscribe":{}}',
    ]);
  });

  it("[Q4] does nothing when its connection has ended before the answer", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.ask(connection, publish(2));
    connection.session.ended();
    fixture.backend.answer({});
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    expect(connection.takeSent()).toStrictEqual([]);
  });

  it("[Q4] ends its connection when the object has lost it, so that the client comes back", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.ask(connection, publish(2));
    fixture.wake(connection);
    expect(connection.takeSent()).toStrictEqual(["close 3004 internal server error"]);
    expect(connection.saved.phase).toBe("closed");
  });

  it("[Q4] leaves nothing behind once it is answered", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    const before = connection.saved;
    fixture.send(connection, [publish(2), publish(3, "2", "asked:b")].join("\n"));
    fixture.backend.fail();
    expect(connection.saved.asking).toBe(true);
    fixture.backend.fail();
    expect(connection.saved).toStrictEqual(before);
    fixture.wake(connection);
    expect(connection.session.closed).toBe(false);
  });
});

describe("a subscribe in a namespace with a hook", () => {
  it("[Q2] begins on the backend's terms", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    expect(fixture.ask(connection, subscribe(2, "asked:a", ',"data":{"k":1}'))).toStrictEqual([]);
    expect(fixture.backend.takeAsked()).toMatchObject([
      { hook: "subscribe", body: { ...asking, user: "42", channel: "asked:a", data: { k: 1 } } },
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    const expire_at = fixture.nowMs / 1_000 + 60;
    const override = { presence: { value: true } };
    fixture.backend.answer({ result: { expire_at, info: { i: 1 }, data: { d: 1 }, override } });
    fixture.channels.acceptSubscribe("asked:a");
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{"expires":true,"ttl":60,"data":{"d":1}}}',
    ]);
    expect(connection.saved.subscriptions).toMatchObject([
      { channel: "asked:a", chanInfo: '{"i":1}', present: true, expireAtSeconds: expire_at },
    ]);
  });

  it("[Q2] is allowed without a result, and has nothing that the client only wishes for", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    const wishes = ',"positioned":true,"recoverable":true,"join_leave":true';
    fixture.send(connection, subscribe(2, "kept:a", wishes));
    fixture.backend.answer({});
    expect(fixture.channels.optionsOf("kept:a").positioned).toBe(false);
    fixture.channels.acceptSubscribe("kept:a");
    expect(connection.takeSent()[0]).toBe('{"id":2,"subscribe":{}}');
    expect(connection.saved.subscriptions[0]?.hearsJoinLeave).toBe(false);
  });

  it.each([
    [
      "an error",
      { error: { code: 403, message: "no" } },
      '{"id":2,"error":{"code":403,"message":"no"}}',
    ],
    ["a disconnect", { disconnect: { code: 4_000, reason: "bye" } }, "close 4000 bye"],
    [
      "terms that have ended",
      { result: { expire_at: 1 } },
      '{"id":2,"error":{"code":110,"message":"expired"}}',
    ],
    ["a result that can't be used", { result: { override: 1 } }, internal(2)],
  ])("[Q5] doesn't begin after %s, and can be tried again", (name, answer, expected) => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2));
    fixture.backend.answer(answer);
    expect(connection.takeSent()).toStrictEqual([expected]);
    expect(fixture.channels.known).toStrictEqual([]);
    if (name === "a disconnect") return;
    fixture.send(connection, subscribe(3));
    fixture.backend.answer({});
    fixture.channels.acceptSubscribe("asked:a");
    expect(connection.takeSent()).toStrictEqual(['{"id":3,"subscribe":{}}']);
  });

  it("[Q1] [Q15] asks nobody with a token, for a limited channel, or for what is refused anyway", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2, "asked:a", ',"token":"t"'), {
      ...subscriptionToken({ channel: "asked:a" }),
    });
    fixture.channels.acceptSubscribe("asked:a");
    fixture.send(connection, subscribe(3, "kept:a#42"));
    fixture.channels.acceptSubscribe("kept:a#42");
    fixture.send(connection, subscribe(4, "kept:a#43"));
    fixture.send(connection, subscribe(5, "$asked:a"));
    fixture.send(connection, subscribe(6, "asked:b", ',"type":1'));
    fixture.send(connection, subscribe(7, "asked:b", ',"tf":{"key":"a","cmp":"ex"}'));
    fixture.send(connection, subscribe(8, "asked:a"));
    const codes = connection.takeSent().map((line) => /"code":(\d+)/.exec(line)?.[1]);
    expect(codes.filter((code) => code !== undefined)).toStrictEqual([
      "103",
      "103",
      "103",
      "107",
      "105",
    ]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it("[Q15] isn't there for a client that nobody is asked about: a unidirectional one", () => {
    const asked = { name: "asked", subscribe_proxy_enabled: true };
    const open = [{ ...asked, allow_subscribe_for_client: true }];
    const fixture = newFixture({ channel: { proxy, namespaces: open } });
    const connection = fixture.open({ codec: "one_way" });
    const request = '{"id":1,"connect":{"subs":{"asked:a":{},"open":{}}}}';
    fixture.send(connection, request, connectionToken("42"));
    expect(fixture.channels.takeCalls()).toStrictEqual(["join open"]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it("[Q1] asks nobody for a channel beyond client.channel_limit, also while others are asked", () => {
    const fixture = newFixture({ client: { channel_limit: 2 } });
    const connection = fixture.connected();
    fixture.send(
      connection,
      [subscribe(2), subscribe(3, "asked:b"), subscribe(4, "asked:c")].join("\n"),
    );
    expect(fixture.backend.takeAsked()).toHaveLength(2);
    expect(connection.takeSent()).toStrictEqual([
      '{"id":4,"error":{"code":106,"message":"limit exceeded"}}',
    ]);
  });

  it("[Q3] has later commands for the channel wait", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(
      connection,
      [subscribe(2), subscribe(3), '{"id":4,"unsubscribe":{"channel":"asked:a"}}'].join("\n"),
    );
    expect(fixture.backend.takeAsked()).toHaveLength(1);
    fixture.backend.answer({});
    fixture.channels.acceptSubscribe("asked:a");
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"subscribe":{}}',
      '{"id":3,"error":{"code":105,"message":"already subscribed"}}',
      '{"id":4,"unsubscribe":{}}',
    ]);
    expect(fixture.channels.known).toStrictEqual([]);
  });

  it("[U2] is answered 103 if an order has ended it while the backend was asked", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2));
    connection.session.unsubscribe("asked:a", unsubscribeCodes.server);
    expect(connection.takeSent()).toHaveLength(1);
    fixture.backend.answer({});
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"error":{"code":103,"message":"permission denied"}}',
    ]);
    expect(fixture.refusals).toMatchObject([
      { rule: "U2", reason: "the server ended the subscription before it began" },
    ]);
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    fixture.send(connection, subscribe(3));
    fixture.backend.answer({});
    fixture.channels.acceptSubscribe("asked:a");
    expect(connection.takeSent()).toStrictEqual(['{"id":3,"subscribe":{}}']);
  });

  it("[Q4] is never half a subscription: it ends with the connection, or with the object's memory", () => {
    const fixture = newFixture();
    const connection = fixture.connected();
    fixture.send(connection, subscribe(2));
    connection.session.ended();
    fixture.backend.answer({});
    expect(fixture.channels.takeCalls()).toStrictEqual([]);
    const other = fixture.connected();
    fixture.send(other, subscribe(2));
    fixture.wake(other);
    expect(other.takeSent()).toStrictEqual(["close 3004 internal server error"]);
    expect(fixture.channels.known).toStrictEqual([]);
  });
});

describe("an rpc", () => {
  const rpc = {
    proxy: { endpoint },
    without_namespace: { proxy_enabled: true },
    namespaces: [{ name: "game", proxy_enabled: true, proxy_name: "other" }, { name: "off" }],
    ping: { enabled: true },
  };
  const proxies = [{ name: "other", endpoint, binary_encoding: true }];

  it("[Q2] is answered with the backend's data, calls side by side", () => {
    const fixture = newFixture({ rpc, proxies });
    const connection = fixture.connected();
    fixture.send(connection, call(2, "sum", ',"data":[1,2]'));
    fixture.send(connection, call(3, "game:move", ',"data":{"to":"e4"}'));
    expect(fixture.backend.takeAsked()).toStrictEqual([
      {
        hook: "rpc",
        target: "rpc.proxy",
        body: { ...asking, user: "42", method: "sum", data: [1, 2] },
      },
      {
        hook: "rpc",
        target: "proxies.other",
        body: {
          ...asking,
          encoding: "binary",
          user: "42",
          method: "game:move",
          b64data: btoa('{"to":"e4"}'),
        },
      },
    ]);
    fixture.backend.answer({ result: { data: { sum: 3 } } });
    fixture.backend.answer({});
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"rpc":{"data":{"sum":3}}}',
      '{"id":3,"rpc":{}}',
    ]);
  });

  it("[W1] is answered 104 in an unknown namespace, and 108 where no backend is", () => {
    const fixture = newFixture({ rpc, proxies });
    const connection = fixture.connected();
    const replies = ["none:a", "off:a", "ping"].flatMap((method, index) =>
      fixture.ask(connection, call(index + 2, method)),
    );
    expect(replies).toStrictEqual([
      '{"id":2,"error":{"code":104,"message":"method not found"}}',
      '{"id":3,"error":{"code":108,"message":"not available"}}',
      '{"id":4,"rpc":{}}',
    ]);
    expect(fixture.backend.takeAsked()).toStrictEqual([]);
  });

  it("[Q6] is answered 111 beyond the bound, and others go on", () => {
    const fixture = newFixture({ rpc, proxies });
    const connections = Array.from({ length: 6 }, (_, index) => fixture.connected(`u${index}`));
    const most = hookLimits.hooksInFlightMax + hookLimits.hooksWaitingMax;
    let sent = 0;
    for (const connection of connections)
      for (let count = 0; count < hookLimits.hooksWaitingShareMax && sent < most; count++) {
        fixture.send(connection, call(2, "a"));
        sent++;
      }
    expect(sent).toBe(most);
    const last = fixture.connected("last");
    expect(fixture.ask(last, call(9, "a"))).toStrictEqual([
      '{"id":9,"error":{"code":111,"message":"too many requests","temporary":true}}',
    ]);
  });

  it("[Q5] fails with the code of an error or a disconnect", () => {
    const fixture = newFixture({ rpc, proxies });
    const connection = fixture.connected();
    fixture.send(connection, [call(2, "a"), call(3, "b"), call(4, "c")].join("\n"));
    fixture.backend.answer({ error: { code: 1_999, message: "x", temporary: true } });
    fixture.backend.answer({ result: { b64data: "*" } });
    fixture.backend.answer({ disconnect: { code: 4_999, reason: "" } });
    expect(connection.takeSent()).toStrictEqual([
      '{"id":2,"error":{"code":1999,"message":"x","temporary":true}}',
      internal(3),
      "close 4999 ",
    ]);
  });
});

describe("a message of a client", () => {
  const client = { proxy: { message: { enabled: true, endpoint } } };

  it("[Q2] goes to the backend of Dormouse's own hook, and isn't answered", () => {
    const fixture = newFixture({ client });
    const connection = fixture.connected();
    fixture.send(connection, '{"send":{"data":{"a":1}}}\n{"send":{}}');
    expect(fixture.backend.takeAsked()).toStrictEqual([
      {
        hook: "message",
        target: "client.proxy.message",
        body: { ...asking, user: "42", data: { a: 1 } },
      },
      { hook: "message", target: "client.proxy.message", body: { ...asking, user: "42" } },
    ]);
    fixture.backend.answer({ result: { data: 1 } });
    fixture.backend.answer({ error: { code: 1_000, message: "" } });
    expect(connection.takeSent()).toStrictEqual([]);
    expect(fixture.refusals).toMatchObject([{ refused: "send", rule: "Q5" }]);
  });

  it("[Q4] doesn't end a connection whose object has lost it", () => {
    const fixture = newFixture({ client });
    const connection = fixture.connected();
    fixture.send(connection, '{"send":{"data":1}}');
    fixture.wake(connection);
    expect(connection.session.closed).toBe(false);
  });

  it("[Q5] may end the connection", () => {
    const fixture = newFixture({ client });
    const connection = fixture.connected();
    fixture.send(connection, '{"send":{"data":1}}');
    fixture.backend.answer({ disconnect: { code: 4_000, reason: "bye" } });
    expect(connection.takeSent()).toStrictEqual(["close 4000 bye"]);
  });

  it("[B7] over the rate closes with 3013, after which the client comes back", () => {
    const total = { enabled: true, buckets: [{ rate: 1, interval: "1s" }] };
    const rate_limit = { client_command: { enabled: true, total } };
    const fixture = newFixture({ client: { ...client, rate_limit } });
    const connection = fixture.connected();
    fixture.send(connection, '{"send":{"data":1}}\n{"send":{"data":2}}');
    expect(connection.takeSent()).toStrictEqual(["close 3013 too many requests"]);
  });
});
