import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { json } from "../api/channel-config.ts";
import { Room } from "./channel-fixture.ts";
import { connectionToken, subscriptionToken } from "./verified-tokens.ts";

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

/** Publications that each say their own offset. */
function publications(offsets: readonly number[]): string {
  return `[${offsets.map((offset) => `{"data":${offset},"offset":${offset}}`).join(",")}]`;
}

/** A room in which a client may ask everything. */
function openRoom(): Room {
  return new Room({
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
    const room = openRoom();
    expect(room.ask(room.connected(), about(""))).toStrictEqual(["close 3501 bad request"]);
  });

  it.each([["other"], ["nowhere:room"], ["$room"]])("[C6] about %s is answered 102", (name) => {
    const room = openRoom();
    const heard = room.ask(room.connected(), about(name));
    expect(heard).toStrictEqual(error(102, "unknown channel"));
  });

  it.each([["röom"], ["digits:a"], ["x".repeat(256)]])("[W1] about %s is answered 107", (name) => {
    const room = openRoom();
    expect(room.ask(room.connected(), about(name))).toStrictEqual(badRequest);
  });

  it("[A1] is refused where the configuration doesn't open it", () => {
    const closed = new Room({
      options: { ...open, presence: true, history_size: 5, history_ttl: "60s" },
    });
    expect(closed.ask(closed.subscribed(), about("room"))).toStrictEqual(denied);
  });
});

describe("a publish", () => {
  const options = { ...open, allow_publish_for_client: true };

  it("[W2] reaches the subscribers as it was written, with who published it", () => {
    const room = new Room({ options });
    const reader = room.subscribed("7");
    const writer = room.open();
    const info = json(`{"name": "Zoë"}`);
    room.ask(writer, `{"id":1,"connect":{}}`, connectionToken("42", { info }));
    const heard = room.ask(writer, publish(`"data": {"n":1.00,"n":2e0,"<":"é"} `));
    expect(heard).toStrictEqual([`{"id":3,"publish":{}}`]);
    expect(reader.hears()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":{"n":1.00,"n":2e0,"<":"é"},"info":{"user":"42","client":"c2","conn_info":{"name": "Zoë"}}}}}`,
    ]);
  });

  it("[W1] of a subscriber shows what its subscription token says of it", () => {
    const room = new Room({ options });
    const reader = room.subscribed("7");
    const token = subscriptionToken({ info: json(`"admin"`) });
    const writer = room.subscribed("42", `{"channel":"room","token":"t"}`, token);
    room.say(writer, publish(`"data":null`));
    expect(reader.hears()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":null,"info":{"user":"42","client":"c2","chan_info":"admin"}}}}`,
    ]);
  });

  it("[H2] is kept where history is on, with who published it", () => {
    const stream = { history_size: 5, history_ttl: "60s", allow_history_for_client: true };
    const room = new Room({ options: { ...options, ...stream } });
    const writer = room.connected();
    room.ask(writer, publish(`"data":1`));
    expect(room.ask(writer, `{"id":4,"history":{"channel":"room","limit":-1}}`)).toStrictEqual([
      `{"id":4,"history":{"publications":[{"data":1,"info":{"user":"42","client":"c1"},"offset":1}],"epoch":"epoch1","offset":1}}`,
    ]);
  });

  it.each([
    ["without data", `"type":0`],
    ["to a map", `"data":1,"type":1`],
  ])("[W1] %s is answered 107, and nobody hears of it", (_, fields) => {
    const room = new Room({ options });
    const reader = room.subscribed("7");
    expect(room.ask(room.connected(), publish(fields))).toStrictEqual(badRequest);
    expect(reader.hears()).toStrictEqual([]);
  });

  it("[W1] of other data than the namespace takes is answered 107", () => {
    const room = new Room({ options: { ...options, publication_data_format: "json_object" } });
    const writer = room.connected();
    expect(room.ask(writer, publish(`"data":[{}]`))).toStrictEqual(badRequest);
    expect(room.ask(writer, publish(`"data":{}`))).toStrictEqual([`{"id":3,"publish":{}}`]);
  });

  it("[A1] that isn't allowed is answered 103 whatever its data", () => {
    const room = new Room({ options: open });
    expect(room.ask(room.connected(), publish(`"type":1`))).toStrictEqual(denied);
  });

  it("[A1] may be allowed to subscribers only", () => {
    const room = new Room({ options: { ...open, allow_publish_for_subscriber: true } });
    expect(room.ask(room.connected(), publish(`"data":1`))).toStrictEqual(denied);
    expect(room.ask(room.subscribed("7"), publish(`"data":1`)).at(-1)).toBe(
      `{"id":3,"publish":{}}`,
    );
  });

  it("[B3] to sockets that are together too far behind is answered 111, and not done", () => {
    const room = new Room({ options, client: { queue_max_size: 2 * limits.backlogBytesMax } });
    const reader = room.subscribed("7");
    const writer = room.connected();
    reader.backlog = limits.backlogBytesMax + 1;
    room.publish("1");
    room.forgetHeard();
    expect(room.ask(writer, publish(`"data":2`))).toStrictEqual([
      `{"id":3,"error":{"code":111,"message":"too many requests","temporary":true}}`,
    ]);
    expect(reader.hears()).toStrictEqual([]);
    reader.backlog = 0;
    expect(room.ask(writer, publish(`"data":2`))).toStrictEqual([`{"id":3,"publish":{}}`]);
  });
});

describe("presence", () => {
  const options = { ...open, presence: true, allow_presence_for_client: true };
  const presence = `{"id":3,"presence":{"channel":"room"}}`;
  const stats = `{"id":3,"presence_stats":{"channel":"room"}}`;

  it("[P1] shows who is subscribed now, with what is known of them", () => {
    const room = new Room({ options });
    const asker = room.connected("9");
    expect(room.ask(asker, presence)).toStrictEqual([`{"id":3,"presence":{"presence":{}}}`]);
    expect(room.ask(asker, stats)).toStrictEqual([
      `{"id":3,"presence_stats":{"num_clients":0,"num_users":0}}`,
    ]);
    const token = subscriptionToken({ info: json("[1]") });
    const one = room.subscribed("42", `{"channel":"room","token":"t"}`, token);
    room.subscribed("42");
    room.subscribed("7");
    expect(room.ask(asker, presence)).toStrictEqual([
      `{"id":3,"presence":{"presence":{"c2":{"user":"42","client":"c2","chan_info":[1]},"c3":{"user":"42","client":"c3"},"c4":{"user":"7","client":"c4"}}}}`,
    ]);
    expect(room.ask(asker, stats)).toStrictEqual([
      `{"id":3,"presence_stats":{"num_clients":3,"num_users":2}}`,
    ]);
    room.end(one);
    expect(room.ask(asker, stats)).toStrictEqual([
      `{"id":3,"presence_stats":{"num_clients":2,"num_users":2}}`,
    ]);
  });

  it("[P1] leaves out whoever's token says so", () => {
    const room = new Room({ options });
    const hidden = subscriptionToken({ override: { presence: false } });
    const peer = room.subscribed("42", `{"channel":"room","token":"t"}`, hidden);
    expect(room.ask(peer, presence)).toStrictEqual([`{"id":3,"presence":{"presence":{}}}`]);
  });

  it.each([[presence], [stats]])("[W1] is answered 108 where it is off: %s", (command) => {
    const room = new Room({ options: { ...options, presence: false } });
    expect(room.ask(room.connected(), command)).toStrictEqual(notAvailable);
    const closed = new Room({ options: open });
    expect(closed.ask(closed.connected(), command)).toStrictEqual(notAvailable);
  });

  it.each([[presence], [stats]])("[A1] may be for subscribers only: %s", (command) => {
    const room = new Room({
      options: { ...open, presence: true, allow_presence_for_subscriber: true },
    });
    expect(room.ask(room.connected(), command)).toStrictEqual(denied);
    expect(room.ask(room.subscribed("7"), command)).not.toStrictEqual(denied);
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
    const room = new Room({ options });
    for (let number = 1; number <= 4; number++) room.publish(`${number}`);
    expect(room.ask(room.connected(), history(fields))).toStrictEqual([
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
    const room = new Room({ options, client });
    for (let number = 1; number <= 310; number++) room.publish(`${number}`);
    const offsets = Array.from({ length: most }, (_, index) => index + 1);
    expect(room.ask(room.connected(), history(fields))).toStrictEqual([
      `{"id":3,"history":{"publications":${publications(offsets)},"epoch":"epoch1","offset":310}}`,
    ]);
  });

  it("[B2] that is too large for one answer is answered 106", () => {
    const room = new Room({ options });
    for (let number = 0; number < 9; number++) room.publish(`"${"x".repeat(1_000_000)}"`);
    const peer = room.connected();
    expect(room.ask(peer, history(`,"limit":-1`))).toStrictEqual(error(106, "limit exceeded"));
    expect(room.ask(peer, history(`,"limit":0`))).toStrictEqual([
      `{"id":3,"history":{"publications":[],"epoch":"epoch1","offset":9}}`,
    ]);
  });

  it("[R1] of another epoch is answered 112", () => {
    const room = new Room({ options });
    const ask = history(`,"limit":1,"since":{"offset":1,"epoch":"other"}`);
    expect(room.ask(room.connected(), ask)).toStrictEqual(error(112, "unrecoverable position"));
  });

  it("[W1] backwards from offset 0 is answered 107, whatever the epoch", () => {
    const room = new Room({ options });
    const ask = history(`,"limit":1,"reverse":true,"since":{"offset":0,"epoch":"other"}`);
    expect(room.ask(room.connected(), ask)).toStrictEqual(badRequest);
  });

  it("[W1] is answered 108 where there is none, whether allowed or not", () => {
    const room = new Room({ options: { ...open, allow_history_for_client: true } });
    expect(room.ask(room.connected(), history(""))).toStrictEqual(notAvailable);
    const closed = new Room({ options: open });
    expect(closed.ask(closed.connected(), history(""))).toStrictEqual(notAvailable);
  });

  it("[A1] may be for subscribers only", () => {
    const room = new Room({
      options: {
        ...open,
        ...options,
        allow_history_for_client: false,
        allow_history_for_subscriber: true,
      },
    });
    expect(room.ask(room.connected(), history(""))).toStrictEqual(denied);
    expect(room.ask(room.subscribed("7"), history(""))).toStrictEqual([
      `{"id":3,"history":{"publications":[],"epoch":"epoch1","offset":0}}`,
    ]);
  });
});
