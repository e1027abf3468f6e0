import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { json } from "../../api/channel-config.ts";
import { ChannelFixture } from "../channel-fixture.ts";
import { connectionToken, subscriptionToken } from "../verified-tokens.ts";

const open = { allow_subscribe_for_client: true };

function error(code: number, message: string): readonly string[] {
  return [`{"id":3,"error":{"code":${code},"message":"${message}"}}`];
}

const denied = error(103, "permission denied");
const badRequest = error(107, "bad request");
const notAvailable = error(108, "not available");

function publish(fields: string): string {
  return `{"id":3,"publish":{"channel":"room",${fields}}}`;
}

function history(fields: string): string {
  return `{"id":3,"history":{"channel":"room"${fields}}}`;
}

/** Publications whose data is their offset. */
function publications(offsets: readonly number[]): string {
  return `[${offsets.map((offset) => `{"data":${offset},"offset":${offset}}`).join(",")}]`;
}

/** A channel on which a client has all permissions. */
function openFixture(): ChannelFixture {
  return new ChannelFixture({
    options: {
      presence: true,
      history_size: 5,
      history_ttl: "60s",
      allow_publish_for_client: true,
      allow_presence_for_client: true,
      allow_history_for_client: true,
    },
    channel: { namespaces: [{ name: "digits", channel_regex: "^[0-9]+$" }] },
  });
}

describe.each([["publish"], ["presence"], ["presence_stats"], ["history"]])("%s", (method) => {
  const about = (channel: string) => `{"id":3,"${method}":{"channel":"${channel}","data":1}}`;

  it("[W1] about no channel closes 3501", () => {
    const fixture = openFixture();
    expect(fixture.ask(fixture.connected(), about(""))).toStrictEqual(["close 3501 bad request"]);
  });

  it.each([["other"], ["nowhere:room"], ["$room"]])("[C6] about %s is answered 102", (name) => {
    const fixture = openFixture();
    const received = fixture.ask(fixture.connected(), about(name));
    expect(received).toStrictEqual(error(102, "unknown channel"));
  });

  it.each([["röom"], ["digits:a"], ["x".repeat(256)]])("[W1] about %s is answered 107", (name) => {
    const fixture = openFixture();
    expect(fixture.ask(fixture.connected(), about(name))).toStrictEqual(badRequest);
  });
});

describe("a publish", () => {
  const options = { ...open, allow_publish_for_client: true };

  it("[W2] reaches the subscribers as it was written, with who published it", () => {
    const fixture = new ChannelFixture({ options });
    const reader = fixture.subscribed("7");
    const writer = fixture.open();
    const info = json(`{"name": "Zoë"}`);
    fixture.ask(writer, `{"id":1,"connect":{}}`, connectionToken("42", { info }));
    const received = fixture.ask(writer, publish(`"data": {"n":1.00,"n":2e0,"<":"é"} `));
    expect(received).toStrictEqual([`{"id":3,"publish":{}}`]);
    expect(reader.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":{"n":1.00,"n":2e0,"<":"é"},"info":{"user":"42","client":"c2","conn_info":{"name": "Zoë"}}}}}`,
    ]);
  });

  it("[W1] of a subscriber shows what its subscription token says of it", () => {
    const fixture = new ChannelFixture({ options });
    const reader = fixture.subscribed("7");
    const token = subscriptionToken({ info: json(`"admin"`) });
    const writer = fixture.subscribed("42", `{"channel":"room","token":"t"}`, token);
    fixture.send(writer, publish(`"data":null`));
    expect(reader.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":null,"info":{"user":"42","client":"c2","chan_info":"admin"}}}}`,
    ]);
  });

  it("[H2] is kept with history, with its publisher", () => {
    const stream = { history_size: 5, history_ttl: "60s", allow_history_for_client: true };
    const fixture = new ChannelFixture({ options: { ...options, ...stream } });
    const writer = fixture.connected();
    fixture.ask(writer, publish(`"data":1`));
    expect(fixture.ask(writer, `{"id":4,"history":{"channel":"room","limit":-1}}`)).toStrictEqual([
      `{"id":4,"history":{"publications":[{"data":1,"info":{"user":"42","client":"c1"},"offset":1}],"epoch":"epoch1","offset":1}}`,
    ]);
  });

  it.each([
    ["without data", `"type":0`],
    ["to a map", `"data":1,"type":1`],
  ])("[W1] %s is answered 107, and nobody hears of it", (_, fields) => {
    const fixture = new ChannelFixture({ options });
    const reader = fixture.subscribed("7");
    expect(fixture.ask(fixture.connected(), publish(fields))).toStrictEqual(badRequest);
    expect(reader.takeSent()).toStrictEqual([]);
  });

  it("[W1] of other data than the namespace takes is answered 107", () => {
    const fixture = new ChannelFixture({
      options: { ...options, publication_data_format: "json_object" },
    });
    const writer = fixture.connected();
    expect(fixture.ask(writer, publish(`"data":[{}]`))).toStrictEqual(badRequest);
    expect(fixture.ask(writer, publish(`"data":{}`))).toStrictEqual([`{"id":3,"publish":{}}`]);
  });

  it("[A1] that isn't allowed is answered 103 whatever its data", () => {
    const fixture = new ChannelFixture({ options: open });
    expect(fixture.ask(fixture.connected(), publish(`"type":1`))).toStrictEqual(denied);
  });

  it("[B3] to sockets that are together too far behind is answered 111, and not done", () => {
    const fixture = new ChannelFixture({
      options,
      client: { queue_max_size: 2 * limits.backlogBytesMax },
    });
    const reader = fixture.subscribed("7");
    const writer = fixture.connected();
    reader.backlog = limits.backlogBytesMax + 1;
    fixture.publish("1");
    fixture.dropSent();
    expect(fixture.ask(writer, publish(`"data":2`))).toStrictEqual([
      `{"id":3,"error":{"code":111,"message":"too many requests","temporary":true}}`,
    ]);
    expect(reader.takeSent()).toStrictEqual([]);
    reader.backlog = 0;
    expect(fixture.ask(writer, publish(`"data":2`))).toStrictEqual([`{"id":3,"publish":{}}`]);
  });
});

describe("presence", () => {
  const options = { ...open, presence: true, allow_presence_for_client: true };
  const presence = `{"id":3,"presence":{"channel":"room"}}`;
  const stats = `{"id":3,"presence_stats":{"channel":"room"}}`;

  it("[P1] shows who is subscribed now, with what is known of them", () => {
    const fixture = new ChannelFixture({ options });
    const asker = fixture.connected("9");
    expect(fixture.ask(asker, presence)).toStrictEqual([`{"id":3,"presence":{"presence":{}}}`]);
    expect(fixture.ask(asker, stats)).toStrictEqual([
      `{"id":3,"presence_stats":{"num_clients":0,"num_users":0}}`,
    ]);
    const token = subscriptionToken({ info: json("[1]") });
    const one = fixture.subscribed("42", `{"channel":"room","token":"t"}`, token);
    fixture.subscribed("42");
    fixture.subscribed("7");
    expect(fixture.ask(asker, presence)).toStrictEqual([
      `{"id":3,"presence":{"presence":{"c2":{"user":"42","client":"c2","chan_info":[1]},"c3":{"user":"42","client":"c3"},"c4":{"user":"7","client":"c4"}}}}`,
    ]);
    expect(fixture.ask(asker, stats)).toStrictEqual([
      `{"id":3,"presence_stats":{"num_clients":3,"num_users":2}}`,
    ]);
    fixture.end(one);
    expect(fixture.ask(asker, stats)).toStrictEqual([
      `{"id":3,"presence_stats":{"num_clients":2,"num_users":2}}`,
    ]);
  });

  it("[P1] leaves out a client whose token says so", () => {
    const fixture = new ChannelFixture({ options });
    const hidden = subscriptionToken({ override: { presence: false } });
    const connection = fixture.subscribed("42", `{"channel":"room","token":"t"}`, hidden);
    expect(fixture.ask(connection, presence)).toStrictEqual([
      `{"id":3,"presence":{"presence":{}}}`,
    ]);
  });

  it.each([[presence], [stats]])("[W1] is answered 108 where it is off: %s", (command) => {
    const fixture = new ChannelFixture({ options: { ...options, presence: false } });
    expect(fixture.ask(fixture.connected(), command)).toStrictEqual(notAvailable);
    const closed = new ChannelFixture({ options: open });
    expect(closed.ask(closed.connected(), command)).toStrictEqual(notAvailable);
  });
});

describe("history", () => {
  const options = {
    history_size: 400,
    history_ttl: "60s",
    allow_history_for_client: true,
  };

  it.each([
    ["", []],
    [`,"limit":0`, []],
    [`,"limit":2`, [1, 2]],
    [`,"limit":-1`, [1, 2, 3, 4]],
    [`,"limit":-5`, [1, 2, 3, 4]],
    [`,"limit":2,"reverse":true`, [4, 3]],
    [`,"limit":-1,"since":{"offset":2,"epoch":"epoch1"}`, [3, 4]],
    [`,"limit":1,"since":{"offset":2}`, [3]],
    [`,"limit":-1,"since":{"offset":0}`, [1, 2, 3, 4]],
    [`,"limit":-1,"since":{"offset":9}`, []],
    [`,"limit":2,"reverse":true,"since":{"offset":4,"epoch":"epoch1"}`, [3, 2]],
    [`,"limit":-1,"reverse":true,"since":{"offset":1}`, []],
  ])("[H2] is read as asked: {%s}", (fields, offsets) => {
    const fixture = new ChannelFixture({ options });
    for (let number = 1; number <= 4; number++) fixture.publish(`${number}`);
    expect(fixture.ask(fixture.connected(), history(fields))).toStrictEqual([
      `{"id":3,"history":{"publications":${publications(offsets)},"epoch":"epoch1","offset":4}}`,
    ]);
  });

  it.each([
    [`,"limit":-1`, { history_max_publication_limit: 3 }, 3],
    [`,"limit":4`, { history_max_publication_limit: 3 }, 3],
    [`,"limit":2`, { history_max_publication_limit: 3 }, 2],
    [`,"limit":-1`, {}, 300],
    [`,"limit":350`, {}, 300],
  ])("[B1] gives a client at most the configured number: {%s} with %j", (fields, client, most) => {
    const fixture = new ChannelFixture({ options, client });
    for (let number = 1; number <= 310; number++) fixture.publish(`${number}`);
    const offsets = Array.from({ length: most }, (_, index) => index + 1);
    expect(fixture.ask(fixture.connected(), history(fields))).toStrictEqual([
      `{"id":3,"history":{"publications":${publications(offsets)},"epoch":"epoch1","offset":310}}`,
    ]);
  });

  it("[B2] that is too large for one answer is answered 106", () => {
    const fixture = new ChannelFixture({ options });
    for (let number = 0; number < 9; number++) fixture.publish(`"${"x".repeat(1_000_000)}"`);
    const connection = fixture.connected();
    expect(fixture.ask(connection, history(`,"limit":-1`))).toStrictEqual(
      error(106, "limit exceeded"),
    );
    expect(fixture.ask(connection, history(`,"limit":0`))).toStrictEqual([
      `{"id":3,"history":{"publications":[],"epoch":"epoch1","offset":9}}`,
    ]);
  });

  it("[R1] of another epoch is answered 112", () => {
    const fixture = new ChannelFixture({ options });
    const ask = history(`,"limit":1,"since":{"offset":1,"epoch":"other"}`);
    expect(fixture.ask(fixture.connected(), ask)).toStrictEqual(
      error(112, "unrecoverable position"),
    );
  });

  it("[W1] backwards from offset 0 is answered 107, whatever the epoch", () => {
    const fixture = new ChannelFixture({ options });
    const ask = history(`,"limit":1,"reverse":true,"since":{"offset":0,"epoch":"other"}`);
    expect(fixture.ask(fixture.connected(), ask)).toStrictEqual(badRequest);
  });

  it("[W1] is answered 108 where there is none, whether allowed or not", () => {
    const fixture = new ChannelFixture({ options: { ...open, allow_history_for_client: true } });
    expect(fixture.ask(fixture.connected(), history(""))).toStrictEqual(notAvailable);
    const closed = new ChannelFixture({ options: open });
    expect(closed.ask(closed.connected(), history(""))).toStrictEqual(notAvailable);
  });
});
